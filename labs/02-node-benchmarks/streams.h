/* A process that sends as many bytes as it is asked for, and one that reads them.
 *
 * Asking costs a message for each chunk. Without it the sender would have filled the kernel's
 * buffers before the clock runs, and the reader would be faster than any byte can be moved. */
#ifndef STREAMS_H
#define STREAMS_H

#include "loopback.h"

enum { BLOCK = 64 * 1024 };

struct stream {
    int from, to;                 /* the data */
    int request_from, request_to; /* how many blocks are wanted */
};

/* Ready to be sent: each byte of a block is another than its neighbour. */
static inline unsigned char block_byte(long i) { return (unsigned char)(i * 37 + 11); }

static inline void move_all(int fd, unsigned char *data, long bytes, int writing) {
    for (long done = 0; done < bytes;) {
        long moved = writing ? must(write(fd, data + done, (size_t)(bytes - done)), "write")
                             : must(read(fd, data + done, (size_t)(bytes - done)), "read");
        if (moved == 0)
            refuse("The sender of a stream has ended.");
        done += moved;
    }
}

static inline void serve_stream(void *what) {
    static unsigned char block[BLOCK];
    const struct stream *stream = what;
    long blocks;
    for (long i = 0; i < BLOCK; i++)
        block[i] = block_byte(i);
    while (must(read(stream->request_from, &blocks, sizeof blocks), "read") == sizeof blocks)
        for (long i = 0; i < blocks; i++)
            move_all(stream->to, block, BLOCK, 1);
}

static inline void start_stream(struct stream *stream) {
    int requests[2];
    must(pipe(requests), "pipe");
    stream->request_from = requests[0];
    stream->request_to = requests[1];
    start_partner(serve_stream, stream);
}

static inline void start_pipe(void *what) {
    struct stream *stream = what;
    int data[2];
    must(pipe(data), "pipe");
    stream->from = data[0];
    stream->to = data[1];
    start_stream(stream);
}

static inline void start_unix(void *what) {
    struct stream *stream = what;
    int data[2];
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, data), "socketpair");
    stream->from = data[0];
    stream->to = data[1];
    start_stream(stream);
}

static inline void start_tcp(void *what) {
    struct stream *stream = what;
    connect_pair(SOCK_STREAM, &stream->from, &stream->to);
    start_stream(stream);
}

/* The measured loop: one repetition is one block. The last one is looked at afterwards. */
static inline double blocks(void *what, long repetitions) {
    static unsigned char block[BLOCK];
    const struct stream *stream = what;
    double began = seconds_now();
    must(write(stream->request_to, &repetitions, sizeof repetitions), "write");
    for (long i = 0; i < repetitions; i++)
        move_all(stream->from, block, BLOCK, 0);
    double seconds = seconds_now() - began;
    for (long i = 0; i < BLOCK; i++)
        if (block[i] != block_byte(i))
            refuse("Wrong data: byte %ld of a block is %d, not %d.", i, block[i], block_byte(i));
    return seconds;
}

#endif
