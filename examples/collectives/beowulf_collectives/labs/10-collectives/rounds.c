/* Two ways to broadcast and two to allgather, made of single messages: fewer rounds, or fewer bytes.
 *
 *     beowulf run -n 4 rounds.c --sizes 1024,524288
 *
 * tree:      the root sends the message to half way round, then both send on, and so forth.
 * scatter:   the same tree, but each half gets its own half of the message only; then `ring`.
 * ring:      every rank passes a block on to the next one, p - 1 times.
 * doubling:  pairs exchange what they have, then pairs of pairs, and so forth.
 *
 * --sizes: bytes of the broadcast, or of all blocks of the allgather; multiples of the ranks.
 * --passes: samples of each way and size. A sample is --repetitions operations, each from a barrier
 * to its return, on the slowest rank. */
#include "measure.h"

enum way { TREE, SCATTER, RING, DOUBLING, WAYS };
static const char *const NAMES[] = {"tree", "scatter", "ring", "doubling"};
enum { TAG = 10, MOST_SIZES = 16 };

static int me, ranks;
static unsigned char *data;

static void send(long from, long bytes, int to) {
    check(MPI_Send(data + from, (int)bytes, MPI_BYTE, to, TAG, MPI_COMM_WORLD));
}

static void receive(long into, long bytes, int from) {
    check(
        MPI_Recv(data + into, (int)bytes, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void exchange(long mine, int to, long theirs, int from, long bytes) {
    check(MPI_Sendrecv(data + mine, (int)bytes, MPI_BYTE, to, TAG, data + theirs, (int)bytes,
                       MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void tree(long size) {
    for (int apart = ranks / 2; apart > 0; apart /= 2)
        if (me % (2 * apart) == 0)
            send(0, size, me + apart);
        else if (me % (2 * apart) == apart)
            receive(0, size, me - apart);
}

static void ring(long block) {
    for (int round = 0; round < ranks - 1; round++) {
        int gives = (me + ranks - round) % ranks, takes = (me + 2 * ranks - round - 1) % ranks;
        exchange(gives * block, (me + 1) % ranks, takes * block, (me + ranks - 1) % ranks, block);
    }
}

static void scatter(long block) {
    for (int apart = ranks / 2; apart > 0; apart /= 2)
        if (me % (2 * apart) == 0)
            send((me + apart) * block, apart * block, me + apart);
        else if (me % (2 * apart) == apart)
            receive(me * block, apart * block, me - apart);
    ring(block);
}

static void doubling(long block) {
    for (int apart = 1; apart < ranks; apart *= 2) {
        int other = me ^ apart;
        exchange(me / apart * apart * block, other, other / apart * apart * block, other,
                 apart * block);
    }
}

static void operate(enum way way, long size) {
    if (way == TREE)
        tree(size);
    else
        (way == SCATTER ? scatter : way == RING ? ring : doubling)(size / ranks);
}

/* Before: the root has all that it broadcasts, or each rank has its block. After: everybody all. */
static void check_data(enum way way, long size, long message, int after) {
    long block = size / ranks;
    int broadcast = way == TREE || way == SCATTER;
    if (!after)
        memset(data, 0, (size_t)size);
    for (int rank = 0; rank < ranks; rank++) {
        int owner = broadcast ? 0 : rank;
        if (after)
            verify(data + rank * block, block, owner, message + rank);
        else if (owner == me)
            fill(data + rank * block, block, me, message + rank);
    }
}

static double timed(enum way way, long size, long repetitions, long message) {
    double seconds = 0.0;
    check_data(way, size, message, 0);
    for (long i = 0; i < repetitions; i++) {
        check(MPI_Barrier(MPI_COMM_WORLD));
        double began = MPI_Wtime();
        operate(way, size);
        seconds += MPI_Wtime() - began;
    }
    check_data(way, size, message, 1);
    return slowest(seconds);
}

int main(int argc, char **argv) {
    static const char *const KNOWN[] = {"--sizes", "--passes", "--repetitions", NULL};
    long sizes[MOST_SIZES], most = 0;
    int order[WAYS * MOST_SIZES];
    start_mpi(&argc, &argv);
    refuse_unknown(argc, argv, KNOWN);
    me = my_rank(), ranks = all_ranks();
    if (ranks < 2 || ranks & (ranks - 1))
        refuse("This program runs on 2, 4, 8, ... ranks, not on %d.", ranks);
    int count =
        list_argument(argc, argv, "--sizes", "1024,524288", ranks, 1 << 26, sizes, MOST_SIZES);
    long passes = number_argument(argc, argv, "--passes", 5, 1, 100000);
    long repetitions = number_argument(argc, argv, "--repetitions", 1, 1, 100000);
    for (int i = 0; i < count; i++) {
        if (sizes[i] % ranks)
            refuse("--sizes takes multiples of the %d ranks, not %ld.", ranks, sizes[i]);
        most = sizes[i] > most ? sizes[i] : most;
    }
    data = message_buffer(most, 1);
    keep_lines_back();
    begin_about("rounds", clock_resolution(), passes * count * WAYS);
    if (me == 0)
        end_line();
    for (long pass = -1; pass < passes; pass++) { /* the first one warms up */
        shuffle(order, count * WAYS, 1, pass);
        for (int i = 0; i < count * WAYS; i++) {
            enum way way = (enum way)(order[i] % WAYS);
            long size = sizes[order[i] / WAYS];
            double seconds = timed(way, size, repetitions, pass + 2);
            if (me || pass < 0)
                continue;
            begin_line("sample");
            put_text("quantity", "operation_s");
            put_text("way", NAMES[way]);
            put_count("size_bytes", size);
            put_count("pass", pass);
            put_count("repetitions", repetitions);
            put_number("seconds", seconds);
            end_line();
        }
    }
    if (me == 0)
        write_end();
    check(MPI_Finalize());
    return 0;
}
