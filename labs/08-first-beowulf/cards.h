/* The network cards of this node, for programs that open connections of their own: tokens.c and stripes.c. */
#ifndef CARDS_H
#define CARDS_H

#include "measure.h" /* it comes first */
#include "measure/socket_pair.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { NETWORKS = 2, PIECE = 1448 }; /* a piece is as long as a frame carries */

static inline void fail(const char *what) {
    fprintf(stderr, "%s on rank %d: %s\n", what, my_rank(), strerror(errno));
    give_up(1);
}

/* The address of this node on its first network, where it has its name, or on its second: that of the card eth1. */
static inline struct sockaddr_in card_address(int network) {
    struct ifaddrs *all, *each;
    struct sockaddr_in found = {0};
    char wanted[IF_NAMESIZE], named[INET_ADDRSTRLEN];
    if (network == 0) { /* on PCs its card may have any name */
        my_address(named, sizeof named);
        found.sin_family = AF_INET;
        inet_pton(AF_INET, named, &found.sin_addr);
        return found;
    }
    snprintf(wanted, sizeof wanted, "eth%d", network);
    if (getifaddrs(&all) != 0)
        fail("The cards cannot be listed");
    for (each = all; each; each = each->ifa_next)
        if (each->ifa_addr && each->ifa_addr->sa_family == AF_INET &&
            !strcmp(each->ifa_name, wanted))
            found = *(struct sockaddr_in *)(void *)each->ifa_addr;
    freeifaddrs(all);
    if (found.sin_family != AF_INET)
        refuse_here("there is no card %s: `beowulf up --networks 2` boots nodes with two.", wanted);
    return found;
}

/* How long a call waits on a connection on which nothing moves: it then ends with EAGAIN. */
static inline void set_patience(int line, int seconds) {
    struct timeval patience = {.tv_sec = seconds};
    if (setsockopt(line, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) ||
        setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience))
        fail("A socket's patience cannot be set");
}

#endif
