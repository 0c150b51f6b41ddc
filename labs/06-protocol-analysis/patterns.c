/* What do many messages at once give, in the two patterns that others publish?
 *
 *     beowulf run -n 4 patterns.c --sizes 1024,65536
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include patterns.c -o patterns
 *     mpiexec -n 4 ./patterns --sizes 1024,65536
 *
 * stream    as osu_bw of the OSU Micro-Benchmarks: rank 0 starts a window of messages to rank 1,
 *           waits until all have left, and for a short answer; others look on. One way: the rate is
 *           size_bytes over message_us, in MB/s of 10^6 bytes.
 *
 *               0  1111111111...            1 1 1
 *               1            ... answer          ...
 *
 * exchange  as Exchange of the Intel MPI Benchmarks: all ranks form a ring, and each sends a message
 *           to both of its neighbours and gets one from both. The rate that IMB prints counts all
 *           four: 4 size_bytes over exchange_us.
 *
 * --patterns     stream, exchange; several with a comma
 * --sizes        bytes, with commas
 * --window       messages of the stream that are under way at once
 * --passes       samples of each pattern and size
 * --repetitions  windows, or exchanges, in a sample
 * --seed         of the order in which patterns and sizes are measured
 *
 * A sample begins with a barrier; its repetitions follow each other without one, as in both models.
 * The stream is timed on rank 0, the exchange on the slowest rank. The buffers are the same for all
 * messages of a sample, so they stay in the cache; the last of each is verified afterwards. */
#include "measure.h"

enum pattern { STREAM, EXCHANGE };
static const char *const PATTERNS[] = {"stream", "exchange", NULL};
static const char *const QUANTITIES[] = {"message_us", "exchange_us"};
static const char *const KNOWN[] = {"--patterns", "--sizes",       "--window", "--passes",
                                    "--seed",     "--repetitions", NULL};

enum { WARM_UP = 10, MOST_PATTERNS = 2, MOST_SIZES = 64, MOST_WINDOW = 1024 };
enum { TO_UPPER = 1, TO_LOWER = 2, ANSWER = 3 }; /* tags */
#define IGNORE MPI_STATUS_IGNORE
#define COMM MPI_COMM_WORLD

/* One place of the sweep. */
struct place {
    enum pattern pattern;
    int size;
};

static int me, ranks, window;
static unsigned char *outgoing, *from_lower, *from_upper;
static long message; /* counts samples: each has data of its own */

/* ---- The patterns ---- */

static void send_window(int size) {
    static MPI_Request requests[MOST_WINDOW];
    unsigned char answer;
    for (int i = 0; i < window; i++)
        check(MPI_Isend(outgoing, size, MPI_BYTE, 1, TO_UPPER, COMM, &requests[i]));
    check(MPI_Waitall(window, requests, MPI_STATUSES_IGNORE));
    check(MPI_Recv(&answer, 1, MPI_BYTE, 1, ANSWER, COMM, IGNORE));
}

static void receive_window(int size) {
    static MPI_Request requests[MOST_WINDOW];
    unsigned char answer = 1;
    for (int i = 0; i < window; i++)
        check(MPI_Irecv(from_lower, size, MPI_BYTE, 0, TO_UPPER, COMM, &requests[i]));
    check(MPI_Waitall(window, requests, MPI_STATUSES_IGNORE));
    check(MPI_Send(&answer, 1, MPI_BYTE, 0, ANSWER, COMM));
}

static void stream(int size) {
    if (me == 0)
        send_window(size);
    else if (me == 1)
        receive_window(size);
}

static void exchange(int size) {
    int upper = (me + 1) % ranks, lower = (me + ranks - 1) % ranks;
    MPI_Request requests[2];
    check(MPI_Isend(outgoing, size, MPI_BYTE, upper, TO_UPPER, COMM, &requests[0]));
    check(MPI_Isend(outgoing, size, MPI_BYTE, lower, TO_LOWER, COMM, &requests[1]));
    check(MPI_Recv(from_lower, size, MPI_BYTE, lower, TO_UPPER, COMM, IGNORE));
    check(MPI_Recv(from_upper, size, MPI_BYTE, upper, TO_LOWER, COMM, IGNORE));
    check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

/* ---- A sample ---- */

static void verify_last(const struct place *p) {
    if (p->pattern == STREAM) {
        if (me == 1)
            verify(from_lower, p->size, 0, message);
        return;
    }
    verify(from_lower, p->size, (me + ranks - 1) % ranks, message);
    verify(from_upper, p->size, (me + 1) % ranks, message);
}

/* Seconds for so many repetitions: rank 0's of a stream, the slowest rank's of an exchange. */
static double timed(const struct place *p, long repetitions) {
    fill(outgoing, p->size, me, ++message);
    memset(from_lower, 0, (size_t)p->size);
    memset(from_upper, 0, (size_t)p->size);
    check(MPI_Barrier(COMM));
    double began = MPI_Wtime();
    for (long i = 0; i < repetitions; i++)
        (p->pattern == STREAM ? stream : exchange)(p->size);
    double seconds = MPI_Wtime() - began;
    verify_last(p);
    return slowest(p->pattern == STREAM && me != 0 ? 0.0 : seconds);
}

static void write_sample(const struct place *p, long pass, long repetitions, double seconds) {
    begin_line("sample");
    put_text("quantity", QUANTITIES[p->pattern]);
    put_text("pattern", PATTERNS[p->pattern]);
    put_count("size_bytes", p->size);
    put_count("pass", pass);
    put_count("repetitions", repetitions * (p->pattern == STREAM ? window : 1));
    put_number("seconds", seconds);
    end_line();
}

static void sweep(const struct place *places, int count, long passes, long repetitions, long seed) {
    static int order[MOST_PATTERNS * MOST_SIZES];
    for (long pass = 0; pass < passes; pass++) {
        shuffle(order, count, seed, pass);
        for (int i = 0; i < count; i++) {
            const struct place *p = &places[order[i]];
            double seconds = timed(p, repetitions);
            if (me == 0)
                write_sample(p, pass, repetitions, seconds);
        }
        flush_lines();
    }
}

static void run(int argc, char **argv) {
    static long sizes[MOST_SIZES];
    static struct place places[MOST_PATTERNS * MOST_SIZES];
    int patterns[MOST_PATTERNS];

    refuse_unknown(argc, argv, KNOWN);
    me = my_rank();
    ranks = all_ranks();
    if (ranks < 2)
        refuse("This program runs on 2 ranks or more: mpiexec -n 4.");
    int n_patterns = words_argument(argc, argv, "--patterns", "stream,exchange", PATTERNS, patterns,
                                    MOST_PATTERNS);
    int n_sizes =
        list_argument(argc, argv, "--sizes", "1024,65536", 0, LARGEST_MESSAGE, sizes, MOST_SIZES);
    window = (int)number_argument(argc, argv, "--window", 64, 1, MOST_WINDOW);
    long passes = number_argument(argc, argv, "--passes", 10, 1, 1000000);
    long repetitions = number_argument(argc, argv, "--repetitions", 10, 1, 1000000);
    long seed = number_argument(argc, argv, "--seed", 1, 0, LONG_MAX), largest = 1;
    int count = n_patterns * n_sizes;
    for (int i = 0; i < n_sizes; i++)
        largest = sizes[i] > largest ? sizes[i] : largest;
    outgoing = message_buffer(largest, 3);
    from_lower = message_buffer(largest, 3);
    from_upper = message_buffer(largest, 3);

    keep_lines_back();
    begin_about("patterns", clock_resolution(), passes * count);
    if (me == 0) {
        put_text("time", "stream: a message, on rank 0; exchange: one with both neighbours, on the "
                         "slowest rank");
        put_text("synchronised", "MPI_Barrier before each sample, none between its repetitions");
        put_count("window", window);
        put_count("passes", passes);
        put_count("seed", seed);
        end_line();
    }
    flush_lines();
    for (int i = 0; i < count; i++) {
        places[i] = (struct place){(enum pattern)patterns[i / n_sizes], (int)sizes[i % n_sizes]};
        timed(&places[i], WARM_UP);
    }
    sweep(places, count, passes, repetitions, seed);
    if (me == 0)
        write_end();
}

int main(int argc, char **argv) {
    start_mpi(&argc, &argv);
    run(argc, argv);
    check(MPI_Finalize());
    return 0;
}
