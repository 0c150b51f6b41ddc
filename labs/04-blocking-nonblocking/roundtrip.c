/* How long is a message on its way, and does it matter how we send it?
 *
 *     beowulf run -n 2 roundtrip.c --sizes 0,1024
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include roundtrip.c -o roundtrip
 *     mpiexec -n 2 ./roundtrip --sizes 0,1024
 *
 * --protocol  blocking (MPI_Send), nonblocking (MPI_Isend), persistent (MPI_Send_init), synchronous
 *             (MPI_Ssend), ready (MPI_Rsend), overlap (nonblocking, with work meanwhile), async
 *             (MPI_Irecv, MPI_Send, MPI_Wait), sendrecv (MPI_Sendrecv); several with commas are
 *             measured in turns, so that they can be compared
 * --pattern   pingpong    rank 0 sends to the last rank, which sends it back; the others look on
 *             pairs       the first half of the ranks each have a partner in the second half and
 *                         all pairs play ping-pong at once; with an odd count the last looks on
 *             headtohead  the same pairs, but both partners send at the same time
 *             ring        every rank sends to the next and receives from the one before at once
 * --sizes     bytes of the message, with commas
 * --overlap-bytes  bytes of its own on which a rank works while its message travels (several with
 *             commas); --compute-us does the same with a loop that lasts so long; --test lets the
 *             loop look at the message with MPI_Test. With blocking calls it works after them,
 *             except with --mode mpptest, which works between them.
 * --passes, --chunks, --chunk-us, --seed  how many samples, how long each, in which order
 * --mode      ours, or as well-known programs do it: imb, osu, mpptest
 *
 * --mode mpptest does as mpptest of MPICH 1.2.0, the program of paper B and very likely of paper A:
 * 30 passes over the lengths in their order, each a run of 50 round trips (--reps; with --chunk-us of
 * fewer, where so many would last longer than that). `bytes_per_s` is the rate of each run (see
 * printed_rate below); mpptest printed the best of them. Ranks 0 and 1 talk, the others look on;
 * --distance gives rank 0 another partner. --bisect splits the ranks into pairs, each rank with the one at the
 * distance if both are free, and multiplies one pair's rate by half of the number of ranks. With
 * --overlap-bytes ranks 0 and the last one talk, both work, the message has one size (--sizes, 0
 * unless given), and what is swept is the work beside it, in whole numbers of 8 bytes. Not both:
 * mpptest with -bisect ignores -overlap. The protocols are blocking (-sync) and async (-async). The
 * papers print no command lines: that they measured so is an inference.
 *
 * Which pattern for more nodes, then? Here `ring` stands for "np nodes": it means the same for 2, 3
 * and 4 ranks, each cable carries one message in each direction, and the rate is summed over all
 * ranks. With `pairs` three ranks are no faster than two.
 */
#include "measure.h"

enum protocol { BLOCKING, NONBLOCKING, PERSISTENT, SYNCHRONOUS, READY, OVERLAP, ASYNC, SENDRECV };
static const char *const PROTOCOLS[] = {"blocking",    "nonblocking", "persistent",
                                        "synchronous", "ready",       "overlap",
                                        "async",       "sendrecv",    NULL};
enum pattern { PINGPONG, PAIRS, RING, HEADTOHEAD };
static const char *const PATTERNS[] = {"pingpong", "pairs", "ring", "headtohead", NULL};
enum mode { OURS, IMB, OSU, MPPTEST };
static const char *const MODES[] = {"ours", "imb", "osu", "mpptest", NULL};
static const char *const KNOWN[] = {"--protocol",   "--pattern",  "--sizes", "--overlap-bytes",
                                    "--compute-us", "--test",     "--mode",  "--passes",
                                    "--chunks",     "--chunk-us", "--seed",  "--bisect",
                                    "--distance",   "--reps",     NULL};

enum { TAG = 7, SLICES = 20, WARM_UP = 10 };
enum { FACTORS = 65536 }; /* mpptest works on arrays of at least so many doubles */
enum { MOST_PLACES = 4096, MOST_SIZES = 512, MOST_PROTOCOLS = 8, MOST_RANKS = 1024 };
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

/* What this rank does in the pattern. A rank that looks on has no partner. */
struct role {
    int to, from;    /* the ranks that it sends to and receives from */
    int initiator;   /* it begins a repetition, works, and its time counts */
    int exchange;    /* everybody begins at once: ring and headtohead */
    int sends_first; /* it sends before it receives, where calls block */
};

/* One place of the sweep: a protocol, a size, some work; and how it is measured. */
struct place {
    enum protocol protocol;
    int size;
    long overlap_bytes;
    long repetitions;  /* of a chunk */
    long lead_in;      /* repetitions just before, whose time is not kept */
    double shortest_s; /* a chunk that is shorter is not kept */
};

/* The same for the whole run. */
static enum mode mode;
static int with_overlap; /* --overlap-bytes was given */
static int bisect;
static struct role role;
static char looking_on[1024]; /* mpptest's ranks without a partner */
static unsigned char *outgoing, *incoming, *own;
static double *factors[2]; /* of mpptest's work */
static long factor_count, next_factor;
static long trips;              /* of a run of mpptest's */
static MPI_Request requests[2]; /* the receive and the send */
static double work_us, rounds_per_us;
static int testing;
static double resolution_s;
static long message; /* counts chunks: each has data of its own */

/* ---- Work while the message travels ---- */

/* The work of mpptest: `count` products, each time of the numbers that follow in two long arrays, so
 * that a cache of its day does not hold them. */
static void multiply(long count) {
    if (!count)
        return;
    if (next_factor + count >= factor_count)
        next_factor = 0;
    work_on_products(factors[0] + next_factor, factors[1] + next_factor, count);
    next_factor += count;
}

/* Before each run mpptest writes its arrays, and begins at their first number. */
static void write_factors(long count) {
    factor_count = count > FACTORS ? count : FACTORS;
    next_factor = 0;
    for (long i = 0; count && i < factor_count; i++)
        factors[0][i] = factors[1][i] = 1.0;
}

static long work_numbers(const struct place *place) {
    return place->overlap_bytes / (long)sizeof(double); /* 2 bytes of work are none */
}

static void work(const struct place *place, int travelling) {
    if (mode == MPPTEST)
        multiply(work_numbers(place));
    else if (place->overlap_bytes)
        work_on_bytes(own, place->overlap_bytes);
    if (work_us > 0 && testing && travelling)
        compute_us_testing(work_us, rounds_per_us, SLICES, &requests[1]);
    else if (work_us > 0)
        compute_us(work_us, rounds_per_us);
}

/* ---- The measured loops ---- */

static void send_there(const struct place *p) {
    if (p->protocol == SYNCHRONOUS)
        check(MPI_Ssend(outgoing, p->size, MPI_BYTE, role.to, TAG, WORLD));
    else
        check(MPI_Send(outgoing, p->size, MPI_BYTE, role.to, TAG, WORLD));
}

static void receive(const struct place *p) {
    check(MPI_Recv(incoming, p->size, MPI_BYTE, role.from, TAG, WORLD, IGNORE));
}

static void start_sending(const struct place *p) {
    check(MPI_Isend(outgoing, p->size, MPI_BYTE, role.to, TAG, WORLD, &requests[1]));
}

static void start_receiving(const struct place *p) {
    check(MPI_Irecv(incoming, p->size, MPI_BYTE, role.from, TAG, WORLD, &requests[0]));
}

/* Round trips, and exchanges. If everybody sent first in an exchange, long messages would wait for
 * ever: headon.c. So the even ranks of a ring send first, and the lower rank of a pair. In a ring of
 * three, rank 2 sends to rank 0, which also sends first: it receives once rank 1 has its message. */
static void blocking_calls(const struct place *p, long count) {
    for (long i = 0; i < count; i++) {
        if (role.sends_first) {
            send_there(p);
            receive(p);
        } else {
            receive(p);
            send_there(p);
        }
        if (role.initiator)
            work(p, 0);
    }
}

/* Only the receive is posted beforehand: what mpptest calls non-blocking. */
static void async_calls(const struct place *p, long count) {
    if (!role.initiator)
        start_receiving(p);
    for (long i = 0; i < count; i++) {
        if (role.initiator) {
            start_receiving(p);
            send_there(p);
            work(p, 0);
            check(MPI_Wait(&requests[0], IGNORE));
        } else {
            check(MPI_Wait(&requests[0], IGNORE));
            if (i + 1 < count)
                start_receiving(p);
            send_there(p);
        }
    }
}

/* The round trips of mpptest beside work (-overlap), in which both ranks work. The one that answers
 * works while the message is on its way, and only then receives it. */
static void blocking_trips_beside_work(const struct place *p, long count) {
    for (long i = 0; i < count; i++) {
        if (role.initiator)
            send_there(p);
        work(p, 1);
        receive(p);
        if (!role.initiator)
            send_there(p);
    }
}

/* What the one that answers sends first lets the clock start: see wait_for_partner. */
static void async_trips_beside_work(const struct place *p, long count) {
    for (long i = 0; i < count; i++) {
        start_receiving(p);
        start_sending(p);
        work(p, 1);
        check(MPI_Wait(&requests[0], IGNORE));
        check(MPI_Wait(&requests[1], IGNORE));
    }
    if (!role.initiator)
        send_there(p);
}

static void nonblocking_trips(const struct place *p, long count) {
    for (long i = 0; i < count; i++) {
        start_receiving(p);
        if (role.initiator) {
            start_sending(p);
            work(p, 1);
            check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        } else {
            check(MPI_Wait(&requests[0], IGNORE));
            start_sending(p);
            check(MPI_Wait(&requests[1], IGNORE));
        }
    }
}

static void persistent_trips(const struct place *p, long count) {
    for (long i = 0; i < count; i++) {
        check(MPI_Start(&requests[0]));
        if (role.initiator) {
            check(MPI_Start(&requests[1]));
            work(p, 1);
            check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        } else {
            check(MPI_Wait(&requests[0], IGNORE));
            check(MPI_Start(&requests[1]));
            check(MPI_Wait(&requests[1], IGNORE));
        }
    }
}

/* MPI_Rsend is allowed only when the receive has been posted already. So each rank posts the
 * receive for the next message before it sends the one that lets its partner send. */
static void ready_trips(const struct place *p, long count) {
    if (!role.initiator)
        start_receiving(p);
    check(MPI_Sendrecv(NULL, 0, MPI_BYTE, role.to, TAG + 1, NULL, 0, MPI_BYTE, role.from, TAG + 1,
                       WORLD, IGNORE));
    for (long i = 0; i < count; i++) {
        if (role.initiator)
            start_receiving(p);
        else
            check(MPI_Wait(&requests[0], IGNORE));
        if (!role.initiator && i + 1 < count)
            start_receiving(p);
        check(MPI_Rsend(outgoing, p->size, MPI_BYTE, role.to, TAG, WORLD));
        if (role.initiator) {
            work(p, 0);
            check(MPI_Wait(&requests[0], IGNORE));
        }
    }
}

/* Exchanges, in which everybody sends at once. */

/* Inside, MPI_Sendrecv posts the receive, posts the send and waits: it is a blocking call, and does
 * what nonblocking_exchanges does. */
static void sendrecv_exchanges(const struct place *p, long count) {
    for (long i = 0; i < count; i++) {
        check(MPI_Sendrecv(outgoing, p->size, MPI_BYTE, role.to, TAG, incoming, p->size, MPI_BYTE,
                           role.from, TAG, WORLD, IGNORE));
        work(p, 0);
    }
}

static void nonblocking_exchanges(const struct place *p, long count) {
    for (long i = 0; i < count; i++) {
        start_receiving(p);
        start_sending(p);
        work(p, 1);
        check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
}

static void persistent_exchanges(const struct place *p, long count) {
    for (long i = 0; i < count; i++) {
        check(MPI_Startall(2, requests));
        work(p, 1);
        check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
}

static void repeat(const struct place *p, long count) {
    if (role.to < 0 || count == 0)
        return;
    if (mode == MPPTEST && with_overlap) {
        (p->protocol == BLOCKING ? blocking_trips_beside_work : async_trips_beside_work)(p, count);
        return;
    }
    switch (p->protocol) {
    case BLOCKING:
    case SYNCHRONOUS:
        blocking_calls(p, count);
        break;
    case ASYNC:
        async_calls(p, count);
        break;
    case SENDRECV:
        sendrecv_exchanges(p, count);
        break;
    case NONBLOCKING:
    case OVERLAP:
        (role.exchange ? nonblocking_exchanges : nonblocking_trips)(p, count);
        break;
    case PERSISTENT:
        (role.exchange ? persistent_exchanges : persistent_trips)(p, count);
        break;
    case READY:
        ready_trips(p, count);
        break;
    }
}

/* ---- A chunk ---- */

/* mpptest has no lead-in: the one that answers sends a message first, and once it is there, the other
 * one reads the clock. Beside work without blocking, it is the first message of its loop. */
static void wait_for_partner(const struct place *p) {
    if (with_overlap)
        write_factors(work_numbers(p));
    if (role.initiator)
        receive(p);
    else if (role.to >= 0 && !(with_overlap && p->protocol == ASYNC))
        send_there(p);
}

/* Seconds of the slowest rank for so many repetitions; as mpptest, those of rank 0. Ranks leave a barrier some microseconds
 * apart; the lead-in brings partners into step before the clock is read. */
static double run_chunk(void *what, long repetitions) {
    const struct place *p = what;
    int persistent = p->protocol == PERSISTENT && role.to >= 0;
    double seconds = 0.0;

    message++;
    fill(outgoing, p->size, my_rank(), message);
    if (p->size)
        incoming[0] = incoming[p->size - 1] = 0;
    if (persistent) {
        check(MPI_Recv_init(incoming, p->size, MPI_BYTE, role.from, TAG, WORLD, &requests[0]));
        check(MPI_Send_init(outgoing, p->size, MPI_BYTE, role.to, TAG, WORLD, &requests[1]));
    }
    check(MPI_Barrier(WORLD));
    if (mode == MPPTEST)
        wait_for_partner(p);
    repeat(p, p->lead_in);

    double began = MPI_Wtime();
    repeat(p, repetitions);
    if (role.initiator && (mode != MPPTEST || my_rank() == 0))
        seconds = MPI_Wtime() - began;

    if (persistent) {
        check(MPI_Request_free(&requests[0]));
        check(MPI_Request_free(&requests[1]));
    }
    if (role.to >= 0)
        verify(incoming, p->size, role.from == MPI_ANY_SOURCE ? role.to : role.from, message);
    return slowest(seconds);
}

/* ---- The sweep ---- */

#define SHORTEST 0.4 /* of the chunk that was asked for: 0.2 ms of 0.5 ms */

/* How a place is measured: a chunk of about chunk_s, after a lead-in of up to WARM_UP repetitions
 * that takes about a millisecond; none where one message alone takes 20 ms. */
static void prepare(struct place *p, double chunk_s) {
    p->repetitions = calibrate(run_chunk, p, chunk_s, resolution_s);
    double one_s = run_chunk(p, p->repetitions) / (double)p->repetitions;
    if (one_s > 0.02)
        p->lead_in = 0;
    else
        p->lead_in = one_s * WARM_UP < 1e-3 ? WARM_UP : 1 + (long)(1e-3 / one_s);
    p->shortest_s = SHORTEST * chunk_s;
    if (p->shortest_s < FEWEST_TICKS * resolution_s)
        p->shortest_s = FEWEST_TICKS * resolution_s;
}

/* The same in the way of another program, which knows beforehand how often. No message is sent
 * here: a connection remembers, and once it has carried long messages, it carries some short ones
 * otherwise (2048 bytes a fifth slower on our nodes). Those programs begin with the short ones. Only a
 * run of mpptest's that may last no more than `longest_s` is tried. */
static void prepare_as_another(struct place *p, double longest_s) {
    p->shortest_s = FEWEST_TICKS * resolution_s;
    /* Intel's IMB-MPI1: 1000 repetitions, fewer when that would be more than 40 MB. */
    if (mode == IMB) {
        p->repetitions = (long)p->size * 1000 > 40L << 20 ? (40L << 20) / p->size : 1000;
        if (p->repetitions < 1)
            p->repetitions = 1;
    }
    /* Ohio State's osu_latency: 10,000 repetitions up to 8 KiB after 100, then 1000 after 10. */
    if (mode == OSU) {
        p->lead_in = p->size > 8192 ? 10 : 100;
        p->repetitions = p->size > 8192 ? 1000 : 10000;
    }
    if (mode == MPPTEST) {
        long fit = longest_s > 0 ? calibrate(run_chunk, p, longest_s, resolution_s) : trips;
        p->repetitions = fit < trips ? fit : trips;
    }
}

/* Before it counts, IMB runs one repetition, and then as many as it will count or as fit a second,
 * to see how long they take. What is counted then finds the caches warm. */
static void lead_in_as_imb(struct place *p) {
    p->lead_in = 0;
    double one_s = run_chunk(p, 1);
    p->lead_in = one_s * (double)p->repetitions < 1.0 ? p->repetitions : 1 + (long)(1.0 / one_s);
}

/* By how much mpptest multiplies one pair's rate. With --bisect it is half of the number of ranks:
 * as many as there are pairs, and half a pair more for a last rank that looks on. */
static double rate_times(void) { return bisect ? all_ranks() / 2.0 : 1.0; }

/* The rate as mpptest prints it: the length that is swept, bytes of the message or of the work, over
 * half of the time. */
static double printed_rate(const struct place *p, double seconds) {
    double length = with_overlap ? (double)p->overlap_bytes : (double)p->size;
    double half_s = seconds / (double)p->repetitions / 2;
    return length / half_s * rate_times();
}

static void write_sample(const struct place *p, long pass, double seconds) {
    begin_line("sample");
    if (mode == MPPTEST)
        put_text("quantity", "half_round_trip_mpptest_us");
    else
        put_text("quantity", role.exchange ? "exchange_us" : "half_round_trip_us");
    put_text("protocol", PROTOCOLS[p->protocol]);
    put_count("size_bytes", p->size);
    if (with_overlap)
        put_count("overlap_bytes", p->overlap_bytes);
    put_count("pass", pass);
    put_count("repetitions", p->repetitions);
    put_number("seconds", seconds);
    if (mode == MPPTEST) {
        put_truth("bisect", bisect);
        put_number("bytes_per_s", printed_rate(p, seconds));
    }
    end_line();
}

/* A chunk's seconds; when it is too short, its repetitions are doubled for good. (That happens
 * where something disturbed the calibration.) */
static double measured(struct place *p) {
    double seconds = run_chunk(p, p->repetitions);
    while (seconds < p->shortest_s && p->repetitions < MOST_REPETITIONS) {
        p->repetitions *= 2;
        seconds = run_chunk(p, p->repetitions);
    }
    return seconds;
}

static void sweep(struct place *places, int count, long passes, long chunks, long seed) {
    static int order[MOST_PLACES];
    int rising = mode != OURS; /* as the lengths are given */
    for (long pass = 0; pass < passes; pass++) {
        shuffle(order, count, seed, pass);
        for (int i = 0; i < count; i++) {
            struct place *p = &places[rising ? i : order[i]];
            for (long c = 0; c < chunks; c++) {
                if (mode == IMB)
                    lead_in_as_imb(p);
                double seconds = measured(p);
                if (my_rank() == 0)
                    write_sample(p, pass, seconds);
            }
        }
        flush_lines();
    }
}

/* The first message of a pair also sets up the connection, and is reported by itself. */
static void first_messages(void) {
    struct place first = {.protocol = mode == MPPTEST ? BLOCKING : NONBLOCKING, .size = 1};
    double began = MPI_Wtime();
    repeat(&first, 1);
    double seconds = role.initiator ? MPI_Wtime() - began : -1.0;
    double all[MOST_RANKS];
    check(MPI_Gather(&seconds, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, WORLD));
    for (int rank = 0; my_rank() == 0 && rank < all_ranks(); rank++) {
        if (all[rank] < 0)
            continue;
        begin_line("first");
        put_count("rank", rank);
        put_number("seconds", all[rank]);
        end_line();
    }
}

static struct role role_in(enum pattern pattern, int rank, int ranks) {
    int half = ranks / 2;
    struct role r = {.to = -1, .from = -1, .initiator = 0, .exchange = 0};
    if (pattern == RING) {
        r.to = (rank + 1) % ranks;
        r.from = (rank + ranks - 1) % ranks;
    } else if (pattern == PINGPONG) {
        if (rank == 0 || rank == ranks - 1)
            r.to = r.from = ranks - 1 - rank;
    } else if (rank < 2 * half) {
        r.to = r.from = (rank + half) % (2 * half);
    }
    r.exchange = pattern == RING || pattern == HEADTOHEAD;
    r.initiator = r.to >= 0 && (r.exchange || rank < r.to);
    r.sends_first = pattern == RING ? rank % 2 == 0 : rank < r.to;
    return r;
}

/* In mpptest rank 0 has the rank at a distance as its partner, and beside work the last one. With
 * --bisect each rank in turn takes the one at the distance after it, if neither is taken. */
static struct role role_in_mpptest(int rank, int ranks, int distance) {
    static int partner[MOST_RANKS], first[MOST_RANKS];
    int step = with_overlap ? ranks - 1 : distance;
    for (int i = 0; i < ranks; i++)
        partner[i] = -1;
    for (int i = 0; i < (bisect ? ranks : 1); i++) {
        int other = (i + step) % ranks;
        if (partner[i] < 0 && partner[other] < 0) {
            partner[i] = other;
            partner[other] = i;
            first[i] = 1;
        }
    }
    looking_on[0] = 0;
    for (int i = 0; i < ranks; i++)
        if (partner[i] < 0)
            snprintf(looking_on + strlen(looking_on), sizeof looking_on - strlen(looking_on),
                     looking_on[0] ? ", %d" : "%d", i);
    return (struct role){.to = partner[rank],
                         .from = MPI_ANY_SOURCE,
                         .initiator = first[rank],
                         .sends_first = first[rank]};
}

/* What mpptest has no way of doing, or would wait for. */
static void refuse_in_mpptest(int argc, char **argv, const int *protocols, int n_protocols,
                              int n_sizes) {
    if (has_argument(argc, argv, "--pattern"))
        refuse("mpptest has no --pattern: ranks 0 and 1 talk, and with --bisect all pairs.");
    if (with_overlap && has_argument(argc, argv, "--distance"))
        refuse("mpptest works beside messages of ranks 0 and the last one: leave out --distance.");
    if (bisect && with_overlap)
        refuse("mpptest works beside one pair only, and with --bisect it does not work: leave out "
               "--bisect or --overlap-bytes.");
    if (has_argument(argc, argv, "--compute-us") || testing)
        refuse("mpptest works on bytes: give --overlap-bytes.");
    if (with_overlap && n_sizes > 1)
        refuse("With --overlap-bytes mpptest sweeps the work, beside one size: give one in "
               "--sizes.");
    for (int i = 0; i < n_protocols; i++) {
        if (protocols[i] != BLOCKING && protocols[i] != ASYNC)
            refuse("The protocols of mpptest are blocking and async, not %s.",
                   PROTOCOLS[protocols[i]]);
    }
}

static void put_mpptest(int distance) {
    put_truth("bisect", bisect);
    if (!with_overlap)
        put_count("distance", distance);
    put_number("rate_times", rate_times());
    put_text("rate", with_overlap ? "bytes of work over half of the time; no work, no rate"
                                  : "bytes of the message over half of the time");
    if (with_overlap)
        put_text("work", "both ranks, while the message is on its way, on numbers of 8 bytes");
    put_text("looks_on", looking_on[0] ? looking_on : "nobody");
}

static void run(int argc, char **argv) {
    static long sizes[MOST_SIZES], overlaps[MOST_SIZES];
    static struct place places[MOST_PLACES];
    int protocols[MOST_PROTOCOLS];

    refuse_unknown(argc, argv, KNOWN);
    mode = (enum mode)word_argument(argc, argv, "--mode", "ours", MODES);
    bisect = has_argument(argc, argv, "--bisect");
    with_overlap = has_argument(argc, argv, "--overlap-bytes");
    enum pattern pattern = (enum pattern)word_argument(argc, argv, "--pattern",
                                                       bisect ? "pairs" : "pingpong", PATTERNS);
    const char *usual_sizes = mode == MPPTEST && with_overlap ? "0" : "0,1,1024,65536";
    int n_protocols =
        words_argument(argc, argv, "--protocol", "blocking", PROTOCOLS, protocols, MOST_PROTOCOLS);
    int n_sizes =
        list_argument(argc, argv, "--sizes", usual_sizes, 0, LARGEST_MESSAGE, sizes, MOST_SIZES);
    int n_overlaps =
        list_argument(argc, argv, "--overlap-bytes", "0", 0, LARGEST_MESSAGE, overlaps, MOST_SIZES);
    long compute = number_argument(argc, argv, "--compute-us", 0, 0, 10000000);
    long usual_passes = mode == OURS ? 10 : mode == MPPTEST ? 30 : 1;
    long passes = number_argument(argc, argv, "--passes", usual_passes, 1, 1000000);
    long chunks = number_argument(argc, argv, "--chunks", mode == OURS ? 3 : 1, 1, 1000000);
    long chunk_us = number_argument(argc, argv, "--chunk-us", 500, 1, 10000000);
    long seed = number_argument(argc, argv, "--seed", 1, 0, LONG_MAX);
    testing = has_argument(argc, argv, "--test");
    trips = number_argument(argc, argv, "--reps", 50, 1, MOST_REPETITIONS);
    double longest_s = has_argument(argc, argv, "--chunk-us") ? (double)chunk_us * 1e-6 : 0.0;
    int distance = (int)number_argument(argc, argv, "--distance", 1, 1, 1000000);
    int count = n_protocols * n_sizes * n_overlaps;

    if (all_ranks() < 2)
        refuse("A message needs two ranks or more: mpiexec -n 2.");
    if (all_ranks() > MOST_RANKS)
        refuse("This program runs on at most %d ranks.", MOST_RANKS);
    if (distance % all_ranks() == 0)
        refuse("Of %d ranks, the one at a distance of %d is the rank itself.", all_ranks(),
               distance);
    if (count > MOST_PLACES)
        refuse("That makes %d places to measure; at most %d are possible.", count, MOST_PLACES);
    if ((has_argument(argc, argv, "--distance") || has_argument(argc, argv, "--reps")) &&
        mode != MPPTEST)
        refuse("--distance and --reps are ways of mpptest: use --mode mpptest.");
    if (bisect && mode != MPPTEST)
        refuse("--bisect is a way of mpptest: use --mode mpptest, or --pattern pairs.");
    if (mode == MPPTEST)
        refuse_in_mpptest(argc, argv, protocols, n_protocols, n_sizes);
    for (int i = 0; i < n_protocols; i++) {
        if (protocols[i] == SENDRECV && (pattern == PINGPONG || pattern == PAIRS))
            refuse("MPI_Sendrecv sends and receives at once: use it with --pattern ring or "
                   "headtohead.");
        if (protocols[i] == READY && (pattern == RING || pattern == HEADTOHEAD))
            refuse("With ready, nobody may send before the receiver is ready: use it with "
                   "--pattern pingpong or pairs.");
        if (protocols[i] == OVERLAP && !with_overlap && !compute)
            refuse("overlap needs work: give --overlap-bytes or --compute-us.");
    }
    long largest = 1, most_own = 1;
    for (int i = 0; i < n_sizes; i++)
        largest = sizes[i] > largest ? sizes[i] : largest;
    for (int i = 0; i < n_overlaps; i++)
        most_own = overlaps[i] > most_own ? overlaps[i] : most_own;
    outgoing = message_buffer(largest, 2);
    incoming = message_buffer(largest, 2);
    own = message_buffer(most_own, 1);
    long most_factors = most_own / (long)sizeof(double);
    for (int i = 0; mode == MPPTEST && with_overlap && i < 2; i++)
        factors[i] = (double *)(void *)message_buffer(
            (most_factors > FACTORS ? most_factors : FACTORS) * (long)sizeof(double), 2);
    role = mode == MPPTEST ? role_in_mpptest(my_rank(), all_ranks(), distance)
                           : role_in(pattern, my_rank(), all_ranks());

    keep_lines_back();
    first_messages();
    resolution_s = clock_resolution();
    rounds_per_us = compute ? calibrate_work() : 0.0;
    work_us = (double)compute;
    begin_about("roundtrip", resolution_s, passes * chunks * count);
    if (my_rank() == 0) {
        put_text("pattern", PATTERNS[pattern]);
        put_text("mode", MODES[mode]);
        if (mode == MPPTEST)
            put_text("time", "half of a repetition");
        else
            put_text("time", role.exchange ? "one exchange, slowest rank" : "half round trip");
        put_text("blocking_calls", mode == MPPTEST && with_overlap
                                       ? "MPI_Send, the work, MPI_Recv"
                                       : "MPI_Send and MPI_Recv, then the work");
        put_text("synchronised", mode == MPPTEST
                                     ? "MPI_Barrier, then a message of the one that answers"
                                     : "MPI_Barrier, then a lead-in of untimed repetitions");
        put_count("passes", passes);
        put_count("chunks", chunks);
        put_count("seed", seed);
        put_count("compute_us", compute);
        put_truth("test", testing);
        if (mode == MPPTEST)
            put_mpptest(distance);
        end_line();
    }
    flush_lines();

    int n = 0;
    for (int i = 0; i < n_sizes; i++)
        for (int j = 0; j < n_overlaps; j++)
            for (int k = 0; k < n_protocols; k++)
                places[n++] = (struct place){.protocol = (enum protocol)protocols[k],
                                             .size = (int)sizes[i],
                                             .overlap_bytes = overlaps[j]};
    for (int i = 0; i < n; i++) {
        if (mode != OURS)
            prepare_as_another(&places[i], longest_s);
        else
            prepare(&places[i], (double)chunk_us * 1e-6);
    }
    sweep(places, n, passes, chunks, seed);
    if (my_rank() == 0)
        write_end();
}

int main(int argc, char **argv) {
    start_mpi(&argc, &argv);
    run(argc, argv);
    check(MPI_Finalize());
    return 0;
}
