/* Waits whose reason is known: `cases CASE TIMES`, on two ranks or more.
 *
 * The rank that comes late sleeps for 5 ms. Between two of them all ranks meet, and rest for a
 * moment, so that one case does not run into the next. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LATE_MS = 5, LONG = 1 << 20 };

static int rank, ranks;
static char data[LONG];

static void rest(int ms) { nanosleep(&(struct timespec){0, ms * 1000000L}, NULL); }


static void late_sender(void) {
    if (rank == 0) {
        rest(LATE_MS);
        MPI_Send(data, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(data, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void late_receiver(void) {
    if (rank == 0) {
        MPI_Ssend(data, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        rest(LATE_MS);
        MPI_Recv(data, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void barrier(void) {
    if (rank == ranks - 1)
        rest(LATE_MS);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void) {
    if (rank == 0)
        rest(LATE_MS);
    MPI_Bcast(data, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void reduce(void) {
    double mine = 1.0, all;
    if (rank == 1)
        rest(LATE_MS);
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

/* The receiver waits in its call; the sender has begun and computes, so that nobody sends. */
static void rendezvous(void) {
    if (rank == 0) {
        MPI_Request request;
        rest(1);
        MPI_Isend(data, LONG, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
        rest(LATE_MS);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(data, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"late-sender", late_sender}, {"late-receiver", late_receiver}, {"barrier", barrier},
               {"bcast", bcast},             {"reduce", reduce},               {"rendezvous", rendezvous}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int times = argc > 2 ? atoi(argv[2]) : 1;
    for (int i = 0; i < times; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        rest(2);
        MPI_Pcontrol(10, argv[1]);
        for (size_t each = 0; each < sizeof all / sizeof *all; each++)
            if (argc > 1 && !strcmp(argv[1], all[each].name))
                all[each].run();
        MPI_Pcontrol(11, argv[1]);
    }
    MPI_Finalize();
    return 0;
}
