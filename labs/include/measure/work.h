/* Computing: a loop that a compiler cannot leave out and that touches no MPI. Each step needs the
 * result of the one before, so neither vectors nor several units of a processor make it shorter. */
#ifndef MEASURE_WORK_H
#define MEASURE_WORK_H

#include "check.h"

/* Results go here. The compiler must assume that someone reads a volatile variable. */
static volatile double work_result = 1.0;

static inline void compute(long rounds) {
    double value = work_result;
    for (long i = 0; i < rounds; i++)
        value = value * 0.999999 + 0.000001;
    work_result = value;
}

/* How many rounds of compute() last a microsecond on this core when nothing disturbs it: the best
 * of several tries, because a disturbance only ever makes it slower. */
static inline double calibrate_work(void) {
    const long rounds = 20000;
    double best = 0.0;
    for (int i = 0; i < 50; i++) {
        double began = MPI_Wtime();
        compute(rounds);
        double us = (MPI_Wtime() - began) * 1e6;
        if (us > 0.0 && (double)rounds / us > best)
            best = (double)rounds / us;
    }
    return best;
}

/* Compute for so many microseconds, going by the calibration and not by the clock: the work stays
 * the same however often the rank is interrupted. */
static inline void compute_us(double us, double rounds_per_us) {
    compute((long)(us * rounds_per_us + 0.5));
}

/* The same work in `slices` parts, with an MPI_Test between them: each gives MPI a chance to move
 * the message on. */
static inline void compute_us_testing(double us, double rounds_per_us, int slices,
                                      MPI_Request *request) {
    int done;
    for (int i = 0; i < slices; i++) {
        compute_us(us / slices, rounds_per_us);
        check(MPI_Test(request, &done, MPI_STATUS_IGNORE));
    }
}

/* Work on memory: each byte is read and written once. */
static inline void work_on_bytes(unsigned char *bytes, long count) {
    unsigned char sum = 0;
    for (long i = 0; i < count; i++)
        sum = bytes[i] = (unsigned char)(bytes[i] + sum + 1);
    work_result += sum;
}

/* Work that only reads memory: the sum of so many products. */
static inline void work_on_products(const double *a, const double *b, long count) {
    double sum = 0.0;
    for (long i = 0; i < count; i++)
        sum += a[i] * b[i];
    work_result = sum;
}

#endif
