/* Memory for messages. It is touched before it is measured with, because the kernel hands out a
 * page only when it is first written; and what arrives is verified outside of the timed part. */
#ifndef MEASURE_BUFFERS_H
#define MEASURE_BUFFERS_H

#include "check.h"
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The largest message: what an int can count, because MPI_Send counts in int. */
#define LARGEST_MESSAGE ((long)INT_MAX)

/* End all ranks with a sentence when `each` bytes of every rank are more than most of the memory of
 * a machine that they run on. On one machine with several nodes all ranks share it, as mpiexec's
 * shell knows (BEOWULF_SHARED_CORES); else a node's own ranks do, and each node answers for itself:
 * no rank waits for what another has found. */
static inline void refuse_more_memory(const char *what, double each) {
    const char *shared = getenv("BEOWULF_SHARED_CORES"), *local = getenv("MPI_LOCALNRANKS");
    int alone = !(shared && atol(shared) > 0) && local;
    int here = alone ? (int)atol(local) : all_ranks(), length;
    double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    char node[MPI_MAX_PROCESSOR_NAME];
    if (each * here <= 0.8 * memory)
        return;
    if (!alone)
        refuse("%s: %.1f GB on %d ranks; this machine has %.1f GB.", what, each * here / 1e9, here,
               memory / 1e9);
    check(MPI_Get_processor_name(node, &length));
    refuse_here("%s: %.1f GB on each node with %d rank%s; %s has %.1f GB.", what, each * here / 1e9,
                here, here == 1 ? "" : "s", node, memory / 1e9);
}

/* `size` bytes, touched, beginning at a page; `buffers` is how many of them each rank will have. */
static inline unsigned char *message_buffer(long size, int buffers) {
    long page = sysconf(_SC_PAGESIZE);
    char what[80];
    snprintf(what, sizeof what, "Messages of %ld bytes need too much memory", size);
    refuse_more_memory(what, (double)size * buffers);
    long pages = size / page + 1;
    unsigned char *buffer = aligned_alloc((size_t)page, (size_t)(pages * page));
    if (!buffer) {
        fprintf(stderr, "There is no memory for a message of %ld bytes.\n", size);
        give_up(1);
    }
    memset(buffer, 0, (size_t)(pages * page));
    return buffer;
}

/* What byte `i` of message number `message` from `sender` is. Neither a shifted message, nor one
 * of another sender, nor an earlier one looks the same. */
static inline unsigned char expected_byte(long i, int sender, long message) {
    return (unsigned char)(i * 31 + (i >> 8) * 7 + sender * 101 + message * 57 + 1);
}

static inline void fill(unsigned char *buffer, long size, int sender, long message) {
    for (long i = 0; i < size; i++)
        buffer[i] = expected_byte(i, sender, message);
}

/* End the run when a byte is not what `sender` filled in. */
static inline void verify(const unsigned char *buffer, long size, int sender, long message) {
    for (long i = 0; i < size; i++) {
        if (buffer[i] == expected_byte(i, sender, message))
            continue;
        fprintf(stderr, "wrong data: byte %ld of %ld from rank %d at rank %d is %d, not %d.\n", i,
                size, sender, my_rank(), buffer[i], expected_byte(i, sender, message));
        give_up(3);
    }
}

#endif
