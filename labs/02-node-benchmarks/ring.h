/* Pipes in a ring, round which a word goes: from one process to the next, so that each hop is a
 * change from one process to another; or from one pipe to the next within one process, so that
 * what the pipes cost by themselves is known.
 *
 * All processes of the ring stay on one core: only there does one have to leave for the next. With
 * two of them the core's caches still hold what each left there; the more there are, the longer a
 * change takes. */
#ifndef RING_H
#define RING_H

#include "partner.h"

enum { MOST_HOPS = 4 };

struct ring {
    int hops, processes;     /* once round; as many processes as hops, or 1 */
    int pipes[MOST_HOPS][2]; /* pipe i leads from process i to the next */
    int place;               /* of the process that start_partner() starts */
};

static struct ring ring_of_two = {.hops = 2, .processes = 2},
                   ring_of_four = {.hops = 4, .processes = 4},
                   ring_of_one = {.hops = 4, .processes = 1};

static inline void pass_on(const struct ring *ring, int from, int to) {
    int word;
    if (must(read(ring->pipes[from][0], &word, sizeof word), "read") != sizeof word)
        refuse("The ring of processes is broken.");
    must(write(ring->pipes[to][1], &word, sizeof word), "write");
}

static inline void serve_ring(void *what) {
    const struct ring *ring = what;
    for (;;)
        pass_on(ring, ring->place - 1, ring->place);
}

static inline void start_ring(void *what) {
    struct ring *ring = what;
    for (int i = 0; i < ring->hops; i++)
        must(pipe(ring->pipes[i]), "pipe");
    cpu_set_t allowed;
    must(sched_getaffinity(0, sizeof allowed, &allowed), "sched_getaffinity");
    stay_on(core_at(0));
    for (ring->place = 1; ring->place < ring->processes; ring->place++)
        start_partner(serve_ring, ring);
    must(sched_setaffinity(0, sizeof allowed, &allowed), "sched_setaffinity");
}

/* One repetition is once round. */
static inline double hops(void *what, long repetitions) {
    const struct ring *ring = what;
    int word = 1, last = ring->hops - 1;
    cpu_set_t allowed;
    must(sched_getaffinity(0, sizeof allowed, &allowed), "sched_getaffinity");
    stay_on(core_at(0));
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++) {
        must(write(ring->pipes[0][1], &word, sizeof word), "write");
        for (int j = 1; j <= last && ring->processes == 1; j++)
            pass_on(ring, j - 1, j);
        must(read(ring->pipes[last][0], &word, sizeof word), "read");
    }
    double seconds = seconds_now() - began;
    must(sched_setaffinity(0, sizeof allowed, &allowed), "sched_setaffinity");
    return seconds;
}

#endif
