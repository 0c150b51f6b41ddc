/* IS, integer sort: how fast does the network move very many numbers from everybody to everybody?
 *
 * Whole numbers, the keys, are drawn with a hump-shaped distribution (each is the sum of four
 * uniform ones). Ten times over, two keys are changed and the rank of every key is found: how many
 * keys are smaller. In the end the ranks must sort all keys.
 *
 * What is sent in each of the ten iterations:
 *   1. MPI_Allreduce of how many keys fall into each of 512 or 1024 buckets, so that every rank
 *      knows which buckets it takes to hold about as many keys as the others;
 *   2. MPI_Alltoall of how many keys each rank will send to each;
 *   3. MPI_Alltoallv of the keys. Nearly all of them leave their node each time, 4 bytes a key.
 * There is next to no arithmetic, so a slow network has nothing to hide behind.
 *
 *     beowulf run -n 4 is.c S            2^16 keys; W 2^20, A 2^23, B 2^25, C 2^27
 */
#include "npb.h"
#include "random.h"

enum { ITERATIONS = 10, TESTS = 5, MOST_BUCKETS = 1024, MOST_RANKS = MOST_BUCKETS / 4 };

/* Published: in iteration i the key at a test's place has the rank
 * rank + sign * (i - late). */
struct test {
    int place, rank, sign, late;
};

/* Five ranks do not notice one wrong key among many. So two sums of all keys are verified after the
 * last iteration, both mod 2^48: each key times its place (counted from 1), and each key times its
 * rank. They are not published; an independent program computed them from the specification. */
enum { DIGESTS = 2, DIGEST_BITS = 48 };

static const struct {
    int log_keys, log_highest, log_buckets;
    struct test tests[TESTS];
    double digests[DIGESTS];
} CLASSES[] = {
    /* S */
    {16,
     11,
     9,
     {{48427, 0, 1, 0},
      {17148, 18, 1, 0},
      {23627, 346, 1, 0},
      {62548, 64917, -1, 0},
      {4431, 65463, -1, 0}},
     {2196234942256, 2555899714365}},
    /* W */
    {20,
     16,
     10,
     {{357773, 1249, 1, 2},
      {934767, 11698, 1, 2},
      {875723, 1039987, -1, 0},
      {898999, 1043896, -1, 0},
      {404505, 1048018, -1, 0}},
     {4503647743784, 140885337767964}},
    /* A */
    {23,
     19,
     10,
     {{2112377, 104, 1, 1},
      {662041, 17523, 1, 1},
      {5336171, 123928, 1, 1},
      {3642833, 8288932, -1, 1},
      {4250760, 8388264, -1, 1}},
     {231516225098765, 73461296042484}},
    /* B */
    {25,
     21,
     10,
     {{41869, 33422937, -1, 0},
      {812306, 10244, 1, 0},
      {5102857, 59149, 1, 0},
      {18232239, 33135281, -1, 0},
      {26860214, 99, 1, 0}},
     {218612261121385, 198812848131928}},
    /* C */
    {27,
     23,
     10,
     {{44172927, 61147, 1, 0},
      {72999161, 882988, 1, 0},
      {74326391, 266290, 1, 0},
      {129606274, 133997595, -1, 0},
      {21736814, 133525895, -1, 0}},
     {126291355713435, 79176306985523}},
};

struct sort {
    int rank, ranks;
    int total, highest;        /* how many keys there are, and what they are smaller than */
    int buckets, bucket_shift; /* key >> bucket_shift is its bucket */
    int mine;                  /* how many keys this rank has drawn */
    int *keys, *by_bucket;     /* these keys, as drawn and in the order of their buckets */
    int room, *received;       /* the keys of this rank's buckets, and room for so many */
    int count;                 /* how many came */
    int lowest_key, key_range; /* this rank's buckets hold keys from here on, so many values */
    int *smaller;              /* smaller[k]: how many received keys are below lowest_key + k */
    int smaller_before;        /* how many keys went to ranks before this one */
};

static void draw_keys(struct sort *sort, uint64_t seed) {
    uint64_t state = jump(seed, 4 * (uint64_t)sort->mine * (uint64_t)sort->rank);
    for (int i = 0; i < sort->mine; i++) {
        double sum = draw(&state);
        for (int j = 1; j < 4; j++)
            sum += draw(&state);
        sort->keys[i] = (int)(sum * (sort->highest / 4));
    }
}

static struct sort prepare(const struct npb *npb) {
    struct sort sort = {
        .rank = my_rank(),
        .ranks = all_ranks(),
        .total = 1 << CLASSES[npb->place].log_keys,
        .highest = 1 << CLASSES[npb->place].log_highest,
        .buckets = 1 << CLASSES[npb->place].log_buckets,
        .bucket_shift = CLASSES[npb->place].log_highest - CLASSES[npb->place].log_buckets,
    };
    /* The fullest bucket has 8/3 times as many keys as the mean. A rank takes at least one. */
    if (sort.ranks > sort.buckets / 4)
        refuse("IS class %c takes at most %d ranks, not %d: it has %d buckets to share out.",
               npb->class, sort.buckets / 4, sort.ranks, sort.buckets);
    refuse_unless_it_fits(npb, 4.0 * (3.5 * sort.total + 2.0 * sort.highest));
    sort.mine = sort.total / sort.ranks;
    sort.keys = memory_for((size_t)sort.mine, sizeof(int));
    sort.by_bucket = memory_for((size_t)sort.mine, sizeof(int));
    sort.room = sort.mine + sort.mine / 2;
    sort.received = memory_for((size_t)sort.room, sizeof(int));
    sort.smaller = memory_for((size_t)sort.highest + 1, sizeof(int));
    draw_keys(&sort, (uint64_t)npb->seed);
    return sort;
}

/* Count this rank's keys in each bucket, and lay them out in the order of the buckets. */
static void fill_buckets(struct sort *sort, int *sizes) {
    int next[MOST_BUCKETS], shift = sort->bucket_shift;
    memset(sizes, 0, (size_t)sort->buckets * sizeof *sizes);
    for (int i = 0; i < sort->mine; i++)
        sizes[sort->keys[i] >> shift]++;
    next[0] = 0;
    for (int i = 1; i < sort->buckets; i++)
        next[i] = next[i - 1] + sizes[i - 1];
    for (int i = 0; i < sort->mine; i++)
        sort->by_bucket[next[sort->keys[i] >> shift]++] = sort->keys[i];
}

/* Deal the buckets out in order: a rank is full as soon as all ranks up to it have their fair
 * share of the keys. Finds how many of this rank's keys go to each, and its own range of keys. */
static void share_buckets(struct sort *sort, const int *sizes, const int *all_sizes, int *sent) {
    int rank = 0, first_bucket = 0;
    long before = 0, keys = 0;
    memset(sent, 0, (size_t)sort->ranks * sizeof *sent);
    sort->key_range = sort->lowest_key = sort->smaller_before = 0;
    for (int i = 0; i < sort->buckets; i++) {
        sent[rank] += sizes[i];
        keys += all_sizes[i];
        int full = rank + 1 < sort->ranks && keys >= (long)(rank + 1) * sort->mine;
        if (!full && i + 1 < sort->buckets)
            continue;
        if (rank == sort->rank) {
            sort->lowest_key = first_bucket << sort->bucket_shift;
            sort->key_range = (i + 1 - first_bucket) << sort->bucket_shift;
            sort->smaller_before = (int)before;
        }
        before = keys;
        first_bucket = i + 1;
        rank++;
    }
}

static void exchange_keys(struct sort *sort, const int *sent) {
    int counts[MOST_RANKS], from[MOST_RANKS], to[MOST_RANKS];
    check(MPI_Alltoall(sent, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD));
    sort->count = 0;
    for (int i = 0, start = 0; i < sort->ranks; i++) {
        to[i] = start;
        start += sent[i];
        from[i] = sort->count;
        sort->count += counts[i];
    }
    if (sort->count > sort->room) { /* one bucket alone may be more than a fair share */
        free(sort->received);
        sort->room = sort->count;
        sort->received = memory_for((size_t)sort->room, sizeof(int));
    }
    check(MPI_Alltoallv(sort->by_bucket, sent, to, MPI_INT, sort->received, counts, from, MPI_INT,
                        MPI_COMM_WORLD));
}

/* The rank of a key is how many are smaller: count each value, then sum up. */
static void count_keys(struct sort *sort) {
    int *above = sort->smaller + 1 - sort->lowest_key;
    int counted = 0;
    memset(sort->smaller, 0, ((size_t)sort->key_range + 1) * sizeof(int));
    for (; counted < sort->count; counted++)
        above[sort->received[counted]]++;
    count_work(counted);
    for (int i = 0; i < sort->key_range; i++)
        sort->smaller[i + 1] += sort->smaller[i];
}

/* What is timed: the rank of every key. `tested` gets the keys at the five places; the
 * rank that has such a place adds it to the sums of the buckets. */
static void rank_keys(struct sort *sort, int iteration, const struct test *tests, int *tested) {
    int sizes[MOST_BUCKETS + TESTS], all_sizes[MOST_BUCKETS + TESTS], sent[MOST_RANKS];
    if (sort->rank == 0) {
        sort->keys[iteration] = iteration;
        sort->keys[iteration + ITERATIONS] = sort->highest - iteration;
    }
    fill_buckets(sort, sizes);
    for (int i = 0; i < TESTS; i++) {
        int place = tests[i].place - sort->rank * sort->mine;
        sizes[sort->buckets + i] = place >= 0 && place < sort->mine ? sort->keys[place] : 0;
    }
    check(MPI_Allreduce(sizes, all_sizes, sort->buckets + TESTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    memcpy(tested, all_sizes + sort->buckets, TESTS * sizeof *tested);
    share_buckets(sort, sizes, all_sizes, sent);
    exchange_keys(sort, sent);
    count_keys(sort);
}

/* Note the ranks of the tested keys that this rank holds. */
static void note_ranks(const struct sort *sort, const int *tested, int *ranks) {
    for (int i = 0; i < TESTS; i++) {
        int key = tested[i] - sort->lowest_key;
        ranks[i] =
            key >= 0 && key < sort->key_range ? sort->smaller_before + sort->smaller[key] : 0;
    }
}

/* The two sums of all keys. A rank has the keys that it drew, and the ranks of those that it got. */
static void verify_digests(struct npb *npb, const struct sort *sort) {
    const uint64_t mask = (UINT64_C(1) << DIGEST_BITS) - 1;
    uint64_t mine[DIGESTS] = {0}, all[DIGESTS];
    double digests[DIGESTS];
    for (int i = 0; i < sort->mine; i++) {
        uint64_t place = (uint64_t)sort->rank * (uint64_t)sort->mine + (uint64_t)i + 1;
        mine[0] += place * (uint64_t)sort->keys[i];
    }
    for (int i = 0; i < sort->count; i++) {
        int key = sort->received[i];
        int rank = sort->smaller_before + sort->smaller[key - sort->lowest_key];
        mine[1] += (uint64_t)rank * (uint64_t)key;
    }
    check(MPI_Allreduce(mine, all, DIGESTS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < DIGESTS; i++)
        digests[i] = (double)(all[i] & mask);
    verify_as(npb, "computed from the specification by another program",
              "digests_of_keys_and_ranks", digests, CLASSES[npb->place].digests, DIGESTS, 0.0);
}

/* Put every key at the place that its rank says, then count those that are smaller than the one
 * before them, at the borders between ranks as well. */
static int count_unsorted(const struct sort *sort) {
    int *sorted = memory_for((size_t)sort->count, sizeof(int)), unsorted = 0, all;
    int *next = sort->smaller - sort->lowest_key; /* is used up by this */
    for (int i = 0; i < sort->count; i++)
        sorted[next[sort->received[i]]++] = sort->received[i];
    int last = sort->count ? sorted[sort->count - 1] : -1, highest_before = -1;
    check(MPI_Exscan(&last, &highest_before, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    for (int i = 0; i < sort->count; i++)
        unsorted += sorted[i] < (i ? sorted[i - 1] : sort->rank ? highest_before : -1);
    check(MPI_Allreduce(&unsorted, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    free(sorted);
    return all;
}

/* Hold the ranks of all iterations against the published ones. */
static void verify_ranks(struct npb *npb, int ranks[][TESTS]) {
    int all[ITERATIONS][TESTS];
    check(MPI_Allreduce(ranks, all, ITERATIONS * TESTS, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < ITERATIONS; i++)
        for (int j = 0; j < TESTS; j++) {
            char name[64];
            snprintf(name, sizeof name, "rank_of_key_%d_in_iteration_%d", j + 1, i + 1);
            struct test test = CLASSES[npb->place].tests[j];
            int published = test.rank + test.sign * (i + 1 - test.late);
            verify_value(npb, name, all[i][j], published, 0.0);
        }
}

int main(int argc, char **argv) {
    int tested[TESTS], ranks[ITERATIONS][TESTS];
    struct npb npb = begin_npb("IS", "SWABC", 314159265, &argc, &argv);
    refuse_unless_power_of_two(&npb);
    struct sort sort = prepare(&npb);
    char size[64];
    snprintf(size, sizeof size, "2^%d keys below 2^%d, ranked %d times",
             CLASSES[npb.place].log_keys, CLASSES[npb.place].log_highest, ITERATIONS);
    write_about(&npb, size);

    const struct test *tests = CLASSES[npb.place].tests;
    rank_keys(&sort, 1, tests, tested); /* a warm-up */
    double began = begin_timing();
    for (int i = 1; i <= ITERATIONS; i++) {
        rank_keys(&sort, i, tests, tested);
        note_ranks(&sort, tested, ranks[i - 1]);
    }
    struct timed timed = end_timing(began);

    verify_ranks(&npb, ranks);
    verify_digests(&npb, &sort);
    verify_value(&npb, "keys_out_of_order", count_unsorted(&sort), 0, 0.0);
    return end_npb(&npb, timed, (double)ITERATIONS * sort.total, "keys ranked", 10.0 * sort.total);
}
