/* The random numbers of the NAS Parallel Benchmarks: x' = 5^13 x mod 2^46, each used as x / 2^46.
 *
 * All ranks together draw one sequence. Each starts in the middle of it, because n steps are one
 * multiplication by 5^13n mod 2^46, and that power takes only log2(n) squarings. */
#ifndef NPB_RANDOM_H
#define NPB_RANDOM_H

#include <stdint.h>

#define MULTIPLIER UINT64_C(1220703125) /* 5^13 */
#define MODULUS_MASK ((UINT64_C(1) << 46) - 1)

/* a b mod 2^46. The product wraps modulo 2^64, which leaves its low 46 bits as they are. */
static inline uint64_t times(uint64_t a, uint64_t b) { return (a * b) & MODULUS_MASK; }

/* The next number of the sequence, between 0 and 1. */
static inline double draw(uint64_t *state) {
    *state = times(*state, MULTIPLIER);
    return (double)(int64_t)*state * 0x1p-46;
}

/* Where the sequence that starts at `seed` stands after `steps` numbers. */
static inline uint64_t jump(uint64_t seed, uint64_t steps) {
    uint64_t power = MULTIPLIER;
    for (; steps; steps >>= 1, power = times(power, power))
        if (steps & 1)
            seed = times(seed, power);
    return seed;
}

#endif
