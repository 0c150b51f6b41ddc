/* The other of two programs that run together (master.c): it squares the numbers that it gets.
 *
 *     mpicc master.c -o master
 *     mpicc worker.c -o worker
 *     mpiexec -n 1 ./master : -n 3 ./worker
 */
#include <mpi.h>

enum { MASTER = 0, DONE = 0, TAG = 1 };

/* TODO: the square of this number. It gives the number itself until you write it. */
static int square(int number) { return number; }

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    for (;;) {
        int number;
        MPI_Recv(&number, 1, MPI_INT, MASTER, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (number == DONE)
            break;
        int pair[2] = {number, square(number)};
        MPI_Send(pair, 2, MPI_INT, MASTER, TAG, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
