/* The first line of an MPI program's results: what is measured, and on which hosts. */
#ifndef MEASURE_HOSTS_H
#define MEASURE_HOSTS_H

#include "check.h"
#include "lines.h"
#include <string.h>

/* The hosts of all ranks, in their order. Every rank calls it, between begin_line and end_line on
 * rank 0. */
static inline void put_hosts(void) {
    char mine[MPI_MAX_PROCESSOR_NAME] = "";
    int length, ranks = all_ranks();
    check(MPI_Get_processor_name(mine, &length));
    char *all = calloc((size_t)ranks, sizeof mine);
    if (!all) {
        fprintf(stderr, "There is no memory for the names of %d hosts.\n", ranks);
        give_up(1);
    }
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

#endif
