/* What profile.c notes: a row for each kind of call, and the line in which a rank's rows are
 * printed. */
#ifndef PROFILE_ROWS_H
#define PROFILE_ROWS_H

#include "measure/lines.h"
#include <mpi.h>

/* clang-format off */
enum call {
    SEND, SSEND, RSEND, ISEND, RECV, IRECV, SENDRECV, START, STARTALL, PROBE, IPROBE,
    WAIT, WAITANY, WAITALL, TEST, TESTALL,
    BARRIER, BCAST, REDUCE, ALLREDUCE, SCAN, EXSCAN, GATHER, GATHERV, SCATTER, SCATTERV,
    ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV,
    CALLS
};

static const char *const NAMES[CALLS] = { /* in the same order */
    "MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Isend", "MPI_Recv", "MPI_Irecv", "MPI_Sendrecv",
    "MPI_Start", "MPI_Startall", "MPI_Probe", "MPI_Iprobe",
    "MPI_Wait", "MPI_Waitany", "MPI_Waitall", "MPI_Test", "MPI_Testall",
    "MPI_Barrier", "MPI_Bcast", "MPI_Reduce", "MPI_Allreduce", "MPI_Scan", "MPI_Exscan",
    "MPI_Gather", "MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv",
    "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall", "MPI_Alltoallv",
};
/* clang-format on */

/* All numbers are double, so that they travel to rank 0 as one array. */
struct row {
    double count, seconds, bytes;
};

static struct profile {
    double seconds; /* that were counted in all, computing and in MPI */
    struct row rows[CALLS];
} mine;

static int counting;
static double since; /* when counting began */

static void count_from_now(int wanted) {
    double now = PMPI_Wtime();
    if (counting)
        mine.seconds += now - since;
    counting = wanted;
    since = now;
}

/* Note a call that has just ended, and hand its code on. */
static int note(enum call call, double began, int code, double bytes) {
    if (counting) {
        mine.rows[call].count++;
        mine.rows[call].seconds += PMPI_Wtime() - began;
        mine.rows[call].bytes += bytes;
    }
    return code;
}

static double bytes_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return (double)count * size;
}

/* To nobody, MPI_PROC_NULL, nothing is sent. */
static double bytes_to(int to, int count, MPI_Datatype type) {
    return to == MPI_PROC_NULL ? 0.0 : bytes_of(count, type);
}

static int place_in(MPI_Comm comm) {
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank;
}

static int others_in(MPI_Comm comm) {
    int ranks;
    PMPI_Comm_size(comm, &ranks);
    return ranks - 1;
}

/* The bytes of all parts but the caller's own. */
static double bytes_of_others(const int *counts, MPI_Datatype type, MPI_Comm comm) {
    double bytes = 0.0;
    for (int i = 0, own = place_in(comm); i <= others_in(comm); i++)
        bytes += i == own ? 0.0 : bytes_of(counts[i], type);
    return bytes;
}

static void write_profile(int rank, const struct profile *profile) {
    double communicating = 0.0;
    for (int call = 0; call < CALLS; call++)
        communicating += profile->rows[call].seconds;
    begin_line("profile");
    put_count("rank", rank);
    put_number("seconds", profile->seconds);
    put_number("communicating_s", communicating);
    printf(", \"calls\": {");
    const char *between = "";
    for (int call = 0; call < CALLS; call++) {
        struct row row = profile->rows[call];
        if (row.count == 0)
            continue;
        printf("%s\"%s\": {\"count\": %.0f, \"seconds\": %.9g, \"bytes\": %.0f}", between,
               NAMES[call], row.count, row.seconds, row.bytes);
        between = ", ";
    }
    putchar('}');
    end_line();
}

#endif
