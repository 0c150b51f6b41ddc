/* Results: one JSON object a line on rank 0's stdout. A line is begun, filled and ended:
 *
 *     begin_line("sample"); put_count("size_bytes", 1024); put_number("seconds", 0.000123);
 * end_line();
 *
 * A line of kind "sample" has a "quantity" that ends in its unit, "repetitions", the "seconds" of
 * all repetitions together, the "pass", and its coordinates; whoever reads it divides. */
#ifndef MEASURE_LINES_H
#define MEASURE_LINES_H

#include "check.h"
#include <string.h>

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
 * ssh, which take a core for it. flush_lines() lets them go. */
static inline void keep_lines_back(void) { setvbuf(stdout, NULL, _IOFBF, 1 << 20); }

static inline void flush_lines(void) { fflush(stdout); }

/* The hosts of all ranks, in their order. Every rank calls it, between begin_line and end_line on
 * rank 0. */
static inline void put_hosts(void) {
    char mine[MPI_MAX_PROCESSOR_NAME] = "";
    int length, ranks = all_ranks();
    check(MPI_Get_processor_name(mine, &length));
    char *all = calloc((size_t)ranks, sizeof mine);
    if (!all)
        give_up(1);
    check(MPI_Gather(mine, sizeof mine, MPI_CHAR, all, sizeof mine, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (my_rank() == 0) {
        printf(", \"hosts\": [");
        for (int i = 0; i < ranks; i++)
            printf("%s\"%s\"", i ? ", " : "", all + (size_t)i * sizeof mine);
        printf("]");
    }
    free(all);
}

/* The first line: what is measured, on which hosts, by which clock. `samples` is how many sample
 * lines will follow, so that a reader can tell how much is left. Every rank calls it. */
static inline void begin_about(const char *program, double resolution_s, long samples) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    check(MPI_Get_library_version(library, &length));
    library[strcspn(library, "\n")] = '\0';
    if (my_rank() == 0) {
        begin_line("about");
        put_text("program", program);
        put_count("ranks", all_ranks());
        put_number("clock_resolution_s", resolution_s);
        put_text("mpi_library", library);
        put_count("samples", samples);
    }
    put_hosts();
}

/* The last line. A stream without it was cut short. */
static inline void write_end(void) {
    begin_line("end");
    end_line();
    flush_lines();
}

#endif
