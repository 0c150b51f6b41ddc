/* How long is a message on its way? A whole measuring program, to be read from top to bottom.
 *
 *     beowulf run -n 2 pingpong.c
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 pingpong.c -o pingpong
 *     mpiexec -n 2 ./pingpong
 *
 * Rank 0 sends a message, rank 1 sends it back: that is one round trip. Half of it is the time of
 * one message. roundtrip.c, next to this file, measures the same with more care; the handout's
 * table says what it adds, and why.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG = 1, LARGEST = 1 << 18, WARM_UP = 10, TRIPS = 50 };

static unsigned char message[LARGEST];

/* One round trip. MPI ends the program by itself if a call fails. */
static void round_trip(int rank, int bytes) {
    int other = 1 - rank;
    if (rank == 0) {
        MPI_Send(message, bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD);
        MPI_Recv(message, bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(message, bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(message, bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD);
    }
}

static int compare(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks != 2) {
        if (rank == 0)
            fprintf(stderr, "A ping-pong takes two ranks, not %d: beowulf run -n 2 pingpong.c\n",
                    ranks);
        MPI_Finalize();
        return 2;
    }
    if (rank == 0)
        printf("    bytes   half round trip (us)      Mbit/s\n");
    for (int bytes = 1; bytes <= LARGEST; bytes *= 8) {
        double half_us[TRIPS];
        for (int i = -WARM_UP; i < TRIPS; i++) { /* the first ones are not counted */
            double start = MPI_Wtime();
            round_trip(rank, bytes);
            if (i >= 0)
                half_us[i] = (MPI_Wtime() - start) / 2 * 1e6;
        }
        /* The median: one interruption by another program moves a mean, and hardly this. */
        qsort(half_us, TRIPS, sizeof(double), compare);
        double us = half_us[TRIPS / 2];
        if (rank == 0)
            printf("%9d %22.1f %11.1f\n", bytes, us, 8 * bytes / us);
    }
    MPI_Finalize();
    return 0;
}
