/* The first line of an MPI program's results: what is measured, and on which hosts. */
#ifndef MEASURE_HOSTS_H
#define MEASURE_HOSTS_H

#include "check.h"
#include "lines.h"
#include <string.h>

struct whereabouts {
    char host[MPI_MAX_PROCESSOR_NAME];
    char patient; /* whether the rank lets go of its core while it waits, as the cluster's mpiexec
                   * has it (beowulf/native/patient_poll.c) */
};

/* The hosts of all ranks, in their order, and how many ranks are patient. Every rank calls it,
 * between begin_line and end_line on rank 0. */
static inline void put_hosts(void) {
    struct whereabouts mine = {"", 0};
    const char *polling = getenv("BEOWULF_POLLING");
    int length, ranks = all_ranks(), patient = 0;
    check(MPI_Get_processor_name(mine.host, &length));
    mine.patient = polling && strcmp(polling, "patient") == 0;
    struct whereabouts *all = calloc((size_t)ranks, sizeof mine);
    if (!all) {
        fprintf(stderr, "There is no memory for the names of %d hosts.\n", ranks);
        give_up(1);
    }
    check(MPI_Gather(&mine, sizeof mine, MPI_CHAR, all, sizeof mine, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (my_rank() == 0) {
        printf(", \"hosts\": [");
        for (int i = 0; i < ranks; i++) {
            printf("%s\"%s\"", i ? ", " : "", all[i].host);
            patient += all[i].patient;
        }
        printf("]");
        put_count("patient_ranks", patient);
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
