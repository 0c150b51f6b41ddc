/* How long an operation takes at least on one core, for the roofline of the gas (study C4): additions and
 * multiplications, one or two at a time, divisions, square roots, and bytes from memory and to it.
 *
 *     gcc -std=c11 -O2 -I ../../../labs/include core.c -o core -lm
 *     ./core
 *
 * A result waits for the one before it in the same chain, so there are more chains than a core has
 * operations on their way at a time. Each result passes through an empty piece of assembler, so that a
 * compiler neither leaves one out nor takes two chains at once. */
#include "../../../labs/02-node-benchmarks/rows.h"

#include "../../../labs/02-node-benchmarks/arrays.h"
#include <math.h>

enum { CHAINS = 12 };

/* As every x86-64 and ARM64 has it. */
typedef double pair __attribute__((vector_size(2 * sizeof(double))));

#ifdef __x86_64__
#define UNSEEN(number) __asm__ volatile("" : "+x"(number))
#else
#define UNSEEN(number) __asm__ volatile("" : "+w"(number))
#endif

static inline double add(double x) { return 0.9 * x + 1.3; }
static inline pair add_pair(pair x) { return 0.9 * x + 1.3; }
static inline double divide(double x) { return 1.3 / x; }
static inline double root(double x) { return sqrt(x + 1.3); } /* another unit adds meanwhile */

/* The chains are variables, not an array, so that they stay in registers. */
#define EACH_CHAIN(what, with)                                                                     \
    what(0, with) what(1, with) what(2, with) what(3, with) what(4, with) what(5, with)            \
        what(6, with) what(7, with) what(8, with) what(9, with) what(10, with) what(11, with)
#define BEGIN(i, type) type x##i = (type){0.0} + (1.0 + 0.1 * i);
#define STEP(i, step)                                                                              \
    x##i = step(x##i);                                                                             \
    UNSEEN(x##i);
#define LOOP(name, type, step)                                                                     \
    static double name(void *nothing, long repetitions) {                                          \
        (void)nothing;                                                                             \
        EACH_CHAIN(BEGIN, type)                                                                    \
        double began = seconds_now();                                                              \
        for (long n = 0; n < repetitions; n++) {                                                   \
            EACH_CHAIN(STEP, step)                                                                 \
        }                                                                                          \
        return seconds_now() - began;                                                              \
    }

LOOP(additions, double, add)
LOOP(paired_additions, pair, add_pair)
LOOP(divisions, double, divide)
LOOP(roots, double, root)

static long bytes; /* of an array: twice the last cache, so that it is memory that is measured */
static uint64_t *source, *target;

static void fill_arrays(void *nothing) {
    (void)nothing;
    source = array_of(bytes), target = array_of(bytes);
    for (long i = 0; i < bytes / 8; i++)
        source[i] = (uint64_t)i;
}

static double copies(void *nothing, long repetitions) {
    (void)nothing;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        copy_by_hand(target, source, bytes);
    double seconds = seconds_now() - began;
    if (memcmp(target, source, (size_t)bytes) != 0)
        refuse("Wrong data: the copy is not what was copied.");
    return seconds;
}

static struct row ROWS[] = {
    {.name = "operations", .run = additions, .operations = 2 * CHAINS},
    {.name = "operations in pairs", .run = paired_additions, .operations = 4 * CHAINS},
    {.name = "divisions", .run = divisions, .operations = CHAINS},
    {.name = "square roots", .run = roots, .operations = CHAINS},
    {.name = "bytes", .run = copies, .prepare = fill_arrays},
};
static const struct family CORE = {
    "core", "operation_us", ROWS, sizeof ROWS / sizeof *ROWS, 8, 3, 500, NULL};
static const char *const KNOWN[] = {"--rows", "--passes", "--chunks", "--chunk-us", "--seed", NULL};

int main(int argc, char **argv) {
    refuse_unknown(argc, argv, KNOWN);
    bytes = 2 * last_cache_bytes();
    bytes = bytes < 64 << 20 ? 64 << 20 : bytes > 512 << 20 ? 512 << 20 : bytes;
    refuse_unless_free(2 * bytes);
    ROWS[4].operations = (int)(2 * bytes); /* each is read and written */
    measure_family(&CORE, argc, argv);
    return 0;
}
