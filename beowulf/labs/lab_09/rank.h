/* What a rank's own process (rank.c) and its simulated rank (relay.h) say to each other over a socket: a question, its
 * data, a reply, and what has arrived. */
#ifndef RANK_H
#define RANK_H

#include "steps.h"
#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { SOCKET = 3 }; /* of the own process */

enum call {
    SEND,
    SSEND,
    ISEND,
    ISSEND,
    RECV,
    IRECV,
    SENDRECV,
    SENDRECV_REPLACE,
    PROBE,
    IPROBE,
    WAIT,
    WAITALL,
    WAITANY,
    WAITSOME,
    TEST,
    TESTALL,
    TESTANY,
    INNER_ROWS,
    BORDER_ROWS,
    RETURNED
};

struct start {
    int which, bytes, rank, ranks;
};

/* `bytes` of data follow a question that has some. Only those that wait for something have a reply: the own process runs
 * ahead of its simulated rank until it needs one, because computing takes no simulated time. */
struct question {
    int call, to, tag, from, from_tag;
    int number, count; /* of the request that it begins, of those that it names */
    long bytes, most_bytes;
};

/* A request that is done, or a message: `bytes` is its length, `here` how many of them follow. */
struct arrival {
    int place, source, tag;
    long bytes, here;
};

/* The first arrival is in the reply, others follow it. */
struct reply {
    int flag, number, arrivals;
    struct arrival first;
};

/* Both parts at once: what is sent by itself wakes the other side by itself. */
static inline int is_sent(int end, const void *head, long head_bytes, const void *data,
                          long bytes) {
    long done = 0, all = head_bytes + (bytes > 0 ? bytes : 0);
    while (done < all) {
        long of_head = done < head_bytes ? done : head_bytes, of_data = done - of_head;
        struct iovec parts[] = {{(char *)head + of_head, (size_t)(head_bytes - of_head)},
                                {(char *)data + of_data, (size_t)(all - head_bytes - of_data)}};
        ssize_t sent =
            sendmsg(end, &(struct msghdr){.msg_iov = parts, .msg_iovlen = 2}, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return 0;
        done += sent;
    }
    return 1;
}

static inline int is_received(int end, void *data, long bytes) {
    char *next = data;
    while (bytes > 0) {
        ssize_t got = recv(end, next, (size_t)bytes, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        next += got;
        bytes -= got;
    }
    return 1;
}

#endif
