/* Each way of sending, receiving and waiting that the recorder knows, once or a few times. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 100, TAG = 7 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, done = 0, place, places[2], there = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    double out[COUNT] = {0}, in[COUNT], all[COUNT * 64];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Message message;

    MPI_Sendrecv(out, COUNT, MPI_DOUBLE, next, TAG, in, COUNT, MPI_DOUBLE, before, TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(in, COUNT, MPI_DOUBLE, next, TAG, before, TAG, MPI_COMM_WORLD,
                         &statuses[0]);
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(in, COUNT, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, COUNT - i, MPI_DOUBLE, next, TAG + i, MPI_COMM_WORLD, &requests[1]);
        if (i == 0)
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (i == 1)
            for (int left = 2; left > 0; left -= done)
                MPI_Waitsome(2, requests, &done, places, statuses);
        if (i == 2) {
            MPI_Waitany(2, requests, &place, statuses);
            MPI_Wait(&requests[1 - place], MPI_STATUS_IGNORE);
        }
    }
    /* Again and again the same two requests. */
    MPI_Send_init(out, 10, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, 10, MPI_INT, before, 1, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, requests);
        for (done = 0; !done;)
            MPI_Testall(2, requests, &done, statuses);
    }
    MPI_Start(&requests[1]);
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (done = 0; !done;)
        MPI_Test(&requests[1], &done, MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    /* Two halves of the world, whose ranks have other numbers within. */
    MPI_Comm half, copy;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_dup(half, &copy);
    int mine, size;
    MPI_Comm_rank(copy, &mine);
    MPI_Comm_size(copy, &size);
    if (size > 1 && mine == 0)
        MPI_Send(out, 3, MPI_DOUBLE, size - 1, 2, copy);
    if (size > 1 && mine == size - 1) {
        MPI_Mprobe(MPI_ANY_SOURCE, 2, copy, &message, &statuses[0]);
        MPI_Mrecv(in, 3, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(MPI_IN_PLACE, out, 5, MPI_DOUBLE, MPI_SUM, half);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
    MPI_Ibcast(out, 4, MPI_DOUBLE, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Gather(out, 2, MPI_DOUBLE, all, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    MPI_Alltoall(all, 1, MPI_DOUBLE, all + 64, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Ssend(out, 1, MPI_INT, next, 3, MPI_COMM_WORLD);
    if (rank == 1) {
        while (!there)
            MPI_Iprobe(0, 3, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        MPI_Recv(in, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Pcontrol(10, "the end");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(11, "the end");
    MPI_Pcontrol(0);
    MPI_Finalize();
    return 0;
}
