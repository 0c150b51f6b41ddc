/* What calls the rows of own_rows.c, and finds out when one goes wrong. This file need not be
 * changed.
 *
 * A row that is not written yet is left out with a message. One that gives other seconds than
 * that passed, or that takes no longer when it is to do more, is wrong. */
#ifndef OWN_ROWS_H
#define OWN_ROWS_H

#include "rows.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define NOT_WRITTEN (-1.0)

enum { FEW = 1000, MANY = 100 * FEW, TRIES = 5 };

/* The two ends of a pipe. A read of an empty pipe fails at once and does not wait for ever. */
static int pipe_in, pipe_out;

static inline void open_pipe(void) {
    int ends[2];
    must(pipe2(ends, O_NONBLOCK), "pipe");
    pipe_out = ends[0];
    pipe_in = ends[1];
}

static inline void wrong(const struct row *row, const char *why) {
    fprintf(stderr, "wrong: %s: %s\n", row->name, why);
    exit(3);
}

/* The least of some tries, because anything may disturb one of them. */
static inline double least_seconds(const struct row *row, long repetitions) {
    double least = 1e9;
    for (int i = 0; i < TRIES; i++) {
        double began = seconds_now(), seconds = row->run(row->what, repetitions);
        if (seconds < 0.0 || seconds > seconds_now() - began)
            wrong(row, "it gives other seconds than those that passed while it ran.");
        least = seconds < least ? seconds : least;
    }
    return least;
}

static inline void look_over(const struct row *row) {
    int left = 0;
    /* A hundred times as much takes ten times as long at the very least. */
    if (least_seconds(row, MANY) < 10.0 * least_seconds(row, FEW))
        wrong(row, "a hundred times as many repetitions take hardly longer. Does the loop end at "
                   "`repetitions`?");
    must(ioctl(pipe_out, FIONREAD, &left), "ioctl");
    if (left > 0)
        wrong(row, "something is left in the pipe. Is each word read that was written?");
}

static inline int measure_own_rows(struct row *rows, int count, int argc, char **argv) {
    static const char *const KNOWN[] = {"--rows",     "--passes", "--chunks",
                                        "--chunk-us", "--seed",   NULL};
    static struct row written[MOST_ROWS];
    struct family own = {"own_rows", "operation_us", written, 0, 11, 3, 1000, NULL};
    refuse_unknown(argc, argv, KNOWN);
    open_pipe();
    for (int i = 0; i < count; i++) {
        if (rows[i].run(rows[i].what, 1) == NOT_WRITTEN) {
            fprintf(stderr, "%s: it is not written yet.\n", rows[i].name);
            continue;
        }
        look_over(&rows[i]);
        written[own.count++] = rows[i];
    }
    measure_family(&own, argc, argv);
    return 0;
}

#endif
