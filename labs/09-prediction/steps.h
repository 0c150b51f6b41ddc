/* How climb.c calls the functions of stairs.c. */
#ifndef STEPS_H
#define STEPS_H

#include "stairs.h"

enum { NAIVE, RING, TREE, PIPELINED, REDUCE, HALO };

/* The areas of memory that a function is given, each with GUARD bytes behind it that are not to be written. */
enum { MOST_AREAS = 4, GUARD = 64 };

static inline int areas_of(int which) { return which == HALO ? 4 : which == REDUCE ? 2 : 1; }

static inline void call_step(int which, unsigned char **areas, int bytes, int rank, int ranks) {
    switch (which) {
    case NAIVE:
        broadcast_naive(areas[0], bytes, rank, ranks);
        break;
    case RING:
        broadcast_ring(areas[0], bytes, rank, ranks);
        break;
    case TREE:
        broadcast_tree(areas[0], bytes, rank, ranks);
        break;
    case PIPELINED:
        broadcast_pipelined(areas[0], bytes, rank, ranks);
        break;
    case REDUCE:
        all_reduce((double *)(void *)areas[0], (double *)(void *)areas[1],
                   bytes / (int)sizeof(double), rank, ranks);
        break;
    default:
        halo_step(&(struct halo){areas[0], areas[1], areas[2], areas[3], bytes}, rank, ranks);
    }
}

#endif
