/* How long does a call of MPI's take that has nothing to do?
 *
 *     mpicc calls.c -o calls && ./calls CHUNKS REPETITIONS
 *
 * A sample is a chunk: the mean of REPETITIONS calls of MPI_Iprobe on one rank, in seconds. One line
 * a sample. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    int there, chunks = argc > 1 ? atoi(argv[1]) : 100,
               repetitions = argc > 2 ? atoi(argv[2]) : 1000;
    MPI_Init(&argc, &argv);
    for (int chunk = 0; chunk < chunks; chunk++) {
        double began = MPI_Wtime();
        for (int i = 0; i < repetitions; i++)
            MPI_Iprobe(0, 1, MPI_COMM_SELF, &there, MPI_STATUS_IGNORE);
        printf("%.4g\n", (MPI_Wtime() - began) / repetitions);
    }
    MPI_Finalize();
    return 0;
}
