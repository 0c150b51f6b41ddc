/* Calls one function of stairs.c, looks whether every byte is right, and prints how long the slowest rank took.
 *
 *     beowulf run -n 64 climb.c --step ring
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`), with four ranks:
 *
 *     mpicc -O2 -I ../include climb.c -o climb -lm
 *     mpiexec -n 4 ./climb --step ring
 *
 * --step: naive, ring, tree, pipelined, reduce or halo. --bytes: of the data, or of a row. --inner-us, --border-us: how
 * long a rank computes in a step of `halo`. --seed: of the data. --key: goes into each line, so that its reader knows it from others.
 *
 * All ranks begin at a moment that they have agreed on; the time ends when the last one has returned. */
#include "measure.h"
#include "stairs.h"
#include <math.h>

#ifdef SEPARATE
#include "sent.h" /* counts what the functions of stairs.c send */
#else
#include "stairs.c"
static long sent_bytes(void) { return LONG_MAX; }
#endif

static const char *const STEPS[] = {"naive", "ring", "tree", "pipelined", "reduce", "halo", NULL};
enum { NAIVE, RING, TREE, PIPELINED, REDUCE, HALO };
static const double START_S = 0.01;

/* Data that no function can know before they have come: they follow from --seed. */
static unsigned long seed;

static unsigned char data_byte(long i, int rank, int which) {
    unsigned long state = seed + (unsigned long)(i * 8 + which) * 0x9E3779B97F4A7C15ul;
    state =
        (state ^ (state >> 30) ^ (unsigned long)rank * 0x94D049BB133111EBul) * 0xBF58476D1CE4E5B9ul;
    return (unsigned char)(state >> 56);
}

static void fill_data(unsigned char *data, int bytes, int rank, int which) {
    for (long i = 0; i < bytes; i++)
        data[i] = data_byte(i, rank, which);
}

/* A whole number, so that a sum is exact in whatever order it is made. */
static double number_of(long i, int rank) {
    return data_byte(i, 0, 3) + (double)rank * data_byte(i, 0, 4);
}

/* What a step of `halo` has done so far. */
static struct {
    struct halo rows;
    double inner_us, border_us;
    int inner, border, too_early;
} step;

static int is_row_of(const unsigned char *row, int bytes, int rank, int which) {
    for (int i = 0; i < bytes; i++)
        if (row[i] != data_byte(i, rank, which))
            return 0;
    return 1;
}

static int neighbour(int distance) { return (my_rank() + distance + all_ranks()) % all_ranks(); }

static int has_both_rows(void) {
    return is_row_of(step.rows.before, step.rows.bytes, neighbour(-1), 1) &&
           is_row_of(step.rows.after, step.rows.bytes, neighbour(1), 0);
}

static void rest_us(double us) {
    struct timespec rest = {(time_t)(us / 1e6), (long)(fmod(us, 1e6) * 1e3)};
    if (us > 0.0)
        nanosleep(&rest, NULL);
}

void compute_inner_rows(void) {
    step.inner++;
    rest_us(step.inner_us);
}

void compute_border_rows(void) {
    step.border++;
    step.too_early |= !has_both_rows();
    rest_us(step.border_us);
}

/* End the run unless something is so on this rank. */
static void demand(int is_so, const char *what) {
    if (is_so)
        return;
    fprintf(stderr, "wrong: rank %d: %s\n", my_rank(), what);
    give_up(3);
}

static void verify_sums(const double *numbers, int count) {
    for (int i = 0; i < count; i++) {
        double ranks = all_ranks();
        double expected = ranks * number_of(i, 0) + ranks * (ranks - 1) / 2 * data_byte(i, 0, 4);
        if (numbers[i] == expected)
            continue;
        fprintf(stderr, "wrong data: number %d of %d at rank %d is %g, not %g.\n", i, count,
                my_rank(), numbers[i], expected);
        give_up(3);
    }
}

static void verify_data(const unsigned char *data, int bytes) {
    for (int i = 0; i < bytes; i++) {
        if (data[i] == data_byte(i, 0, 2))
            continue;
        fprintf(stderr, "wrong data: byte %d of %d from rank 0 at rank %d is %d, not %d.\n", i,
                bytes, my_rank(), data[i], data_byte(i, 0, 2));
        give_up(3);
    }
}

/* Bytes behind what a function may write. */
enum { GUARD = 64, GUARDED = 0xA5 };

static void *guarded(int bytes) {
    unsigned char *made = message_buffer(bytes + GUARD, 6);
    memset(made + bytes, GUARDED, GUARD);
    return made;
}

static void verify_guard(const void *data, int bytes) {
    const unsigned char *behind = (const unsigned char *)data + bytes;
    for (int i = 0; i < GUARD; i++)
        demand(behind[i] == GUARDED, "something was written behind the end of the data.");
}

static void verify_rank(int which, const unsigned char *data, const double *numbers, int bytes) {
    if (which == REDUCE) {
        verify_sums(numbers, bytes / (int)sizeof(double));
    } else if (which == HALO) {
        demand(has_both_rows(), "a neighbour's row is not there, or wrong.");
        demand(step.inner == 1 && step.border == 1,
               "the inner and the border rows are computed once each.");
        demand(!step.too_early,
               "the border rows are computed before both neighbours' rows are there.");
    } else {
        verify_data(data, bytes);
    }
    verify_guard(data, bytes);
    verify_guard(numbers, bytes);
}

/* Seconds from the moment on which all ranks agree to that at which the last of them returns. */
static double timed(int which, unsigned char *data, double *numbers, double *room, int bytes) {
    int rank = my_rank(), ranks = all_ranks();
    double start = slowest(MPI_Wtime()) + START_S;
    check(MPI_Barrier(MPI_COMM_WORLD));
    rest_us((start - MPI_Wtime()) * 1e6);
    start = MPI_Wtime();
    switch (which) {
    case NAIVE:
        broadcast_naive(data, bytes, rank, ranks);
        break;
    case RING:
        broadcast_ring(data, bytes, rank, ranks);
        break;
    case TREE:
        broadcast_tree(data, bytes, rank, ranks);
        break;
    case PIPELINED:
        broadcast_pipelined(data, bytes, rank, ranks);
        break;
    case REDUCE:
        all_reduce(numbers, room, bytes / (int)sizeof(double), rank, ranks);
        break;
    default:
        halo_step(&(struct halo){step.rows.first, step.rows.last, step.rows.before, step.rows.after,
                                 bytes},
                  rank, ranks);
    }
    double seconds = MPI_Wtime() - start;
    /* What is not there now comes too late; to look takes no simulated time. */
    verify_rank(which, data, numbers, bytes);
    return slowest(seconds);
}

/* All ranks of a simulation are in one process, so that data could come another way than by messages. */
static void demand_messages(int which, int bytes) {
    long mine = sent_bytes() / all_ranks(), all,
         each = (long)bytes * (all_ranks() - 1) / all_ranks();
    check(MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    long least = which == HALO ? 2L * bytes : which == REDUCE ? 2 * each : each;
    demand(all >= least - all_ranks(), "fewer bytes were sent than the ranks need.");
}

int main(int argc, char **argv) {
    static const char *const KNOWN[] = {"--step", "--bytes", "--inner-us", "--border-us",
                                        "--seed", "--key",   "--lines",    NULL};
    start_mpi(&argc, &argv);
    check(
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)); /* a wrong call is heard */
    refuse_unknown(argc, argv, KNOWN);
    int which = word_argument(argc, argv, "--step", "naive", STEPS), rank = my_rank();
    int bytes = (int)number_argument(argc, argv, "--bytes", 65536, 8, 100000000);
    step.inner_us = (double)number_argument(argc, argv, "--inner-us", 10000, 0, 10000000);
    step.border_us = (double)number_argument(argc, argv, "--border-us", 500, 0, 10000000);
    seed = (unsigned long)number_argument(argc, argv, "--seed", 1, 0, 1L << 60);
    const char *key = text_argument(argc, argv, "--key", "");
    if (which == HALO && all_ranks() < 3)
        refuse("A step of halo needs 3 ranks, so that the one before and the one after are not the "
               "same.");

    unsigned char *data = guarded(bytes);
    double *numbers = guarded(bytes), *room = (double *)(void *)message_buffer(bytes, 6);
    int count = bytes / (int)sizeof(double);
    for (int i = 0; i < count; i++)
        numbers[i] = number_of(i, rank);
    if (rank == 0)
        fill_data(data, bytes, 0, 2);
    step.rows = (struct halo){data, message_buffer(bytes, 6), message_buffer(bytes, 6),
                              message_buffer(bytes, 6), bytes};
    if (which == HALO) {
        fill_data(step.rows.first, bytes, rank, 0);
        fill_data(step.rows.last, bytes, rank, 1);
    }

    double seconds = timed(which, data, numbers, room, bytes);

    demand_messages(which, bytes);
    check(MPI_Barrier(MPI_COMM_WORLD)); /* all are right */
    if (rank == 0 && has_argument(argc, argv, "--lines")) {
        begin_line("sample");
        put_text("quantity", "duration_s");
        put_count("repetitions", 1);
        put_number("seconds", seconds);
        put_count("pass", 0);
        put_text("step", STEPS[which]);
        put_count("size_bytes", bytes);
        put_text("key", key);
        end_line();
        write_end();
    } else if (rank == 0) {
        printf("%s, %d ranks, %d bytes: %.3f ms\n", STEPS[which], all_ranks(), bytes,
               seconds * 1e3);
    }
    check(MPI_Finalize());
    return 0;
}
