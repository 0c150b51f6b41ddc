/* A measuring program without MPI: how it ends, and its clock. */
#ifndef MEASURE_NO_MPI_H
#define MEASURE_NO_MPI_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* Linux's own calls, such as sched_setaffinity */
#endif

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The program cannot do what it was asked: it says why in one sentence, and ends. */
static inline void refuse(const char *format, ...) {
    va_list values;
    va_start(values, format);
    fputs("refused: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    exit(2);
}

/* Every call to the kernel answers with a number, and a negative one means that it failed. */
static inline long must(long answer, const char *call) {
    if (answer >= 0)
        return answer;
    fprintf(stderr, "%s failed: %s.\n", call, strerror(errno));
    exit(1);
}

/* A clock that nobody sets. It is read without a system call, in some 20 to 50 ns. */
static inline double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The smallest step that the clock makes here, in seconds. */
static inline double clock_resolution(void) {
    double smallest = 1.0;
    for (int i = 0; i < 1000; i++) {
        double before = seconds_now(), after = before;
        while (after == before)
            after = seconds_now();
        if (after - before < smallest)
            smallest = after - before;
    }
    return smallest;
}

#endif
