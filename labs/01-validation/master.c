/* One of two programs that run together: it gives work to the others, and collects what they found.
 *
 *     mpicc master.c -o master
 *     mpicc worker.c -o worker
 *     mpiexec -n 1 ./master : -n 3 ./worker
 *
 * The colon makes one MPI world of both. Every worker gets numbers, one after the other, until it
 * gets a 0; what it sends back is to be the square. Nothing is to be changed here.
 */
#include <mpi.h>
#include <stdio.h>

enum { LAST = 12, DONE = 0, TAG = 1 };

static void give(int number, int worker) {
    MPI_Send(&number, 1, MPI_INT, worker, TAG, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int ranks, right = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks < 2) {
        /* Alone, so nobody waits: MPI_Abort could end this rank before its line has left. */
        printf("Nobody works: mpiexec -n 1 ./master : -n 3 ./worker\n");
        MPI_Finalize();
        return 1;
    }
    /* A worker that is done gets the next number, so a slow one gets fewer. */
    for (int next = 1, at_work = 0; next <= LAST || at_work > 0;) {
        if (next <= LAST && at_work < ranks - 1) {
            give(next++, ++at_work);
            continue;
        }
        int pair[2]; /* the number, and what the worker made of it */
        MPI_Status status;
        MPI_Recv(pair, 2, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &status);
        int well = pair[1] == pair[0] * pair[0];
        right += well;
        printf("rank %d: %d squared is %d%s\n", status.MPI_SOURCE, pair[0], pair[1],
               well ? "" : ", which is wrong");
        if (next <= LAST)
            give(next++, status.MPI_SOURCE);
        else
            at_work--;
    }
    for (int worker = 1; worker < ranks; worker++)
        give(DONE, worker);
    printf("%d of %d squares are right\n", right, LAST);
    MPI_Finalize();
    return right == LAST ? 0 : 1;
}
