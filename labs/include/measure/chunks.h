/* Time. One message is too short for the clock, and a thousand hide what one of them did. So a
 * sample is a chunk: as many repetitions as last a fraction of a millisecond together. */
#ifndef MEASURE_CHUNKS_H
#define MEASURE_CHUNKS_H

#include <stdint.h>

enum { FEWEST_TICKS = 100, MOST_REPETITIONS = 1 << 24 };

/* Runs what is measured so many times, and gives the seconds of the slowest rank to all ranks. */
typedef double (*chunk)(void *what, long repetitions);

/* How many repetitions last `wanted_s` together, and never fewer than FEWEST_TICKS of the clock.
 * What it takes to find out is a warm-up and is not kept. */
static inline long calibrate(chunk run, void *what, double wanted_s, double resolution_s) {
    if (wanted_s < FEWEST_TICKS * resolution_s)
        wanted_s = FEWEST_TICKS * resolution_s;
    long repetitions = 1;
    double seconds = run(what, repetitions);
    while (seconds < wanted_s / 2 && repetitions < MOST_REPETITIONS) {
        repetitions *= 2;
        seconds = run(what, repetitions);
    }
    long wanted = (long)((double)repetitions * wanted_s / seconds + 0.5);
    return wanted < 1 ? 1 : wanted > MOST_REPETITIONS ? MOST_REPETITIONS : wanted;
}

/* Numbers that look random and are the same for the same seed on every rank and machine
 * (Steele, Lea and Flood: Fast splittable pseudorandom number generators, 2014). */
static inline uint64_t next_random(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* The numbers 0 to count-1 in an order of their own for each pass, the same on all ranks, so that
 * a burst of noise touches many sizes once and not one size many times. */
static inline void shuffle(int *order, int count, long seed, long pass) {
    uint64_t state = (uint64_t)seed * 1000003u + (uint64_t)pass;
    for (int i = 0; i < count; i++)
        order[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)(next_random(&state) % (uint64_t)(i + 1));
        int other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
}

#endif
