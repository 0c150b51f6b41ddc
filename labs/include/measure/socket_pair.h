/* TCP without MPI: a line to another process, and that process, which sends back what it gets. */
#ifndef SOCKET_PAIR_H
#define SOCKET_PAIR_H

#include "measure/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The first message of a chunk: in which way to receive, messages of how many bytes, how often. */
struct order {
    long polling, size, trips;
};

/* End this process; mpiexec then ends all ranks, once it has passed on the messages. */
static inline _Noreturn void leave(void) {
    wait_until_heard();
    exit(1);
}

/* Every call to the kernel answers with a number, and a negative one means that it failed. */
static inline int must(int answer, const char *call) {
    if (answer >= 0)
        return answer;
    fprintf(stderr, "%s failed: %s.\n", call, strerror(errno));
    leave();
}

static inline void send_all(int line, const void *from, long size) {
    for (const char *next = from; size > 0;) {
        long sent = must((int)send(line, next, (size_t)size, MSG_NOSIGNAL), "send");
        next += sent;
        size -= sent;
    }
}

/* Whether all of it came; not so when the other end has closed the line. */
static inline int receive_all(int line, void *into, long size, int polling) {
    for (char *next = into; size > 0;) {
        ssize_t got = recv(line, next, (size_t)size, polling ? MSG_DONTWAIT : 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (must((int)got, "recv") == 0)
            return 0;
        next += got;
        size -= got;
    }
    return 1;
}

/* Take one order and do what it says. */
static inline int answer_order(int line, void *buffer) {
    struct order order;
    if (!receive_all(line, &order, sizeof order, 0))
        return 0;
    for (long i = 0; i < order.trips; i++) {
        if (!receive_all(line, buffer, order.size, (int)order.polling))
            return 0;
        send_all(line, buffer, order.size);
    }
    return 1;
}

/* Small messages leave at once instead of waiting for more (Nagle's algorithm). */
static inline int at_once(int line) {
    int yes = 1;
    must(setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes), "setsockopt");
    return line;
}

static inline int listen_anywhere(int *port) {
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t length = sizeof here;
    int listening = must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    must(bind(listening, (struct sockaddr *)&here, length), "bind");
    must(listen(listening, 1), "listen");
    must(getsockname(listening, (struct sockaddr *)&here, &length), "getsockname");
    *port = ntohs(here.sin_port);
    return listening;
}

static inline int accept_one(int listening) {
    int line = must(accept(listening, NULL, NULL), "accept");
    close(listening);
    return at_once(line);
}

static inline int connect_to(const char *address, int port) {
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    int line = must(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket");
    inet_pton(AF_INET, address, &there.sin_addr);
    must(connect(line, (struct sockaddr *)&there, sizeof there), "connect");
    return at_once(line);
}

/* The address of this node, as /etc/hosts gives it for the node's own name. */
static inline void my_address(char *text, size_t length) {
    char name[256] = "";
    struct addrinfo *resolved, like = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    must(gethostname(name, sizeof name - 1), "gethostname");
    if (getaddrinfo(name, NULL, &like, &resolved) != 0) {
        fprintf(stderr, "%s does not know its own address.\n", name);
        leave();
    }
    struct sockaddr_in address;
    memcpy(&address, resolved->ai_addr, sizeof address);
    inet_ntop(AF_INET, &address.sin_addr, text, (socklen_t)length);
    freeaddrinfo(resolved);
}

/* A process on this node that answers each connection, until this process is gone. */
static inline pid_t start_answering(int listening) {
    pid_t self = getpid(), child = (pid_t)must(fork(), "fork");
    if (child > 0) {
        close(listening);
        return child;
    }
    static unsigned char buffer[1 << 20];
    must(prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
    if (getppid() != self)
        _exit(1);
    int line = accept_one(listening);
    while (answer_order(line, buffer))
        ;
    _exit(0);
}

static inline void end_answering(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

#endif
