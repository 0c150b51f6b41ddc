/* Memory for messages. It is touched before it is measured with, because the kernel hands out a
 * page only when it is first written; and what arrives is verified outside of the timed part. */
#ifndef MEASURE_BUFFERS_H
#define MEASURE_BUFFERS_H

#include "check.h"
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The largest message: what an int can count, because MPI_Send counts in int. */
#define LARGEST_MESSAGE ((long)INT_MAX)

/* `size` bytes, touched, beginning at a page; `buffers` is how many of them each rank will have. */
static inline unsigned char *message_buffer(long size, int buffers) {
    long page = sysconf(_SC_PAGESIZE);
    /* The ranks of a local cluster share one machine's memory. */
    double wanted = (double)size * buffers * all_ranks();
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)page;
    if (wanted > 0.8 * memory)
        refuse("Messages of %ld bytes need %.1f GB on %d ranks; this machine has %.1f GB.", size,
               wanted / 1e9, all_ranks(), memory / 1e9);
    long pages = size / page + 1;
    unsigned char *buffer = aligned_alloc((size_t)page, (size_t)(pages * page));
    if (!buffer) {
        fprintf(stderr, "There is no memory for a message of %ld bytes.\n", size);
        give_up(1);
    }
    memset(buffer, 0, (size_t)(pages * page));
    return buffer;
}

/* What byte `i` of message number `message` from `sender` is. Neither a shifted message, nor one
 * of another sender, nor an earlier one looks the same. */
static inline unsigned char expected_byte(long i, int sender, long message) {
    return (unsigned char)(i * 31 + (i >> 8) * 7 + sender * 101 + message * 57 + 1);
}

static inline void fill(unsigned char *buffer, long size, int sender, long message) {
    for (long i = 0; i < size; i++)
        buffer[i] = expected_byte(i, sender, message);
}

/* End the run when a byte is not what `sender` filled in. */
static inline void verify(const unsigned char *buffer, long size, int sender, long message) {
    for (long i = 0; i < size; i++) {
        if (buffer[i] == expected_byte(i, sender, message))
            continue;
        fprintf(stderr, "wrong data: byte %ld of %ld from rank %d at rank %d is %d, not %d.\n", i,
                size, sender, my_rank(), buffer[i], expected_byte(i, sender, message));
        give_up(3);
    }
}

#endif
