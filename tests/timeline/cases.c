/* Waits whose reason is known: `cases CASE TIMES`, on two ranks of one machine.
 *
 * The rank that comes late sees in shared memory when the other one is about to wait, and comes 5 ms
 * after that, however busy the machine is. Between two of them both meet, and rest for a moment, so
 * that one case does not run into the next. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { LATE_MS = 5, LONG = 1 << 20 };

static int rank;
static char data[LONG];
static volatile double *shared; /* when the other rank was about to wait; and whether it may */

static void rest(int ms) { nanosleep(&(struct timespec){0, ms * 1000000L}, NULL); }

static void soon(void) { *shared = MPI_Wtime(); }

static void come_late(void) {
    while (*shared == 0.0)
        rest(1);
    while (MPI_Wtime() < *shared + LATE_MS / 1000.0)
        rest(1);
}

static void late_sender(void) {
    if (rank == 0) {
        come_late();
        MPI_Send(data, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        soon();
        MPI_Recv(data, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void late_receiver(void) {
    if (rank == 0) {
        soon();
        MPI_Ssend(data, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        come_late();
        MPI_Recv(data, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void barrier(void) {
    if (rank == 1)
        come_late();
    else
        soon();
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(void) {
    if (rank == 0)
        come_late();
    else
        soon();
    MPI_Bcast(data, 8, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void reduce(void) {
    double mine = 1.0, all;
    if (rank == 1)
        come_late();
    else
        soon();
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

/* The receiver waits in its call; the sender has begun and computes, so that nobody sends. */
static void rendezvous(void) {
    if (rank == 0) {
        MPI_Request request;
        MPI_Isend(data, LONG, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
        shared[1] = 1.0;
        come_late();
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        while (shared[1] == 0.0)
            rest(1);
        soon();
        MPI_Recv(data, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* The second of two small messages waits for the ACK of the first, for which the receiver takes its time. MPICH switches
 * Nagle's algorithm off for each connection, so that it is switched on again here. */
static void nagle(void) {
    for (int file = 3; file < 256; file++)
        setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &(int){0}, sizeof(int));
    int other = 1 - rank;
    for (int i = 0; i < 4; i++) {
        if (rank == i % 2)
            MPI_Send(data, 8, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        else
            MPI_Recv(data, 8, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2; i++) {
        if (rank == 0)
            MPI_Send(data, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(data, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"late-sender", late_sender},
               {"late-receiver", late_receiver},
               {"barrier", barrier},
               {"bcast", bcast},
               {"reduce", reduce},
               {"rendezvous", rendezvous},
               {"nagle", nagle}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char path[4096];
    snprintf(path, sizeof path, "%s/shared", getenv("BEOWULF_TRACE"));
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 2 * sizeof *shared) != 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    shared = mmap(NULL, 2 * sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    int times = argc > 2 ? atoi(argv[2]) : 1;
    for (int i = 0; i < times; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        shared[0] = shared[1] = 0.0;
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
