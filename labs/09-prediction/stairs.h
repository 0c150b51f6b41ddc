/* What stairs.c is given and what it writes. Nothing here need be changed: the notebook measures with copies of its own.
 *
 * `rank` and `ranks` are those of MPI_COMM_WORLD. Messages are your own: MPI's collective operations are not allowed. */
#ifndef STAIRS_H
#define STAIRS_H

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* Rank 0 has `bytes` bytes in `data`; at the end all ranks have the same there. */
void broadcast_naive(unsigned char *data, int bytes, int rank, int ranks);
void broadcast_ring(unsigned char *data, int bytes, int rank, int ranks);
void broadcast_tree(unsigned char *data, int bytes, int rank, int ranks);
void broadcast_pipelined(unsigned char *data, int bytes, int rank, int ranks);

/* Each rank has `count` numbers; at the end each has the sums of all ranks. `room` has place for as many. */
void all_reduce(double *numbers, double *room, int count, int rank, int ranks);

/* A step of a rank that owns a block of rows: it sends its first and its last row to the ranks before and after it,
 * and has place for one row of each. Behind the last rank comes the first one. */
struct halo {
    unsigned char *first, *last;   /* my own border rows, which leave */
    unsigned char *before, *after; /* the places of the neighbours' rows */
    int bytes;                     /* of a row */
};
void halo_step(struct halo *halo, int rank, int ranks);

/* The work of a step: the inner rows need no neighbour's row, the border rows need both. Each is called once a step. */
void compute_inner_rows(void);
void compute_border_rows(void);

#endif
