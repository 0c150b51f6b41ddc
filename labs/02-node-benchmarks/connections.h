/* TCP connections of this process with a partner on the same node: one that only stays open, and some
 * that are made, taken and ended. */
#ifndef CONNECTIONS_H
#define CONNECTIONS_H

#include "loopback.h"
#include "measure/chunks.h"
#include <sys/mman.h>
#include <sys/select.h>

enum { DESCRIPTORS = 100, LONGEST_QUEUE = 4096, LOOKS_EACH_US = 50 };

/* How many connections the partner has taken; in memory that both processes see. */
struct door {
    int listening;
    struct sockaddr_in there;
    volatile long *taken;
    int keep_open;
};

static inline void take_connections(void *what) {
    const struct door *door = what;
    for (;;) {
        int fd = (int)must(accept(door->listening, NULL, NULL), "accept");
        if (!door->keep_open)
            close(fd);
        __atomic_add_fetch(door->taken, 1, __ATOMIC_SEQ_CST);
    }
}

static inline void open_door(void *what) {
    struct door *door = what;
    door->listening = listening_socket(SOCK_STREAM, &door->there);
    must(listen(door->listening, LONGEST_QUEUE), "listen");
    door->taken =
        mmap(NULL, sizeof *door->taken, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (door->taken == MAP_FAILED)
        must(-1, "mmap");
    start_partner(take_connections, door);
    close(door->listening);
}

static inline int connected_socket(const struct door *door) {
    int fd = (int)must(socket(AF_INET, SOCK_STREAM, 0), "socket");
    must(connect(fd, (const struct sockaddr *)&door->there, sizeof door->there), "connect");
    return fd;
}

/* Until the partner has taken all: what stays in the queue was not connected to anybody. */
static inline void wait_until_taken(const struct door *door, long wanted) {
    double began = seconds_now();
    while (__atomic_load_n(door->taken, __ATOMIC_SEQ_CST) < wanted) {
        if (seconds_now() - began > PATIENCE_S)
            refuse("%ld connections were made, and %ld taken.", wanted, *door->taken);
        usleep(LOOKS_EACH_US);
    }
}

/* The measured loop: a socket, its connection, and its end. It ends with a reset, because a port
 * whose connection is closed in order stays taken for a minute, and there are not so many. */
static inline double connections(void *what, long repetitions) {
    const struct door *door = what;
    const struct linger reset = {.l_onoff = 1, .l_linger = 0};
    long before = *door->taken;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++) {
        int fd = connected_socket(door);
        must(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), "setsockopt");
        close(fd);
    }
    double seconds = seconds_now() - began;
    wait_until_taken(door, before + repetitions);
    return seconds;
}

static fd_set connected;
static int connected_count;

/* As LMBench does it: one connection, and further descriptors of it (dup) as long as their numbers
 * are below 100. Nine in ten of these numbers or more are then in the set. */
static inline void connect_all(void *what) {
    struct door *door = what;
    open_door(door);
    FD_ZERO(&connected);
    for (int fd = connected_socket(door); fd < DESCRIPTORS; fd = (int)must(dup(fd), "dup")) {
        FD_SET(fd, &connected);
        connected_count++;
    }
    if (connected_count == 0)
        refuse("No number below %d is left for a descriptor.", DESCRIPTORS);
    wait_until_taken(door, 1);
}

/* The measured loop: select() answers by changing the sets that it was given, so each call needs a
 * new one. */
static inline double selections(void *nothing, long repetitions) {
    (void)nothing;
    int ready = connected_count;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++) {
        fd_set writable = connected;
        struct timeval at_once = {0, 0};
        ready = (int)must(select(DESCRIPTORS, NULL, &writable, NULL, &at_once), "select");
    }
    double seconds = seconds_now() - began;
    if (ready != connected_count)
        refuse("%d descriptors can take data, not %d.", ready, connected_count);
    return seconds;
}

#endif
