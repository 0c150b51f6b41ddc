/* What the programs of this lab share: a table of rows, how each is measured, and the lines that
 * are printed.
 *
 * --rows      which rows, with commas; all of them if it is not given
 * --passes, --chunks, --chunk-us, --seed  how many samples, how long each, in which order
 *
 * A sample is a chunk: as many repetitions as last --chunk-us together, and at least a hundred
 * steps of the clock, so that neither reading the clock nor the loop itself can be seen in it. The
 * passes go round all rows in an order of their own, so that a burst of noise touches many rows
 * once and not one row many times. All samples are printed; then a result for each row: the median
 * is what you get, the best is what the machine can do. */
#ifndef ROWS_H
#define ROWS_H

#include "measure/no_mpi.h"

#include "measure/arguments.h"
#include "measure/chunks.h"
#include "measure/lines.h"
#include <sys/utsname.h>
#include <unistd.h>

enum { MOST_ROWS = 32, MOST_SAMPLES = 100000, LEAD_IN = 10 };

struct row {
    const char *name;             /* as the tables call it */
    chunk run;                    /* the measured loop: seconds for so many repetitions */
    void *what;                   /* its argument */
    void (*prepare)(void *what);  /* before anything is measured; may be NULL */
    int operations;               /* in one repetition; 0 means 1 */
    long size_bytes;              /* moved by one repetition, for a rate */
    const char *less;             /* a row whose time is no part of this one's */
    const char *(*missing)(void); /* a sentence if this machine cannot do it; may be NULL */

    int chosen;
    long repetitions;
    double *samples; /* seconds of one operation */
    int taken;
};

struct family {
    const char *program;
    const char *quantity; /* of a sample, with its unit at the end */
    struct row *rows;
    int count;
    long passes, chunks, chunk_us; /* unless the arguments say otherwise */
    void (*about)(void);           /* puts more into the first line; may be NULL */
};

static inline struct row *find_row(const struct family *family, const char *name) {
    for (int i = 0; i < family->count; i++)
        if (strcmp(family->rows[i].name, name) == 0)
            return &family->rows[i];
    return NULL;
}

/* Choose what `--rows` names, and what has to be subtracted from it. */
static inline void choose_rows(const struct family *family, const char *asked) {
    const char *names[MOST_ROWS + 1] = {NULL};
    for (int i = 0; i < family->count; i++)
        names[i] = family->rows[i].name;
    for (const char *word = asked; word; word = strchr(word, ',')) {
        word += *word == ',';
        family->rows[find_word("--rows", word, strcspn(word, ","), names)].chosen = 1;
    }
    for (int i = 0; i < family->count; i++) {
        struct row *row = &family->rows[i];
        row->chosen |= asked == NULL;
        if (row->chosen && row->less)
            find_row(family, row->less)->chosen = 1;
    }
    for (int i = 0; i < family->count; i++) {
        const struct row *row = &family->rows[i];
        const char *missing = row->chosen && row->missing ? row->missing() : NULL;
        if (missing)
            refuse("%s cannot be measured here: %s", row->name, missing);
    }
}

/* The first line: what is measured, where, by which clock. */
static inline void write_about(const struct family *family, double resolution_s, long samples,
                               long seed) {
    struct utsname here;
    uname(&here);
    begin_line("about");
    put_text("program", family->program);
    printf(", \"hosts\": [\"%s\"]", here.nodename);
    put_text("kernel", here.release);
    put_number("clock_resolution_s", resolution_s);
    put_count("seed", seed);
    put_count("samples", samples);
    if (family->about)
        family->about();
    end_line();
}

/* A chunk that is shorter is not kept, and the next has twice the repetitions: it is too short for
 * the clock, or something disturbed calibrate() when it counted how many are needed. */
static inline double shortest_chunk(double chunk_s, double resolution_s) {
    double least_s = FEWEST_TICKS * resolution_s;
    return chunk_s / 2 > least_s ? chunk_s / 2 : least_s;
}

/* One chunk, and its line. */
static inline void take_sample(const struct family *family, struct row *row, double shortest_s,
                               long pass) {
    double seconds = row->run(row->what, row->repetitions);
    while (seconds < shortest_s && row->repetitions < MOST_REPETITIONS) {
        row->repetitions *= 2;
        seconds = row->run(row->what, row->repetitions);
    }
    long operations = row->repetitions * (row->operations ? row->operations : 1);
    row->samples[row->taken++] = seconds / (double)operations;
    begin_line("sample");
    put_text("quantity", family->quantity);
    put_text("row", row->name);
    if (row->size_bytes)
        put_count("size_bytes", row->size_bytes);
    put_count("repetitions", operations);
    put_number("seconds", seconds);
    put_count("pass", pass);
    end_line();
}

static inline int ascending(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static inline double median_of(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return (values[(count - 1) / 2] + values[count / 2]) / 2.0;
}

/* The result of a row, in microseconds or, where bytes are moved, in MB/s (10^6 bytes). Called
 * when all rows have their samples, because one row may have to be subtracted from another. */
static inline void write_result(const struct family *family, struct row *row) {
    double median_s = median_of(row->samples, row->taken), best_s = row->samples[0];
    begin_line("result");
    put_text("row", row->name);
    if (row->less) {
        struct row *less = find_row(family, row->less);
        median_s -= median_of(less->samples, less->taken);
        best_s -= less->samples[0];
        put_text("less", row->less);
    }
    if (row->size_bytes) {
        put_text("quantity", "rate_mb_per_s");
        put_number("median", (double)row->size_bytes / median_s / 1e6);
        put_number("best", (double)row->size_bytes / best_s / 1e6);
    } else {
        put_text("quantity", family->quantity);
        put_number("median", median_s * 1e6);
        put_number("best", best_s * 1e6);
    }
    put_count("samples", row->taken);
    end_line();
}

static inline void prepare_row(struct row *row, double chunk_s, double resolution_s, long samples) {
    if (row->prepare)
        row->prepare(row->what);
    row->samples = calloc((size_t)samples, sizeof *row->samples);
    if (!row->samples)
        refuse("There is no memory for %ld samples.", samples);
    row->repetitions = calibrate(row->run, row->what, chunk_s, resolution_s);
}

/* Measure what the arguments choose, and print it. */
static inline void measure_family(const struct family *family, int argc, char **argv) {
    long passes = number_argument(argc, argv, "--passes", family->passes, 1, 1000);
    long chunks = number_argument(argc, argv, "--chunks", family->chunks, 1, 100);
    long chunk_us = number_argument(argc, argv, "--chunk-us", family->chunk_us, 1, 10000000);
    long seed = number_argument(argc, argv, "--seed", 1, 0, 1000000000);
    choose_rows(family, text_argument(argc, argv, "--rows", NULL));
    double resolution_s = clock_resolution();

    struct row *chosen[MOST_ROWS];
    int count = 0, order[MOST_ROWS];
    for (int i = 0; i < family->count; i++)
        if (family->rows[i].chosen)
            chosen[count++] = &family->rows[i];
    write_about(family, resolution_s, count * passes * chunks, seed);
    flush_lines(); /* before any process is forked, which would print it again */
    keep_lines_back();
    for (int i = 0; i < count; i++)
        prepare_row(chosen[i], (double)chunk_us * 1e-6, resolution_s, passes * chunks);

    for (long pass = 0; pass < passes; pass++) {
        shuffle(order, count, seed, pass);
        for (int i = 0; i < count; i++) {
            struct row *row = chosen[order[i]];
            row->run(row->what, row->repetitions < LEAD_IN ? row->repetitions : LEAD_IN);
            for (long j = 0; j < chunks; j++)
                take_sample(family, row, shortest_chunk((double)chunk_us * 1e-6, resolution_s),
                            pass);
        }
        flush_lines();
    }
    for (int i = 0; i < count; i++)
        write_result(family, chosen[i]);
    write_end();
}

#endif
