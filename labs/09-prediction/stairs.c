/* The staircase of lab 09: one broadcast written four times, an all-reduce, and a step that overlaps.
 *
 *     beowulf up --target network.toml     (256 simulated nodes, beside your own: section 4 of the handout)
 *     beowulf run -n 64 climb.c --step ring
 *
 * or, to see what the compiler says of this file alone, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -Wall -Wno-stringop-overflow -c stairs.c -o stairs.o
 *
 * (The last warning is left out: MPICH's own MPI_STATUSES_IGNORE causes it.)
 *
 * climb.c calls a function, looks whether every byte is right, and prints how long it took. What each function is
 * asked for is in stairs.h and in section 4 of the handout. Use MPI_Send, MPI_Recv, MPI_Sendrecv, MPI_Isend, MPI_Irecv
 * and MPI_Wait..., not MPI_Bcast. */
#include "stairs.h"

enum { TAG = 9 };

/* Given: rank 0 sends everything to each rank, one after the other. */
void broadcast_naive(unsigned char *data, int bytes, int rank, int ranks) {
    if (rank != 0) {
        MPI_Recv(data, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int to = 1; to < ranks; to++)
        MPI_Send(data, bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD);
}

/* TODO: each rank gets the data from the rank before it and passes them on to the next, piece by piece. */
void broadcast_ring(unsigned char *data, int bytes, int rank, int ranks) {
    broadcast_naive(data, bytes, rank, ranks); /* in place of this line */
}

/* TODO: in each round every rank that has the data sends them to one that has not. */
void broadcast_tree(unsigned char *data, int bytes, int rank, int ranks) {
    broadcast_naive(data, bytes, rank, ranks); /* in place of this line */
}

/* TODO: a tree in which each rank passes every piece on to two others as soon as it has it. */
void broadcast_pipelined(unsigned char *data, int bytes, int rank, int ranks) {
    broadcast_naive(data, bytes, rank, ranks); /* in place of this line */
}

/* TODO: faster than this one, in which rank 0 gets everything, adds it up, and sends it to all. */
void all_reduce(double *numbers, double *room, int count, int rank, int ranks) {
    if (rank != 0) {
        MPI_Send(numbers, count, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD);
    } else {
        for (int from = 1; from < ranks; from++) {
            MPI_Recv(room, count, MPI_DOUBLE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            for (int i = 0; i < count; i++)
                numbers[i] += room[i];
        }
    }
    broadcast_naive((unsigned char *)numbers, count * (int)sizeof(double), rank, ranks);
}

/* TODO: the same in less time. For now it waits for both rows before it computes. */
void halo_step(struct halo *halo, int rank, int ranks) {
    int before = (rank + ranks - 1) % ranks, after = (rank + 1) % ranks;
    MPI_Sendrecv(halo->first, halo->bytes, MPI_BYTE, before, TAG, halo->after, halo->bytes,
                 MPI_BYTE, after, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(halo->last, halo->bytes, MPI_BYTE, after, TAG, halo->before, halo->bytes, MPI_BYTE,
                 before, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    compute_inner_rows();
    compute_border_rows();
}
