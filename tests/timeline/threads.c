/* Two threads of each of two ranks exchange messages, each with a tag of its own. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static int times, rank;

static void *exchange(void *number) {
    int tag = (int)(intptr_t)number, data = 0;
    for (int i = 0; i < times / 2; i++) {
        MPI_Request request;
        MPI_Irecv(&data, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD, &request);
        MPI_Send(&i, 1, MPI_INT, 1 - rank, tag, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int level;
    pthread_t threads[2];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    times = atoi(argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (intptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, exchange, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    MPI_Finalize();
    return 0;
}
