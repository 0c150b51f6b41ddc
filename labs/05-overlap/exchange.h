/* What measures the exchange of exchange.c, and finds out when it goes wrong. This file need not be
 * changed.
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
    struct work work;
    double seconds, worked; /* all the work, and which share of it was done */
};

/* Do a share of the work: 0.25 is a quarter of it. It touches neither message and calls no MPI. */
static inline void work_share(struct exchange *exchange, double share) {
    work_once(&exchange->work, exchange->seconds * share);
    exchange->worked += share;
}

typedef void (*way)(struct exchange *exchange);

enum { COMM, COMP, BEFORE, DURING, PARTS, MOST_PASSES = 10000 };
static const char *const PART_NAMES[] = {"comm", "comp", "before", "during"};

static inline void only_messages(struct exchange *exchange) {
    check(MPI_Irecv(exchange->in, exchange->size, MPI_BYTE, exchange->other, TAG, MPI_COMM_WORLD,
                    &exchange->requests[0]));
    check(MPI_Isend(exchange->out, exchange->size, MPI_BYTE, exchange->other, TAG, MPI_COMM_WORLD,
                    &exchange->requests[1]));
    check(MPI_Waitall(2, exchange->requests, MPI_STATUSES_IGNORE));
}

static inline void only_work(struct exchange *exchange) { work_share(exchange, 1.0); }

static inline void spoilt(const char *part, const char *why) {
    fprintf(stderr, "wrong: rank %d, %s: %s\n", my_rank(), part, why);
    give_up(3);
}

/* Run one part, then look whether it did all that it should; seconds from barrier to end. */
static inline double run_part(struct exchange *exchange, int part, way run, long message) {
    int me = my_rank();
    fill(exchange->out, exchange->size, me, message);
    memset(exchange->in, 0, (size_t)exchange->size);
    exchange->requests[0] = exchange->requests[1] = MPI_REQUEST_NULL;
    exchange->worked = 0.0;

    check(MPI_Barrier(MPI_COMM_WORLD));
    double start = MPI_Wtime();
    run(exchange);
    double seconds = MPI_Wtime() - start;

    for (int i = 0; i < 2; i++)
        if (exchange->requests[i] != MPI_REQUEST_NULL)
            spoilt(PART_NAMES[part], "a request is still open; wait for both before you return.");
    if (part != COMM && (exchange->worked < 0.999 || exchange->worked > 1.001))
        spoilt(PART_NAMES[part], "the shares of the work do not add up to 1.");
    if (part != COMP)
        verify(exchange->in, exchange->size, exchange->other, message);
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
 * --work loop or delay. --passes 20. --lines: raw samples in place of the report */
static inline int measure_exchange(int argc, char **argv, way before, way during) {
    static const char *const KNOWN[] = {"--size",  "--seconds", "--passes",
                                        "--lines", "--work",    NULL};
    static double times[PARTS][MOST_PASSES];
    const way ways[PARTS] = {only_messages, only_work, before, during};

    start_mpi(&argc, &argv);
    refuse_other_than_two_ranks();
    refuse_unknown(argc, argv, KNOWN);
    int me = my_rank(), lines = has_argument(argc, argv, "--lines");
    long passes = number_argument(argc, argv, "--passes", 20, 1, MOST_PASSES);
    long size = number_argument(argc, argv, "--size", 200000, 1, LARGEST_MESSAGE);
    struct exchange exchange = {
        .out = message_buffer(size, 2),
        .in = message_buffer(size, 2),
        .size = (int)size,
        .other = 1 - me,
        .work = work_arguments(argc, argv, "loop"),
        .seconds = decimal_argument(argc, argv, "--seconds", 0.0, 1e-6, 60.0),
    };
    double messages = time_messages(&exchange);
    if (exchange.seconds == 0.0)
        exchange.seconds = WORK_TO_MESSAGES * messages;
    keep_lines_back();
    if (lines) {
        begin_about("exchange", clock_resolution(), passes * PARTS * 2);
        put_work(&exchange.work, exchange.seconds);
        if (me == 0)
            end_line();
    }
    for (long pass = 0; pass < passes; pass++) {
        int order[PARTS];
        shuffle(order, PARTS, 1, pass);
        for (int i = 0; i < PARTS; i++) {
            double of_both[2], mine;
            mine = run_part(&exchange, order[i], ways[order[i]], pass * PARTS + order[i]);
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
