/* Errors: every MPI call answers with a code, and check() is the one place where it is looked at.
 */
#ifndef MEASURE_CHECK_H
#define MEASURE_CHECK_H
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* nanosleep, sysconf */
#endif

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#if defined(__GNUC__) && !defined(__clang__)
/* gcc takes MPI_STATUSES_IGNORE, which is no place but a sign, for a place that is too small. */
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static inline void wait_a_moment(void) {
    struct timespec moment = {0, 300000000};
    nanosleep(&moment, NULL);
}

/* End all ranks. mpiexec needs a moment to pass on what was said on stderr before it ends them. */
static inline void give_up(int code) {
    fflush(stderr);
    wait_a_moment();
    MPI_Abort(MPI_COMM_WORLD, code);
}

static inline void check(int code) {
    if (code == MPI_SUCCESS)
        return;
    char reason[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, reason, &length);
    fprintf(stderr, "MPI failed: %s\n", reason);
    give_up(1);
}

static inline int my_rank(void) {
    int rank;
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    return rank;
}

static inline int all_ranks(void) {
    int ranks;
    check(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    return ranks;
}

/* Start MPI in such a way that errors come back as codes, for check() to explain. */
static inline void start_mpi(int *argc, char ***argv) {
    check(MPI_Init(argc, argv));
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
}

/* The program cannot do what it was asked: rank 0 says why in one sentence, and all ranks end.
 * Every rank must come here, so refuse only what all ranks see alike, such as an argument. */
static inline void refuse(const char *format, ...) {
    int my_place = my_rank();
    if (my_place == 0) {
        va_list values;
        va_start(values, format);
        fputs("refused: ", stderr);
        vfprintf(stderr, format, values);
        fputc('\n', stderr);
        va_end(values);
    }
    check(MPI_Finalize());
    /* A rank that ends with a code makes mpiexec end all others: they are to be gone by then. */
    if (my_place > 0)
        exit(0);
    wait_a_moment();
    exit(2);
}

#endif
