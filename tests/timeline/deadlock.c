/* Each rank receives from the next one before it sends: none ever gets anything. */
#include <mpi.h>

int main(int argc, char **argv) {
    int rank, ranks, data = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Recv(&data, 1, MPI_INT, (rank + 1) % ranks, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&data, 1, MPI_INT, (rank + ranks - 1) % ranks, 4, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
