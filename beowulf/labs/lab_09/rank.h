/* What a rank's own process (rank.c) and its simulated rank (relay.h) say to each other over a socket: a question, its
 * data, a reply, and what has arrived. */
#ifndef RANK_H
#define RANK_H

#include "steps.h"
#include <errno.h>
#include <sys/socket.h>

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

/* `bytes` of data follow a question that has some; `count` is how many requests it names. */
struct question {
    int call, to, tag, from, from_tag, count;
    long bytes, most_bytes;
};

struct reply {
    int flag, number, arrivals;
};

/* A request that is done, or a message: `bytes` is its length, `here` how many of them follow. */
struct arrival {
    int place, source, tag;
    long bytes, here;
};

static inline int is_sent(int end, const void *data, long bytes) {
    const char *next = data;
    while (bytes > 0) {
        ssize_t sent = send(end, next, (size_t)bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return 0;
        next += sent;
        bytes -= sent;
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
