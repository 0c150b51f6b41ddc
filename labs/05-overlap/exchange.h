/* What measures the exchange of exchange.c, and finds out when it goes wrong. This file need not be
 * changed: the notebook measures with a copy of its own.
 *
 * Four parts are measured in turns: `comm`, the two messages without work; `comp`, the work without
 * messages; `before`, the one after the other; `during`, the exchange that you write. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "overlap.h"

static const double WORK_TO_MESSAGES = 1.2;

/* One exchange of messages between this rank and the other one. */
struct exchange {
    unsigned char *out, *in; /* the message that leaves, and the place of the one that comes */
    int size, other;         /* bytes of each message, and the rank at the other end */
    MPI_Request requests[2]; /* for the receive and for the send */
};

typedef void (*way)(struct exchange *exchange);

/* The work is a chain: each round needs the result of the one before, and no shorter way to the last
 * result is known. Each chain begins with another number, and its result is checked after the timed
 * part. So the result itself proves that the work was done. */
struct chain {
    uint64_t value;
    long rounds, done; /* of the whole work, and those that were done so far */
    double share;      /* the same as a share, so that many small shares leave nothing out */
};

static inline struct chain *own_chain(void) {
    static struct chain chain;
    return &chain;
}

static inline uint64_t after_rounds(uint64_t value, long rounds) {
    for (long i = 0; i < rounds; i++)
        value = (value ^ (value >> 31)) * 0x94D049BB133111EBu + 0x9E3779B97F4A7C15u;
    return value;
}

/* Do a share of the work: 0.25 is a quarter of it. It touches neither message and calls no MPI. */
static inline void work_share(double share) {
    struct chain *chain = own_chain();
    chain->share += share;
    long until = (long)(chain->share * (double)chain->rounds + 0.5);
    chain->value = after_rounds(chain->value, until - chain->done);
    chain->done = until;
}

static inline void only_work(struct exchange *exchange) {
    (void)exchange;
    work_share(1.0);
}

static inline void only_messages(struct exchange *exchange) {
    check(MPI_Irecv(exchange->in, exchange->size, MPI_BYTE, exchange->other, TAG, MPI_COMM_WORLD,
                    &exchange->requests[0]));
    check(MPI_Isend(exchange->out, exchange->size, MPI_BYTE, exchange->other, TAG, MPI_COMM_WORLD,
                    &exchange->requests[1]));
    check(MPI_Waitall(2, exchange->requests, MPI_STATUSES_IGNORE));
}

/* Without overlap: right, and slow. */
static inline void one_after_the_other(struct exchange *exchange) {
    only_work(exchange);
    only_messages(exchange);
}

enum { COMM, COMP, BEFORE, DURING, PARTS, MOST_PASSES = 10000 };
static const char *const PART_NAMES[] = {"comm", "comp", "before", "during"};

static inline void spoilt(const char *part, const char *why) {
    fprintf(stderr, "wrong: rank %d, %s: %s\n", my_rank(), part, why);
    give_up(3);
}

/* A number that no other run and no other rank has. */
static inline uint64_t fresh_number(void) {
    static uint64_t state;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    state += (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec + (uint64_t)getpid();
    return next_random(&state);
}

/* Bytes that follow from the sender's key, which the receiver gets only after the timed part. */
static inline unsigned char next_byte(uint64_t *key) { return (unsigned char)next_random(key); }

static inline void verify_data(const struct exchange *exchange, const char *part, uint64_t key) {
    for (long i = 0; i < exchange->size; i++) {
        unsigned char expected = next_byte(&key);
        if (exchange->in[i] == expected)
            continue;
        fprintf(stderr, "wrong data: byte %ld of %d from rank %d at rank %d is %d, not %d (%s).\n",
                i, exchange->size, exchange->other, my_rank(), exchange->in[i], expected, part);
        give_up(3);
    }
}

static inline void verify_work(const char *part, uint64_t first, long rounds) {
    const struct chain *chain = own_chain();
    if (labs(chain->done - rounds) > rounds / 1000)
        spoilt(part, "the shares of the work do not add up to 1.");
    if (chain->value != after_rounds(first, chain->done))
        spoilt(part, "the result of the work is wrong; work_share() does the work.");
}

/* Run one part, then look whether it did all that it should; seconds from barrier to end. */
static inline double run_part(struct exchange *exchange, int part, way run, long rounds) {
    uint64_t first = fresh_number(), keys[2], mine = fresh_number(), key = mine;
    struct exchange given = *exchange; /* what is checked is ours, whatever becomes of the copy */
    for (long i = 0; i < exchange->size; i++)
        exchange->out[i] = next_byte(&key);
    memset(exchange->in, 0, (size_t)exchange->size);
    given.requests[0] = given.requests[1] = MPI_REQUEST_NULL;
    *own_chain() = (struct chain){.value = first, .rounds = rounds};

    check(MPI_Barrier(MPI_COMM_WORLD));
    double start = MPI_Wtime();
    run(&given);
    double seconds = MPI_Wtime() - start;
    check(MPI_Barrier(MPI_COMM_WORLD)); /* what follows disturbs no rank that is still timed */

    for (int i = 0; i < 2; i++)
        if (given.requests[i] != MPI_REQUEST_NULL)
            spoilt(PART_NAMES[part], "a request is still open; wait for both before you return.");
    if (part != COMM)
        verify_work(PART_NAMES[part], first, rounds);
    check(MPI_Allgather(&mine, 1, MPI_UINT64_T, keys, 1, MPI_UINT64_T, MPI_COMM_WORLD));
    if (part != COMP)
        verify_data(exchange, PART_NAMES[part], keys[exchange->other]);
    return seconds;
}

static inline int compare_times(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static inline double median(double *times, long count) {
    qsort(times, (size_t)count, sizeof(double), compare_times);
    return (times[(count - 1) / 2] + times[count / 2]) / 2;
}

/* How long the messages take by themselves, of the slower rank: the median after some that are not
 * counted. */
static inline double time_messages(struct exchange *exchange) {
    double times[WARM_UPS], slower;
    for (int i = -WARM_UPS; i < WARM_UPS; i++) {
        double start = MPI_Wtime();
        only_messages(exchange);
        if (i >= 0)
            times[i] = MPI_Wtime() - start;
    }
    double mine = median(times, WARM_UPS);
    check(MPI_Allreduce(&mine, &slower, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    return slower;
}

/* How many rounds of the chain the faster rank makes in a microsecond when nothing disturbs it: both
 * ranks have the same work, and not merely the same time. */
static inline double rounds_per_us(void) {
    const long rounds = 20000;
    double best = 0.0, faster;
    uint64_t value = fresh_number();
    for (int i = 0; i < 50; i++) {
        double began = MPI_Wtime();
        value = after_rounds(value, rounds);
        double us = (MPI_Wtime() - began) * 1e6;
        best = us > 0.0 && (double)rounds / us > best ? (double)rounds / us : best;
    }
    own_chain()->value = value; /* so that no compiler leaves the rounds out */
    check(MPI_Allreduce(&best, &faster, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    return faster;
}

/* For people: the median of each part, of the slower rank. */
static inline void report(double times[PARTS][MOST_PASSES], int passes, int size) {
    double middle[PARTS];
    for (int part = 0; part < PARTS; part++)
        middle[part] = median(times[part], passes);
    printf("%d bytes each way, %d passes, the slower of both ranks, medians\n", size, passes);
    printf("  the messages alone      %8.2f ms\n", middle[COMM] * 1e3);
    printf("  the work alone          %8.2f ms\n", middle[COMP] * 1e3);
    printf("  one after the other     %8.2f ms\n", middle[BEFORE] * 1e3);
    printf("  your exchange           %8.2f ms\n", middle[DURING] * 1e3);
    printf("  improvement, equation 1 %+8.1f %%\n",
           (middle[DURING] - middle[BEFORE]) / middle[BEFORE] * 100);
}

static inline void write_lines(const double *of_both, int part, long pass, long size) {
    for (int rank = 0; rank < 2; rank++) {
        begin_sample("duration_s", of_both[rank], pass, size);
        put_count("rank", rank);
        put_text("part", PART_NAMES[part]);
        end_line();
    }
}

/* --size 200000: bytes. --seconds: all the work; without it, WORK_TO_MESSAGES times what the
 * messages take, so that there is about as much to hide on a slow link as on a fast one.
 * --passes 20. --lines: raw samples in place of the report */
static inline int measure_exchange(int argc, char **argv, way during) {
    static const char *const KNOWN[] = {"--size", "--seconds", "--passes", "--lines", NULL};
    static double times[PARTS][MOST_PASSES];
    const way ways[PARTS] = {only_messages, only_work, one_after_the_other, during};

    start_mpi(&argc, &argv);
    refuse_other_than_two_ranks();
    refuse_unknown(argc, argv, KNOWN);
    int me = my_rank(), lines = has_argument(argc, argv, "--lines");
    long passes = number_argument(argc, argv, "--passes", 20, 1, MOST_PASSES);
    long size = number_argument(argc, argv, "--size", 200000, 1, LARGEST_MESSAGE);
    double seconds = decimal_argument(argc, argv, "--seconds", 0.0, 1e-6, 60.0);
    struct exchange exchange = {
        .out = message_buffer(size, 2),
        .in = message_buffer(size, 2),
        .size = (int)size,
        .other = 1 - me,
    };
    double messages = time_messages(&exchange), per_us = rounds_per_us();
    if (seconds == 0.0)
        seconds = WORK_TO_MESSAGES * messages;
    long rounds = (long)(seconds * 1e6 * per_us + 0.5);
    keep_lines_back();
    if (lines) {
        begin_about("exchange", clock_resolution(), passes * PARTS * 2);
        put_work(&(struct work){.loop = 1, .rounds_per_us = per_us}, seconds);
        if (me == 0)
            end_line();
    }
    for (long pass = 0; pass < passes; pass++) {
        int order[PARTS];
        shuffle(order, PARTS, 1, pass);
        for (int i = 0; i < PARTS; i++) {
            double of_both[2], mine = run_part(&exchange, order[i], ways[order[i]], rounds);
            gather_times(&mine, of_both, 1);
            if (me == 0 && lines)
                write_lines(of_both, order[i], pass, size);
            if (me == 0)
                times[order[i]][pass] = of_both[0] > of_both[1] ? of_both[0] : of_both[1];
        }
    }
    if (me == 0 && lines)
        write_end();
    else if (me == 0)
        report(times, (int)passes, (int)size);
    check(MPI_Finalize());
    return 0;
}

#endif
