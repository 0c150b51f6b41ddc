/* EP, embarrassingly parallel: how fast do the processors compute when nobody has to wait?
 *
 * Pairs of uniform random numbers (x, y) in the square from -1 to 1 are drawn. One that falls
 * into the unit circle, t = x^2 + y^2 <= 1, becomes a pair of Gaussian deviates (Marsaglia's polar
 * method): X = x sqrt(-2 ln t / t), and Y likewise. Counted is in which square ring around 0 each of
 * these pairs lies, and summed up are all X and all Y.
 *
 * What is sent: nothing but the two sums and the ten counts at the end, three small
 * MPI_Allreduce. So P ranks should take 1/P of the time of one: if they do not, the network is
 * not to blame.
 *
 *     beowulf run -n 4 ep.c S            2^24 pairs; W 2^25, A 2^28, B 2^30, C 2^32
 */
#include "npb.h"
#include "random.h"

enum { RINGS = 10, LOG_BATCH = 16, BATCH = 1 << LOG_BATCH };

/* The sums are published as what to verify, the counts as what the programs of NPB print. */
static const struct {
    int log_pairs;
    double sum_x, sum_y, rings[RINGS];
} CLASSES[] = {
    /* S */
    {24, -3.247834652034740e3, -6.958407078382297e3, {6140517, 5865300, 1100361, 68546, 1648, 17}},
    /* W */
    {25,
     -2.863319731645753e3,
     -6.320053679109499e3,
     {12281576, 11729692, 2202726, 137368, 3371, 36}},
    /* A */
    {28,
     -4.295875165629892e3,
     -1.580732573678431e4,
     {98257395, 93827014, 17611549, 1110028, 26536, 245}},
    /* B */
    {30,
     4.033815542441498e4,
     -2.660669192809235e4,
     {393058470, 375280898, 70460742, 4438852, 105691, 948, 5}},
    /* C */
    {32,
     4.764367927995374e4,
     -8.084072988043731e4,
     {1572172634, 1501108549, 281805648, 17761221, 424017, 3821, 13}},
};

struct tally {
    double sum_x, sum_y;
    long rings[RINGS];
};

/* Draw one batch, and keep the pairs in the unit circle with their t. Nothing branches: a processor
 * cannot foresee which pairs these are, and would guess wrong for one in five. */
static int draw_batch(uint64_t state, double *x, double *y, double *t) {
    int kept = 0, pairs = 0;
    for (; pairs < BATCH; pairs++) {
        x[kept] = 2.0 * draw(&state) - 1.0;
        y[kept] = 2.0 * draw(&state) - 1.0;
        t[kept] = x[kept] * x[kept] + y[kept] * y[kept];
        kept += t[kept] <= 1.0;
    }
    count_work(2L * pairs);
    return kept;
}

/* Three loops, because each of them keeps another part of the processor busy. */
static void count_batch(struct tally *tally, uint64_t state) {
    static double x[BATCH + 1], y[BATCH + 1], t[BATCH + 1];
    int kept = draw_batch(state, x, y, t);
    for (int i = 0; i < kept; i++)
        t[i] = -2.0 * log(t[i]) / t[i];
    struct tally sums = *tally;
    for (int i = 0; i < kept; i++) {
        double factor = sqrt(t[i]), gauss_x = x[i] * factor, gauss_y = y[i] * factor;
        double larger = fabs(gauss_x) > fabs(gauss_y) ? fabs(gauss_x) : fabs(gauss_y);
        sums.rings[(int)larger]++;
        sums.sum_x += gauss_x;
        sums.sum_y += gauss_y;
    }
    *tally = sums;
}

/* What is timed: this rank's batches, then the sums over all ranks. */
static struct tally count_pairs(const struct npb *npb, int log_pairs) {
    struct tally mine = {0}, all;
    long batches = 1L << (log_pairs - LOG_BATCH), ranks = all_ranks(), rank = my_rank();
    for (long i = batches * rank / ranks; i < batches * (rank + 1) / ranks; i++)
        count_batch(&mine, jump((uint64_t)npb->seed, 2 * BATCH * (uint64_t)i));
    check(MPI_Allreduce(&mine.sum_x, &all.sum_x, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    check(MPI_Allreduce(&mine.sum_y, &all.sum_y, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    check(MPI_Allreduce(mine.rings, all.rings, RINGS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    return all;
}

static void verify_rings(struct npb *npb, const struct tally *tally) {
    double rings[RINGS];
    for (int i = 0; i < RINGS; i++)
        rings[i] = (double)tally->rings[i];
    verify_vector(npb, "pairs_in_rings", rings, CLASSES[npb->place].rings, RINGS, 0.0);
}

static void write_rings(const struct tally *tally) {
    if (my_rank() != 0)
        return;
    printf("{\"kind\": \"counts\", \"what\": \"pairs whose larger deviate is from i to i+1\", "
           "\"counts\": [");
    for (int i = 0; i < RINGS; i++)
        printf("%s%ld", i ? ", " : "", tally->rings[i]);
    puts("]}");
}

int main(int argc, char **argv) {
    struct npb npb = begin_npb("EP", "SWABC", 271828183, &argc, &argv);
    int log_pairs = CLASSES[npb.place].log_pairs;
    char size[64];
    snprintf(size, sizeof size, "2^%d pairs of random numbers", log_pairs);
    write_about(&npb, size);

    double began = begin_timing();
    struct tally tally = count_pairs(&npb, log_pairs);
    struct timed timed = end_timing(began);

    write_rings(&tally);
    verify_value(&npb, "sum_x", tally.sum_x, CLASSES[npb.place].sum_x, 1e-8);
    verify_value(&npb, "sum_y", tally.sum_y, CLASSES[npb.place].sum_y, 1e-8);
    verify_rings(&npb, &tally);
    double numbers = ldexp(2.0, log_pairs);
    return end_npb(&npb, timed, numbers, "random numbers", numbers);
}
