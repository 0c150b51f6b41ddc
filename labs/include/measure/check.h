/* Errors: every MPI call answers with a code, and check() is the one place where it is looked at.
 */
#ifndef MEASURE_CHECK_H
#define MEASURE_CHECK_H
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* nanosleep, sysconf, S_ISFIFO */
#endif

#include "lines.h"
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__GNUC__) && !defined(__clang__)
/* gcc takes MPI_STATUSES_IGNORE, which is no place but a sign, for a place that is too small. */
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

static inline void wait_ms(long ms) {
    struct timespec moment = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&moment, NULL);
}

/* Wait until the messages on stderr are on their way to mpiexec's caller. mpiexec ends all ranks
 * when one of them gives up, and what still lies in the pipe between them is lost. */
static inline void wait_until_heard(void) {
    struct stat end;
    int unread = 0;
    fflush(stderr);
    int is_pipe = fstat(STDERR_FILENO, &end) == 0 && S_ISFIFO(end.st_mode);
    for (int tries = 0; is_pipe && tries < 10000; tries++) {
        if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0 || unread == 0)
            break;
        wait_ms(1);
    }
    wait_ms(300); /* read, and passed on from node to node */
}

/* End all ranks. */
static inline void give_up(int code) {
    wait_until_heard();
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
    write_whole_lines();
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
}

/* The program cannot do what it was asked: rank 0 says why in one sentence, and all ranks end.
 * Every rank must come here, so refuse only what is equal on all ranks, such as an argument. */
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
    wait_until_heard();
    exit(2);
}

/* The same where ranks may differ, such as what their own node has: a node's first rank says
 * why, and ends all ranks, also those that have nothing against it. */
static inline void refuse_here(const char *format, ...) {
    const char *place = getenv("MPI_LOCALRANKID");
    if (place && strcmp(place, "0") != 0)
        wait_ms(2000); /* the first one ends this one, too */
    char sentence[512];
    va_list values;
    va_start(values, format);
    vsnprintf(sentence, sizeof sentence, format, values);
    va_end(values);
    fprintf(stderr, "refused: %s\n", sentence);
    give_up(2);
}

#endif
