/* Connections of two processes on one node: over 127.0.0.1, which no cable sees. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include "partner.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum { PATIENCE_S = 5 };

/* A socket of that type (SOCK_STREAM, SOCK_DGRAM) on a free port of the loopback, and where it is
 * to be found. */
static inline int listening_socket(int type, struct sockaddr_in *there) {
    socklen_t length = sizeof *there;
    *there = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    int fd = (int)must(socket(AF_INET, type, 0), "socket");
    must(bind(fd, (struct sockaddr *)there, length), "bind");
    if (type == SOCK_STREAM)
        must(listen(fd, 1), "listen");
    must(getsockname(fd, (struct sockaddr *)there, &length), "getsockname");
    return fd;
}

/* Two connected sockets. A word shall leave at once and not wait for more (TCP_NODELAY); a datagram
 * that is lost shall end the program and not let it wait for ever. */
static inline void connect_pair(int type, int *mine, int *other) {
    struct sockaddr_in there, here;
    socklen_t length = sizeof here;
    int listening = listening_socket(type, &there), at_once = 1;
    *mine = (int)must(socket(AF_INET, type, 0), "socket");
    must(connect(*mine, (struct sockaddr *)&there, sizeof there), "connect");
    if (type == SOCK_STREAM) {
        *other = (int)must(accept(listening, NULL, NULL), "accept");
        must(setsockopt(*mine, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once), "setsockopt");
        must(setsockopt(*other, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once), "setsockopt");
        close(listening);
    } else {
        *other = listening;
        must(getsockname(*mine, (struct sockaddr *)&here, &length), "getsockname");
        must(connect(*other, (struct sockaddr *)&here, length), "connect");
    }
    struct timeval patience = {PATIENCE_S, 0};
    must(setsockopt(*mine, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), "setsockopt");
}

#endif
