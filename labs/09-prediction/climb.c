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
#include "steps.h"
#include <math.h>

#ifdef SEPARATE
#include "relay.h" /* the notebook and grading: each rank calls its function in a process of its own */
#else
#include "stairs.c"
#define start_process()
#define run_step call_step
#endif

static const char *const STEPS[] = {"naive", "ring", "tree", "pipelined", "reduce", "halo", NULL};
static const double START_S = 0.01;

/* Data that no function can know before they have come: they follow from --seed. */
static unsigned long seed;

static unsigned long data_word(long i, int rank, int which) {
    unsigned long state =
        seed + (unsigned long)((i * 8 + which) * 4096 + rank) * 0x9E3779B97F4A7C15ul;
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9ul;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EBul;
    return state ^ (state >> 31);
}

static unsigned char data_byte(long i, int rank, int which) {
    return (unsigned char)(data_word(i, rank, which) >> 56);
}

static void fill_data(unsigned char *data, int bytes, int rank, int which) {
    for (long i = 0; i < bytes; i++)
        data[i] = data_byte(i, rank, which);
}

/* A whole number, so that a sum is exact in whatever order it is made. */
static double number_of(long i, int rank) { return (double)(data_word(i, rank, 3) >> 44); }

/* What a function is given: the data; a rank's numbers and room for as many; or its rows as struct halo has them. */
static struct {
    unsigned char *areas[MOST_AREAS];
    int bytes;
    double inner_us, border_us;
    int inner, border, too_early; /* what a step of `halo` has done so far */
} step;

static int is_row_of(const unsigned char *row, int rank, int which) {
    for (int i = 0; i < step.bytes; i++)
        if (row[i] != data_byte(i, rank, which))
            return 0;
    return 1;
}

static int neighbour(int distance) { return (my_rank() + distance + all_ranks()) % all_ranks(); }

static int has_both_rows(void) {
    return is_row_of(step.areas[2], neighbour(-1), 1) && is_row_of(step.areas[3], neighbour(1), 0);
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
    int ranks = all_ranks();
    for (int i = 0; i < count; i++) {
        double expected = 0.0;
        for (int rank = 0; rank < ranks; rank++)
            expected += number_of(i, rank);
        if (numbers[i] == expected)
            continue;
        fprintf(stderr, "wrong data: number %d of %d at rank %d is %g, not %g.\n", i, count,
                my_rank(), numbers[i], expected);
        give_up(3);
    }
}

static void verify_data(const unsigned char *data) {
    for (int i = 0; i < step.bytes; i++) {
        if (data[i] == data_byte(i, 0, 2))
            continue;
        fprintf(stderr, "wrong data: byte %d of %d from rank 0 at rank %d is %d, not %d.\n", i,
                step.bytes, my_rank(), data[i], data_byte(i, 0, 2));
        give_up(3);
    }
}

enum { GUARDED = 0xA5 };

static unsigned char *guarded(void) {
    unsigned char *made = message_buffer(step.bytes + GUARD, MOST_AREAS);
    memset(made + step.bytes, GUARDED, GUARD);
    return made;
}

static void verify_guard(const unsigned char *data) {
    for (int i = 0; i < GUARD; i++)
        demand(data[step.bytes + i] == GUARDED,
               "something was written behind the end of the data.");
}

static void verify_rank(int which) {
    if (which == REDUCE) {
        verify_sums((double *)(void *)step.areas[0], step.bytes / (int)sizeof(double));
    } else if (which == HALO) {
        demand(has_both_rows(), "a neighbour's row is not there, or wrong.");
        demand(step.inner == 1 && step.border == 1,
               "the inner and the border rows are computed once each.");
        demand(!step.too_early,
               "the border rows are computed before both neighbours' rows are there.");
    } else {
        verify_data(step.areas[0]);
    }
    for (int i = 0; i < areas_of(which); i++)
        verify_guard(step.areas[i]);
}

static void fill_areas(int which, int rank) {
    for (int i = 0; i < areas_of(which); i++)
        step.areas[i] = guarded();
    if (which == REDUCE) {
        double *numbers = (double *)(void *)step.areas[0];
        for (int i = 0; i < step.bytes / (int)sizeof(double); i++)
            numbers[i] = number_of(i, rank);
    } else if (which == HALO) {
        fill_data(step.areas[0], step.bytes, rank, 0);
        fill_data(step.areas[1], step.bytes, rank, 1);
    } else if (rank == 0) {
        fill_data(step.areas[0], step.bytes, 0, 2);
    }
}

/* Seconds from the moment on which all ranks agree to that at which the last of them returns. */
static double timed(int which) {
    double start = slowest(MPI_Wtime()) + START_S;
    check(MPI_Barrier(MPI_COMM_WORLD));
    rest_us((start - MPI_Wtime()) * 1e6);
    start = MPI_Wtime();
    run_step(which, step.areas, step.bytes, my_rank(), all_ranks());
    double seconds = MPI_Wtime() - start;
    /* What is not there now comes too late; to look takes no simulated time. */
    verify_rank(which);
    return slowest(seconds);
}

int main(int argc, char **argv) {
    static const char *const KNOWN[] = {"--step", "--bytes", "--inner-us", "--border-us",
                                        "--seed", "--key",   "--lines",    NULL};
    start_mpi(&argc, &argv);
    check(
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)); /* a wrong call is heard */
    refuse_unknown(argc, argv, KNOWN);
    int which = word_argument(argc, argv, "--step", "naive", STEPS), rank = my_rank();
    step.bytes = (int)number_argument(argc, argv, "--bytes", 65536, 8, 100000000);
    step.inner_us = (double)number_argument(argc, argv, "--inner-us", 10000, 0, 10000000);
    step.border_us = (double)number_argument(argc, argv, "--border-us", 500, 0, 10000000);
    seed = (unsigned long)number_argument(argc, argv, "--seed", 1, 0, 1L << 60);
    const char *key = text_argument(argc, argv, "--key", "");
    if (which == HALO && all_ranks() < 3)
        refuse("A step of halo needs 3 ranks, so that the one before and the one after are not the "
               "same.");

    start_process();
    fill_areas(which, rank);
    double seconds = timed(which);
    check(MPI_Barrier(MPI_COMM_WORLD)); /* all are right */
    if (rank == 0 && has_argument(argc, argv, "--lines")) {
        begin_line("sample");
        put_text("quantity", "duration_s");
        put_count("repetitions", 1);
        put_number("seconds", seconds);
        put_count("pass", 0);
        put_text("step", STEPS[which]);
        put_count("size_bytes", step.bytes);
        put_text("key", key);
        end_line();
        write_end();
    } else if (rank == 0) {
        printf("%s, %d ranks, %d bytes: %.3f ms\n", STEPS[which], all_ranks(), step.bytes,
               seconds * 1e3);
    }
    check(MPI_Finalize());
    return 0;
}
