/* Profile: where does the time of an MPI program go, to computing or to MPI?
 *
 * Every function of MPI has two names, MPI_Send and PMPI_Send. A program calls the first. Anyone who
 * defines a function of that name gets the call, can look at it, and passes it on by the second:
 *
 *     program  --MPI_Send-->  this file: note the time  --PMPI_Send-->  the library
 *
 * So the program needs no change, and is not even compiled again: this file becomes a library that
 * is loaded before MPI's own (LD_PRELOAD).
 *
 *     beowulf run --profile -n 4 PROGRAM           beowulf suite MG --profile
 *
 * Both compile it first, as this line does:
 *
 *     mpicc -O2 -shared -fPIC -I ../include profile.c -o profile.so
 *
 * Noted are, for each kind of call: how many, the seconds inside, and the bytes that the caller
 * gives to MPI to send, by its arguments. In a collective call these are the bytes of its own data
 * that others get, once each, however the library carries them. A receive sends nothing. What
 * MPI_Start sends is in another call and is not counted.
 *
 * Time inside of MPI is not only time on the network: a rank that waits for another one's work,
 * or for a core, waits in MPI too. And what goes on while the rank computes shows nowhere.
 *
 * It counts from MPI_Init on. A program that says MPI_Pcontrol(0) is not counted until
 * MPI_Pcontrol(1): the NPB programs mark in this way the part that they time. In MPI_Finalize rank
 * 0 prints one JSON line for each rank. Calls that are not in the table below count as computing.
 * A rank that makes MPI calls in several threads at once would miscount. */
#include "profile_rows.h"
#include <stdlib.h>
#include <unistd.h>

/* The beginning and the end. */

int MPI_Init(int *argc, char ***argv) {
    int code = PMPI_Init(argc, argv);
    count_from_now(1);
    return code;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int code = PMPI_Init_thread(argc, argv, required, provided);
    count_from_now(1);
    return code;
}

int MPI_Pcontrol(const int level, ...) {
    count_from_now(level > 0);
    return MPI_SUCCESS;
}

int MPI_Finalize(void) {
    count_from_now(0);
    int numbers = (int)(sizeof mine / sizeof(double)), rank = place_in(MPI_COMM_WORLD);
    int ranks = others_in(MPI_COMM_WORLD) + 1;
    struct profile *all = malloc((size_t)ranks * sizeof mine);
    if (!all) {
        fprintf(stderr, "There is no memory for the profiles of %d ranks.\n", ranks);
        sleep(1); /* mpiexec needs a moment to pass it on, before it ends all ranks */
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    fflush(stdout); /* what other ranks printed is not to come between the lines */
    PMPI_Gather(&mine, numbers, MPI_DOUBLE, all, numbers, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < ranks && rank == 0; i++)
        write_profile(i, &all[i]);
    fflush(stdout);
    free(all);
    return PMPI_Finalize();
}

/* From one rank to another. */

int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Send(data, count, type, to, tag, comm);
    return note(SEND, began, code, bytes_to(to, count, type));
}

int MPI_Ssend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Ssend(data, count, type, to, tag, comm);
    return note(SSEND, began, code, bytes_to(to, count, type));
}

int MPI_Rsend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Rsend(data, count, type, to, tag, comm);
    return note(RSEND, began, code, bytes_to(to, count, type));
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    double began = PMPI_Wtime();
    int code = PMPI_Isend(data, count, type, to, tag, comm, request);
    return note(ISEND, began, code, bytes_to(to, count, type));
}

int MPI_Recv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status *status) {
    double began = PMPI_Wtime();
    return note(RECV, began, PMPI_Recv(data, count, type, from, tag, comm, status), 0.0);
}

int MPI_Irecv(void *data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
    double began = PMPI_Wtime();
    return note(IRECV, began, PMPI_Irecv(data, count, type, from, tag, comm, request), 0.0);
}

int MPI_Sendrecv(const void *data, int count, MPI_Datatype type, int to, int tag, void *got,
                 int most, MPI_Datatype got_type, int from, int got_tag, MPI_Comm comm,
                 MPI_Status *status) {
    double began = PMPI_Wtime();
    int code =
        PMPI_Sendrecv(data, count, type, to, tag, got, most, got_type, from, got_tag, comm, status);
    return note(SENDRECV, began, code, bytes_to(to, count, type));
}

int MPI_Start(MPI_Request *request) {
    double began = PMPI_Wtime();
    return note(START, began, PMPI_Start(request), 0.0);
}

int MPI_Startall(int count, MPI_Request requests[]) {
    double began = PMPI_Wtime();
    return note(STARTALL, began, PMPI_Startall(count, requests), 0.0);
}

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status *status) {
    double began = PMPI_Wtime();
    return note(PROBE, began, PMPI_Probe(from, tag, comm, status), 0.0);
}

int MPI_Iprobe(int from, int tag, MPI_Comm comm, int *there, MPI_Status *status) {
    double began = PMPI_Wtime();
    return note(IPROBE, began, PMPI_Iprobe(from, tag, comm, there, status), 0.0);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    double began = PMPI_Wtime();
    return note(WAIT, began, PMPI_Wait(request, status), 0.0);
}

int MPI_Waitany(int count, MPI_Request requests[], int *which, MPI_Status *status) {
    double began = PMPI_Wtime();
    return note(WAITANY, began, PMPI_Waitany(count, requests, which, status), 0.0);
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
    double began = PMPI_Wtime();
    return note(WAITALL, began, PMPI_Waitall(count, requests, statuses), 0.0);
}

int MPI_Test(MPI_Request *request, int *done, MPI_Status *status) {
    double began = PMPI_Wtime();
    return note(TEST, began, PMPI_Test(request, done, status), 0.0);
}

int MPI_Testall(int count, MPI_Request requests[], int *done, MPI_Status statuses[]) {
    double began = PMPI_Wtime();
    return note(TESTALL, began, PMPI_Testall(count, requests, done, statuses), 0.0);
}

/* All ranks together. The root of a broadcast or scatter sends, that of a reduction or gather only
 * receives. */

int MPI_Barrier(MPI_Comm comm) {
    double began = PMPI_Wtime();
    return note(BARRIER, began, PMPI_Barrier(comm), 0.0);
}

int MPI_Bcast(void *data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Bcast(data, count, type, root, comm);
    return note(BCAST, began, code, place_in(comm) == root ? bytes_of(count, type) : 0.0);
}

int MPI_Reduce(const void *data, void *sum, int count, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Reduce(data, sum, count, type, op, root, comm);
    return note(REDUCE, began, code, place_in(comm) == root ? 0.0 : bytes_of(count, type));
}

int MPI_Allreduce(const void *data, void *sum, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Allreduce(data, sum, count, type, op, comm);
    return note(ALLREDUCE, began, code, bytes_of(count, type));
}

int MPI_Scan(const void *data, void *sum, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Scan(data, sum, count, type, op, comm);
    return note(SCAN, began, code, bytes_of(count, type));
}

int MPI_Exscan(const void *data, void *sum, int count, MPI_Datatype type, MPI_Op op,
               MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Exscan(data, sum, count, type, op, comm);
    return note(EXSCAN, began, code, bytes_of(count, type));
}

int MPI_Gather(const void *data, int count, MPI_Datatype type, void *all, int each,
               MPI_Datatype all_type, int root, MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Gather(data, count, type, all, each, all_type, root, comm);
    return note(GATHER, began, code, place_in(comm) == root ? 0.0 : bytes_of(count, type));
}

int MPI_Gatherv(const void *data, int count, MPI_Datatype type, void *all, const int counts[],
                const int places[], MPI_Datatype all_type, int root, MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Gatherv(data, count, type, all, counts, places, all_type, root, comm);
    return note(GATHERV, began, code, place_in(comm) == root ? 0.0 : bytes_of(count, type));
}

int MPI_Scatter(const void *all, int each, MPI_Datatype type, void *data, int count,
                MPI_Datatype data_type, int root, MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Scatter(all, each, type, data, count, data_type, root, comm);
    int sends = place_in(comm) == root;
    return note(SCATTER, began, code, sends ? others_in(comm) * bytes_of(each, type) : 0.0);
}

int MPI_Scatterv(const void *all, const int counts[], const int places[], MPI_Datatype type,
                 void *data, int count, MPI_Datatype data_type, int root, MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Scatterv(all, counts, places, type, data, count, data_type, root, comm);
    int sends = place_in(comm) == root;
    return note(SCATTERV, began, code, sends ? bytes_of_others(counts, type, comm) : 0.0);
}

/* Where data is in its place already, MPI_IN_PLACE, only what comes is described. */

int MPI_Allgather(const void *data, int count, MPI_Datatype type, void *all, int each,
                  MPI_Datatype all_type, MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Allgather(data, count, type, all, each, all_type, comm);
    return note(ALLGATHER, began, code, bytes_of(each, all_type));
}

int MPI_Allgatherv(const void *data, int count, MPI_Datatype type, void *all, const int counts[],
                   const int places[], MPI_Datatype all_type, MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Allgatherv(data, count, type, all, counts, places, all_type, comm);
    return note(ALLGATHERV, began, code, bytes_of(counts[place_in(comm)], all_type));
}

int MPI_Alltoall(const void *data, int count, MPI_Datatype type, void *got, int got_count,
                 MPI_Datatype got_type, MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code = PMPI_Alltoall(data, count, type, got, got_count, got_type, comm);
    return note(ALLTOALL, began, code, others_in(comm) * bytes_of(got_count, got_type));
}

int MPI_Alltoallv(const void *data, const int counts[], const int places[], MPI_Datatype type,
                  void *got, const int got_counts[], const int got_places[], MPI_Datatype got_type,
                  MPI_Comm comm) {
    double began = PMPI_Wtime();
    int code =
        PMPI_Alltoallv(data, counts, places, type, got, got_counts, got_places, got_type, comm);
    int there = data == MPI_IN_PLACE;
    double bytes = bytes_of_others(there ? got_counts : counts, there ? got_type : type, comm);
    return note(ALLTOALLV, began, code, bytes);
}
