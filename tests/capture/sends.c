/* Sends messages of known tags and lengths between all ranks, in several communicators, and prints
 * what it sent: "sent FROM TO SOURCE TAG COMMUNICATOR BYTES", where SOURCE is the sender's rank in
 * that communicator. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COMMUNICATORS = 3, BURST = 40, LONGEST = 1 << 20 };

static FILE *list;

static void note(int to, int source, int tag, int communicator, int bytes, const char *call) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(list, "%d %d %d %d %d %d %s\n", rank, to, source, tag, communicator, bytes, call);
}

static int rank_in(MPI_Comm comm, int rank) {
    int there;
    MPI_Group all, mine;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm, &mine);
    MPI_Group_translate_ranks(all, 1, &rank, mine, &there);
    MPI_Group_free(&all);
    MPI_Group_free(&mine);
    return there;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, limit = argc > 2 ? atoi(argv[2]) : 131040;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char name[4096];
    snprintf(name, sizeof name, "%s/%d", argc > 1 ? argv[1] : ".", rank);
    list = fopen(name, "w");
    if (!list)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm comms[COMMUNICATORS] = {MPI_COMM_WORLD};
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]); /* the same ranks, the other way round */
    int lengths[] = {0, 1, 15, 16, 17, 80, 1448, 15360, limit - 1, limit, limit + 1, LONGEST};
    int count = sizeof lengths / sizeof *lengths;
    char *out = calloc(1, LONGEST), *in = malloc(LONGEST);

    /* One after the other, from each rank to the next, half of them at the same time. */
    int next = (rank + 1) % ranks;
    for (int i = 0; i < count; i++) {
        int of = i % COMMUNICATORS, tag = 1000 + i;
        for (int turn = 0; turn < 2; turn++)
            if (turn == rank % 2) {
                MPI_Send(out, lengths[i], MPI_BYTE, rank_in(comms[of], next), tag, comms[of]);
                note(next, rank_in(comms[of], rank), tag, of, lengths[i], "send");
            } else {
                MPI_Recv(in, LONGEST, MPI_BYTE, MPI_ANY_SOURCE, tag, comms[of], MPI_STATUS_IGNORE);
            }
    }
    /* Many at once from all to rank 0, so that several share a segment. */
    if (rank > 0) {
        MPI_Request requests[BURST];
        for (int i = 0; i < BURST; i++) {
            MPI_Isend(out, i * i * 3, MPI_BYTE, 0, 2000 + i, comms[1], &requests[i]);
            note(0, rank, 2000 + i, 1, i * i * 3, "isend");
        }
        MPI_Waitall(BURST, requests, MPI_STATUSES_IGNORE);
    } else {
        for (int i = 0; i < BURST * (ranks - 1); i++)
            MPI_Recv(in, LONGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[1],
                     MPI_STATUS_IGNORE);
    }
    /* The other modes of sending. */
    MPI_Request request;
    if (rank == 0) {
        MPI_Ssend(out, 300, MPI_BYTE, 1, 3000, MPI_COMM_WORLD);
        note(1, 0, 3000, 0, 300, "ssend");
        MPI_Recv(in, 0, MPI_BYTE, 1, 3001, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        note(1, 0, 3002, 0, 300, "rsend");
        MPI_Rsend(out, 300, MPI_BYTE, 1, 3002, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Irecv(in, 300, MPI_BYTE, 0, 3002, MPI_COMM_WORLD, &request);
        MPI_Recv(in + 300, 300, MPI_BYTE, 0, 3000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, 0, MPI_BYTE, 0, 3001, MPI_COMM_WORLD);
        note(0, 1, 3001, 0, 0, "send");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    fclose(list);
    MPI_Comm_free(&comms[1]);
    MPI_Comm_free(&comms[2]);
    MPI_Finalize();
    return 0;
}
