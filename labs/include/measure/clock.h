/* The clock of MPI programs, and the time of a step that all ranks take together. */
#ifndef MEASURE_CLOCK_H
#define MEASURE_CLOCK_H

#include "check.h"

/* The smallest step that MPI_Wtime makes here, in seconds. */
static inline double clock_resolution(void) {
    double smallest = 1.0;
    for (int i = 0; i < 1000; i++) {
        double before = MPI_Wtime(), after = before;
        while (after == before)
            after = MPI_Wtime();
        if (after - before < smallest)
            smallest = after - before;
    }
    double largest; /* the ranks shall agree on it */
    check(MPI_Allreduce(&smallest, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    return largest;
}

/* A parallel step lasts as long as its slowest rank: every rank brings its own seconds and gets
 * the longest. A rank that only looks on brings 0. */
static inline double slowest(double seconds) {
    double longest;
    check(MPI_Allreduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    return longest;
}

#endif
