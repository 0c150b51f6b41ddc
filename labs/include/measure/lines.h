/* Results: one JSON object a line on rank 0's stdout. A line is begun, filled and ended:
 *
 *     begin_line("sample");
 *     put_count("size_bytes", 1024);
 *     put_number("seconds", 0.000123);
 *     end_line();
 *
 * A line of kind "sample" has a "quantity" that ends in its unit, "repetitions", the "seconds" of
 * all repetitions together, the "pass", and its coordinates; its reader divides. */
#ifndef MEASURE_LINES_H
#define MEASURE_LINES_H

#include <stdio.h>

static inline void begin_line(const char *kind) { printf("{\"kind\": \"%s\"", kind); }

static inline void put_text(const char *name, const char *text) {
    printf(", \"%s\": \"", name);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        if ((unsigned char)*text >= ' ')
            putchar(*text);
    }
    putchar('"');
}

static inline void put_number(const char *name, double value) {
    printf(", \"%s\": %.9g", name, value);
}

static inline void put_count(const char *name, long value) { printf(", \"%s\": %ld", name, value); }

static inline void put_truth(const char *name, int truth) {
    printf(", \"%s\": %s", name, truth ? "true" : "false");
}

static inline void end_line(void) { puts("}"); }

/* Lines are kept back while something is measured, because each one that leaves wakes mpiexec and
 * ssh, which take a core for it. flush_lines() lets them go. stdout is given the room for them: what
 * MPI_Init has left it holds one byte. */
static inline void keep_lines_back(void) {
    static char lines[1 << 20];
    setvbuf(stdout, lines, _IOFBF, sizeof lines);
}

/* MPICH's MPI_Init leaves stdout without a buffer: a line would leave in pieces, and arrive with
 * pieces of other ranks' lines in it. */
static inline void write_whole_lines(void) {
    static char line[1 << 16];
    setvbuf(stdout, line, _IOLBF, sizeof line);
}

static inline void flush_lines(void) { fflush(stdout); }

/* The last line. A stream without it was cut short. */
static inline void write_end(void) {
    begin_line("end");
    end_line();
    flush_lines();
}

#endif
