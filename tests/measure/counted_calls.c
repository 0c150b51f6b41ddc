/* Calls MPI in all the ways that profile.c counts, with known numbers and bytes; test_profile.py
 * knows them. It wants four ranks. */
#include <mpi.h>
#include <stdio.h>

enum { RANKS = 4, MOST = 64 };

static int out[MOST], in[MOST], rank, next, before;

static void between_two(void) {
    MPI_Request requests[2], request;
    MPI_Status statuses[2];
    int there, even = rank % 2 == 0;
    if (even) {
        MPI_Send(out, 10, MPI_INT, next, 1, MPI_COMM_WORLD);
        MPI_Ssend(out, 3, MPI_INT, next, 2, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Rsend(out, 2, MPI_INT, next, 3, MPI_COMM_WORLD);
    } else {
        MPI_Irecv(in, 2, MPI_INT, before, 3, MPI_COMM_WORLD, &request);
        MPI_Probe(before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in, 10, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(in, 3, MPI_INT, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Irecv(in, 5, MPI_CHAR, before, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, 5, MPI_CHAR, next, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Sendrecv(out, 7, MPI_INT, next, 5, in, 7, MPI_INT, before, 5, MPI_COMM_WORLD, statuses);
    MPI_Sendrecv(out, 7, MPI_INT, MPI_PROC_NULL, 5, in, 7, MPI_INT, MPI_PROC_NULL, 5,
                 MPI_COMM_WORLD, statuses);
    MPI_Recv_init(in, 1, MPI_INT, before, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, 1, MPI_INT, next, 6, MPI_COMM_WORLD, &requests[1]);
    MPI_Start(&requests[0]);
    MPI_Startall(1, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    request = MPI_REQUEST_NULL;
    MPI_Test(&request, &there, MPI_STATUS_IGNORE);
    MPI_Testall(1, &request, &there, statuses);
    MPI_Waitany(1, &request, &there, statuses);
    MPI_Iprobe(before, 99, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

static void all_together(void) {
    int counts[RANKS] = {1, 2, 3, 4}, places[RANKS] = {0, 1, 3, 6};
    int got_counts[RANKS], got_places[RANKS];
    for (int i = 0; i < RANKS; i++) {
        got_counts[i] = rank + 1;
        got_places[i] = i * (rank + 1);
    }
    MPI_Bcast(out, 6, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Reduce(out, in, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(out, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, in, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(out, 3, MPI_INT, in, 3, MPI_INT, 2, MPI_COMM_WORLD);
    MPI_Gatherv(out, counts[rank], MPI_INT, in, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatter(out, 4, MPI_INT, in, 4, MPI_INT, 3, MPI_COMM_WORLD);
    MPI_Scatterv(out, counts, places, MPI_INT, in, counts[rank], MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(out, counts[rank], MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(out, 5, MPI_INT, in, 5, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, in, 5, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoallv(out, counts, places, MPI_INT, in, got_counts, got_places, MPI_INT,
                  MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    next = (rank + 1) % RANKS;
    before = (rank + RANKS - 1) % RANKS;
    between_two();
    MPI_Pcontrol(0);
    for (int i = 0; i < 100; i++)
        MPI_Barrier(MPI_COMM_WORLD); /* are not counted */
    MPI_Pcontrol(1);
    all_together();
    if (rank == 0)
        puts("all calls were made");
    return MPI_Finalize();
}
