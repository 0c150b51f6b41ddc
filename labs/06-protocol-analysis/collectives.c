/* What does a collective call save against the same pattern made of single messages?
 *
 *     beowulf run -n 4 collectives.c --sizes 1024,65536
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include collectives.c -o collectives
 *     mpiexec -n 4 ./collectives --sizes 1024,65536
 *
 * Rank 0 is the root. Each operation is done in two ways: by MPI's own call, and by a loop over
 * MPI_Send and MPI_Recv as one would write it first: the root talks to one rank after the other,
 * and in all-to-all every rank starts all of its messages and waits for them.
 *
 * What is timed: each rank's clock runs from the moment when it leaves a barrier until its operation
 * returns, and the sample is the sum over the repetitions on the rank where that is longest. The
 * barrier lets the ranks go one after the other, about a message's time apart, so that who is first
 * may wait in the operation for the last: that is in the time, here as in the OSU Micro-Benchmarks
 * ('Max Latency'). But a sample here is few operations after a pause, in which the data are filled
 * and verified, while OSU's figure is the mean of hundreds in a row with the same data: on idle links
 * the two differ by up to a factor of two. `--repetitions 300 --passes 1` does as OSU does.
 *
 * --operations  broadcast, scatter, gather, reduce, alltoall, allreduce; several with commas
 * --sizes       bytes, with commas: of the message that is broadcast or of each rank's part of a
 *               sum; of the block that each rank gets (scatter), gives (gather), or both
 * --passes      samples of each operation, size and way
 * --repetitions of the operation in a sample, each after a barrier
 * --warm-up     repetitions before all samples; a simulated cluster needs none
 * --seed        of the order in which operations and sizes are measured
 *
 * Call and loop are measured in turns. Each operation and size has a communicator of its own, so
 * that in a capture its messages are not confused with the barriers' or any others; the loop's
 * messages have the place in the list of operations and sizes as their tag.
 */
#include "measure.h"

enum operation { BROADCAST, SCATTER, GATHER, REDUCE, ALLTOALL, ALLREDUCE };
static const char *const OPERATIONS[] = {"broadcast", "scatter",   "gather", "reduce",
                                         "alltoall",  "allreduce", NULL};
enum way { CALL, LOOP };
static const char *const WAYS[] = {"call", "loop", NULL};
static const char *const KNOWN[] = {"--operations", "--sizes", "--passes", "--repetitions",
                                    "--warm-up",    "--seed",  NULL};

enum { ROOT = 0, MOST_OPERATIONS = 6, MOST_SIZES = 64, MOST_RANKS = 1024 };
#define ALL_OPERATIONS "broadcast,scatter,gather,reduce,alltoall,allreduce"
#define IGNORE MPI_STATUS_IGNORE

/* One place of the sweep: an operation and a size. */
struct place {
    enum operation operation;
    int size;
    MPI_Comm comm;
    int tag;
};

/* The same for the whole run. Both buffers have room for a block of each rank, or for one block
 * where no operation has more. */
static int me, ranks, blocks;
static unsigned char *outgoing, *incoming, *part;
static long message; /* counts samples: each has data of its own */

/* The block of a buffer that belongs to a rank. */
static unsigned char *block(unsigned char *buffer, const struct place *p, int rank) {
    return buffer + (long)rank * p->size;
}

/* ---- By MPI's own call ---- */

static void call(const struct place *p) {
    int n = p->size;
    switch (p->operation) {
    case BROADCAST:
        check(MPI_Bcast(me == ROOT ? outgoing : incoming, n, MPI_BYTE, ROOT, p->comm));
        break;
    case SCATTER:
        check(MPI_Scatter(outgoing, n, MPI_BYTE, incoming, n, MPI_BYTE, ROOT, p->comm));
        break;
    case GATHER:
        check(MPI_Gather(outgoing, n, MPI_BYTE, incoming, n, MPI_BYTE, ROOT, p->comm));
        break;
    case REDUCE:
        check(MPI_Reduce(outgoing, incoming, n, MPI_UNSIGNED_CHAR, MPI_SUM, ROOT, p->comm));
        break;
    case ALLTOALL:
        check(MPI_Alltoall(outgoing, n, MPI_BYTE, incoming, n, MPI_BYTE, p->comm));
        break;
    case ALLREDUCE:
        check(MPI_Allreduce(outgoing, incoming, n, MPI_UNSIGNED_CHAR, MPI_SUM, p->comm));
        break;
    }
}

/* ---- By a loop over single messages ---- */

static void send_to(const struct place *p, const unsigned char *from, int rank) {
    check(MPI_Send(from, p->size, MPI_BYTE, rank, p->tag, p->comm));
}

static void receive_from(const struct place *p, unsigned char *into, int rank) {
    check(MPI_Recv(into, p->size, MPI_BYTE, rank, p->tag, p->comm, IGNORE));
}

static void loop_broadcast(const struct place *p) {
    if (me != ROOT)
        receive_from(p, incoming, ROOT);
    for (int rank = 1; me == ROOT && rank < ranks; rank++)
        send_to(p, outgoing, rank);
}

static void loop_scatter(const struct place *p) {
    if (me != ROOT) {
        receive_from(p, incoming, ROOT);
        return;
    }
    memcpy(incoming, outgoing, (size_t)p->size);
    for (int rank = 1; rank < ranks; rank++)
        send_to(p, block(outgoing, p, rank), rank);
}

static void loop_gather(const struct place *p) {
    if (me != ROOT) {
        send_to(p, outgoing, ROOT);
        return;
    }
    memcpy(incoming, outgoing, (size_t)p->size);
    for (int rank = 1; rank < ranks; rank++)
        receive_from(p, block(incoming, p, rank), rank);
}

static void loop_reduce(const struct place *p) {
    if (me != ROOT) {
        send_to(p, outgoing, ROOT);
        return;
    }
    memcpy(incoming, outgoing, (size_t)p->size);
    for (int rank = 1; rank < ranks; rank++) {
        receive_from(p, part, rank);
        for (int i = 0; i < p->size; i++)
            incoming[i] = (unsigned char)(incoming[i] + part[i]);
    }
}

static void loop_alltoall(const struct place *p) {
    static MPI_Request requests[2 * MOST_RANKS];
    int count = 0;
    memcpy(block(incoming, p, me), block(outgoing, p, me), (size_t)p->size);
    for (int step = 1; step < ranks; step++) {
        int from = (me + ranks - step) % ranks;
        check(MPI_Irecv(block(incoming, p, from), p->size, MPI_BYTE, from, p->tag, p->comm,
                        &requests[count++]));
    }
    /* Each rank begins with the next one, so that not all send to the same. */
    for (int step = 1; step < ranks; step++) {
        int to = (me + step) % ranks;
        check(MPI_Isend(block(outgoing, p, to), p->size, MPI_BYTE, to, p->tag, p->comm,
                        &requests[count++]));
    }
    check(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
}

/* The sum goes to the root, and from there to all. */
static void loop_allreduce(const struct place *p) {
    loop_reduce(p);
    if (me != ROOT)
        receive_from(p, incoming, ROOT);
    for (int rank = 1; me == ROOT && rank < ranks; rank++)
        send_to(p, incoming, rank);
}

static void loop(const struct place *p) {
    static void (*const LOOPS[])(const struct place *) = {
        loop_broadcast, loop_scatter, loop_gather, loop_reduce, loop_alltoall, loop_allreduce};
    LOOPS[p->operation](p);
}

/* ---- The data: filled before, verified afterwards ---- */

/* The number under which the block from one rank to another is filled, in this sample. */
static long number(int to) { return message * ranks + to; }

static void fill_blocks(const struct place *p) {
    message++;
    memset(incoming, 0, (size_t)(p->size * (long)blocks));
    for (int to = 0; to < blocks; to++)
        fill(block(outgoing, p, to), p->size, me, number(to));
}

static void verify_sum(const struct place *p) {
    unsigned char apart =
        0; /* how far the ranks' bytes are from rank 0's: the same at each place */
    for (int rank = 0; rank < ranks; rank++)
        apart = (unsigned char)(apart + expected_byte(0, rank, number(0)) -
                                expected_byte(0, ROOT, number(0)));
    for (int i = 0; i < p->size; i++) {
        unsigned char sum = (unsigned char)(ranks * expected_byte(i, ROOT, number(0)) + apart);
        if (incoming[i] == sum)
            continue;
        fprintf(stderr, "wrong data: byte %d of the sum is %d, not %d.\n", i, incoming[i], sum);
        give_up(3);
    }
}

static void verify_blocks(const struct place *p) {
    switch (p->operation) {
    case BROADCAST:
        verify(me == ROOT ? outgoing : incoming, p->size, ROOT, number(0));
        break;
    case SCATTER:
        verify(incoming, p->size, ROOT, number(me));
        break;
    case REDUCE:
    case ALLREDUCE:
        if (me == ROOT || p->operation == ALLREDUCE)
            verify_sum(p);
        break;
    case GATHER:
        for (int rank = 0; me == ROOT && rank < ranks; rank++)
            verify(block(incoming, p, rank), p->size, rank, number(0));
        break;
    case ALLTOALL:
        for (int rank = 0; rank < ranks; rank++)
            verify(block(incoming, p, rank), p->size, rank, number(me));
        break;
    }
}

/* ---- A sample ---- */

/* Seconds of the slowest rank for so many repetitions; each is timed from a barrier on. */
static double timed(const struct place *p, enum way way, long repetitions) {
    double seconds = 0.0;
    fill_blocks(p);
    for (long i = 0; i < repetitions; i++) {
        check(MPI_Barrier(MPI_COMM_WORLD));
        double began = MPI_Wtime();
        (way == CALL ? call : loop)(p);
        seconds += MPI_Wtime() - began;
    }
    verify_blocks(p);
    return slowest(seconds);
}

static void write_sample(const struct place *p, enum way way, long pass, long repetitions,
                         double seconds) {
    begin_line("sample");
    put_text("quantity", "operation_us");
    put_text("operation", OPERATIONS[p->operation]);
    put_text("way", WAYS[way]);
    put_count("size_bytes", p->size);
    put_count("pass", pass);
    put_count("repetitions", repetitions);
    put_number("seconds", seconds);
    end_line();
}

/* In every other pass the loop comes first, so that neither way always follows the other. */
static void sweep(const struct place *places, int count, long passes, long repetitions, long seed) {
    static int order[MOST_OPERATIONS * MOST_SIZES];
    for (long pass = 0; pass < passes; pass++) {
        shuffle(order, count, seed, pass);
        for (int i = 0; i < count; i++) {
            const struct place *p = &places[order[i]];
            for (int turn = 0; turn < 2; turn++) {
                enum way way = (turn + pass) % 2 == 0 ? CALL : LOOP;
                double seconds = timed(p, way, repetitions);
                if (me == ROOT)
                    write_sample(p, way, pass, repetitions, seconds);
            }
        }
        flush_lines();
    }
}

static void run(int argc, char **argv) {
    static long sizes[MOST_SIZES];
    static struct place places[MOST_OPERATIONS * MOST_SIZES];
    int operations[MOST_OPERATIONS];

    refuse_unknown(argc, argv, KNOWN);
    me = my_rank();
    ranks = all_ranks();
    if (ranks < 2 || ranks > MOST_RANKS)
        refuse("This program runs on 2 to %d ranks: mpiexec -n 4.", MOST_RANKS);
    int n_operations = words_argument(argc, argv, "--operations", ALL_OPERATIONS, OPERATIONS,
                                      operations, MOST_OPERATIONS);
    int n_sizes = list_argument(argc, argv, "--sizes", "1024,65536", 0, LARGEST_MESSAGE / ranks,
                                sizes, MOST_SIZES);
    long passes = number_argument(argc, argv, "--passes", 10, 1, 1000000);
    long repetitions = number_argument(argc, argv, "--repetitions", 3, 1, 1000000);
    long warm_up = number_argument(argc, argv, "--warm-up", 3, 0, 1000000);
    long seed = number_argument(argc, argv, "--seed", 1, 0, LONG_MAX);
    int count = n_operations * n_sizes;
    long largest = 1;
    for (int i = 0; i < n_sizes; i++)
        largest = sizes[i] > largest ? sizes[i] : largest;
    blocks = 1;
    for (int i = 0; i < n_operations; i++)
        if (operations[i] == SCATTER || operations[i] == GATHER || operations[i] == ALLTOALL)
            blocks = ranks;
    outgoing = message_buffer(largest * blocks, 3);
    incoming = message_buffer(largest * blocks, 3);
    part = message_buffer(largest, 1);

    keep_lines_back();
    begin_about("collectives", clock_resolution(), 2 * passes * count);
    if (me == ROOT) {
        put_text("time", "one operation, from the end of a rank's barrier to its return, on the "
                         "slowest rank");
        put_text("synchronised", "MPI_Barrier before each operation");
        put_count("passes", passes);
        put_count("seed", seed);
        put_count("operations_each", warm_up + passes * repetitions);
        end_line();
    }
    flush_lines();
    for (int i = 0; i < count; i++) {
        places[i] = (struct place){.operation = (enum operation)operations[i / n_sizes],
                                   .size = (int)sizes[i % n_sizes],
                                   .tag = i};
        check(MPI_Comm_dup(MPI_COMM_WORLD, &places[i].comm));
        /* The loop first: what the library sent before, it sent to set up the communicator. */
        if (warm_up) {
            timed(&places[i], LOOP, warm_up);
            timed(&places[i], CALL, warm_up);
        }
    }
    sweep(places, count, passes, repetitions, seed);
    for (int i = 0; i < count; i++)
        check(MPI_Comm_free(&places[i].comm));
    if (me == ROOT)
        write_end();
}

int main(int argc, char **argv) {
    start_mpi(&argc, &argv);
    run(argc, argv);
    check(MPI_Finalize());
    return 0;
}
