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
 * long a rank computes in a step of `halo`. --key: goes into each line, so that its reader knows it from others.
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

/* What a step of `halo` has done so far. */
static struct {
    struct halo rows;
    double inner_us, border_us;
    int inner, border, too_early;
} step;

static int is_row_of(const unsigned char *row, int bytes, int rank, int which) {
    for (int i = 0; i < bytes; i++)
        if (row[i] != expected_byte(i, rank, which))
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
    return slowest(MPI_Wtime() - start);
}

/* All ranks of a simulation are in one process, so that data could come another way than by messages. */
static void demand_messages(int which, int bytes) {
    long mine = sent_bytes() / all_ranks(), all,
         each = (long)bytes * (all_ranks() - 1) / all_ranks();
    check(MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    long least = which == HALO ? 2L * bytes : which == REDUCE ? 2 * each : each;
    demand(all >= least - all_ranks(), "fewer bytes were sent than the ranks need.");
}

static void verify_sums(const double *numbers, int count) {
    double ranks = all_ranks();
    for (int i = 0; i < count; i++) {
        double expected = ranks * (i % 1000) + ranks * (ranks - 1) / 2;
        if (numbers[i] == expected)
            continue;
        fprintf(stderr, "wrong data: number %d of %d at rank %d is %g, not %g.\n", i, count,
                my_rank(), numbers[i], expected);
        give_up(3);
    }
}

int main(int argc, char **argv) {
    static const char *const KNOWN[] = {"--step", "--bytes", "--inner-us", "--border-us",
                                        "--key",  "--lines", NULL};
    start_mpi(&argc, &argv);
    refuse_unknown(argc, argv, KNOWN);
    int which = word_argument(argc, argv, "--step", "naive", STEPS), rank = my_rank();
    int bytes = (int)number_argument(argc, argv, "--bytes", 65536, 8, 100000000);
    step.inner_us = (double)number_argument(argc, argv, "--inner-us", 10000, 0, 10000000);
    step.border_us = (double)number_argument(argc, argv, "--border-us", 500, 0, 10000000);
    const char *key = text_argument(argc, argv, "--key", "");
    if (which == HALO && all_ranks() < 3)
        refuse("A step of halo needs 3 ranks, so that the one before and the one after are not the "
               "same.");

    unsigned char *data = message_buffer(bytes, 6);
    double *numbers = (double *)(void *)message_buffer(bytes, 6),
           *room = (double *)(void *)message_buffer(bytes, 6);
    int count = bytes / (int)sizeof(double);
    for (int i = 0; i < count; i++)
        numbers[i] = rank + i % 1000;
    if (rank == 0)
        fill(data, bytes, 0, 9);
    step.rows = (struct halo){data, message_buffer(bytes, 6), message_buffer(bytes, 6),
                              message_buffer(bytes, 6), bytes};
    if (which == HALO) {
        fill(step.rows.first, bytes, rank, 0);
        fill(step.rows.last, bytes, rank, 1);
    }

    double seconds = timed(which, data, numbers, room, bytes);

    if (which == REDUCE) {
        verify_sums(numbers, count);
    } else if (which == HALO) {
        demand(has_both_rows(), "a neighbour's row is not there, or wrong.");
        demand(step.inner == 1 && step.border == 1,
               "the inner and the border rows are computed once each.");
        demand(!step.too_early,
               "the border rows are computed before both neighbours' rows are there.");
    } else {
        verify(data, bytes, 0, 9);
    }
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
