/* What calls the rows of own_rows.c, and finds out when one goes wrong. This file need not be
 * changed.
 *
 * A row that is not written yet is left out with a message. One that gives other seconds than
 * that passed, takes no longer when it is to do more, or makes other system calls than its name
 * says, is wrong. */
#ifndef OWN_ROWS_H
#define OWN_ROWS_H

#include "system_calls.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#define NOT_WRITTEN (-1.0)

enum { FEW = 1000, MANY = 100 * FEW, TRIES = 5 };
/* A row reads the clock itself, which may cost a system call each time; the process ends by one. */
enum { BESIDES = 8 };

/* The two ends of a pipe. A read of an empty pipe fails at once and does not wait for ever. */
static int pipe_in, pipe_out;

static inline void open_pipe(void) {
    int ends[2];
    must(pipe2(ends, O_NONBLOCK), "pipe");
    pipe_out = ends[0];
    pipe_in = ends[1];
}

static inline void wrong(const struct row *row, const char *format, ...) {
    va_list values;
    va_start(values, format);
    fprintf(stderr, "wrong: %s: ", row->name);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
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

/* What each row of own_rows.c has to ask the kernel for, once in a repetition. */
struct duty {
    const char *row;
    long number;
    const char *call;
};
static const struct duty DUTIES[] = {
    {"null call", SYS_getppid, "getppid"},
    {"clock, system call", SYS_clock_gettime, "clock_gettime"},
    {"pipe to oneself", SYS_write, "write"},
    {"pipe to oneself", SYS_read, "read"},
};
enum { DUTY_COUNT = sizeof DUTIES / sizeof *DUTIES };

static inline void look_at_its_calls(const struct row *row) {
    struct system_calls calls;
    if (!count_system_calls(row, FEW, &calls))
        return; /* some machines let no process look at another: then its times have to do */
    for (int i = 0; i < DUTY_COUNT; i++) {
        const struct duty *duty = &DUTIES[i];
        long made = calls.times[duty->number];
        if (strcmp(duty->row, row->name) == 0 && (made < FEW || made > FEW + BESIDES))
            wrong(row, "%d repetitions make %ld system calls %s. Each is to make one.", FEW, made,
                  duty->call);
    }
}

static inline double reads_of_the_clock(void *nothing, long repetitions) {
    (void)nothing;
    double began = seconds_now(), now = began;
    for (long i = 0; i < repetitions; i++)
        now = seconds_now();
    return now - began;
}

/* The one row that asks the kernel for nothing is known by the time that it takes. */
static inline void look_at_its_time(const struct row *row, double many_s) {
    static const struct row reading = {.name = "clock", .run = reads_of_the_clock};
    if (strcmp(row->name, "clock, library") != 0)
        return;
    double least = least_seconds(&reading, MANY);
    /* Other programs may have held up the reading; who does not read the clock stays below it. */
    for (int again = 0; again < 20 && many_s < 0.5 * least; again++) {
        double seconds = least_seconds(&reading, MANY);
        least = seconds < least ? seconds : least;
    }
    if (many_s < 0.5 * least)
        wrong(row, "it takes less than to read the clock once in each repetition.");
}

static inline void look_over(const struct row *row) {
    int left = 0;
    double many = least_seconds(row, MANY);
    /* A hundred times as much takes ten times as long at the very least. */
    if (many < 10.0 * least_seconds(row, FEW))
        wrong(row, "a hundred times as many repetitions take hardly longer. Does the loop end at "
                   "`repetitions`?");
    look_at_its_time(row, many);
    must(ioctl(pipe_out, FIONREAD, &left), "ioctl");
    if (left > 0)
        wrong(row, "something is left in the pipe. Is each word read that was written?");
    look_at_its_calls(row);
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
