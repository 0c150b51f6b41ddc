/* A program that measures on command. The program that started it changes something on the nodes,
 * asks for some samples, changes it back, asks again: both states are measured by the same
 * processes over the same connection, and nobody waits for a launch.
 *
 * A command is a line on rank 0's standard input: a whole number, which is how many samples to
 * take. The end of the input is the end of the program.
 *
 * Between two commands every rank sleeps. A rank that looked without rest whether something has
 * come would take a core from the program that changes the nodes. */
#ifndef ON_COMMAND_H
#define ON_COMMAND_H

#include "measure.h"

enum { COMMAND_TAG = 99, MOST_SAMPLES = 100000 };

static inline void sleep_us(long us) {
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&time, NULL);
}

/* Rank 0's word to all others; they sleep until it comes. */
static inline long tell_others(long word) {
    if (my_rank() == 0) {
        for (int rank = 1; rank < all_ranks(); rank++)
            check(MPI_Send(&word, 1, MPI_LONG, rank, COMMAND_TAG, MPI_COMM_WORLD));
        return word;
    }
    for (int here = 0; !here; sleep_us(here ? 0 : 200))
        check(MPI_Iprobe(0, COMMAND_TAG, MPI_COMM_WORLD, &here, MPI_STATUS_IGNORE));
    check(MPI_Recv(&word, 1, MPI_LONG, 0, COMMAND_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return word;
}

/* How many samples to take now, the same number on every rank; 0 at the end of the input. */
static inline long next_command(void) {
    char line[64] = "";
    long count = 0;
    if (my_rank() == 0 && fgets(line, sizeof line, stdin))
        count = strtol(line, NULL, 10);
    if (count < 0 || count > MOST_SAMPLES)
        count = 0;
    return tell_others(count);
}

#endif
