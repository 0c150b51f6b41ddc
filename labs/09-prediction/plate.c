/* The steps of the heated plate on any number of ranks, with a delay in the place of computing.
 *
 *     beowulf run -n 4 plate.c --row-us 4.5
 *     beowulf run -n 1 plate.c --time-row       (how long a row of real computing takes here)
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include plate.c -o plate -lm
 *     mpiexec -n 4 ./plate --row-us 4.5
 *
 * A plate of --rows rows of --columns numbers is divided among the ranks. In each of --steps steps a rank exchanges its
 * first and its last row with its neighbours, then waits as long as its rows would take. The delay keeps the cores of
 * one machine free: four ranks that compute on two cores would take twice their time, and show nothing about a network.
 * In a simulation, a delay takes as long as it says. */
#include "measure.h"
#include <math.h>

enum { TAG = 9, MOST_PASSES = 1000, TRIALS = 20 };

/* What one rank has: how many rows, and places for the rows of its neighbours. */
struct part {
    int rows, columns, above, below;
    double *first, *last, *ghost_above, *ghost_below;
};

static void step(struct part *part, double row_us) {
    MPI_Request requests[4];
    check(MPI_Irecv(part->ghost_above, part->columns, MPI_DOUBLE, part->above, TAG, MPI_COMM_WORLD,
                    &requests[0]));
    check(MPI_Irecv(part->ghost_below, part->columns, MPI_DOUBLE, part->below, TAG, MPI_COMM_WORLD,
                    &requests[1]));
    check(MPI_Isend(part->first, part->columns, MPI_DOUBLE, part->above, TAG, MPI_COMM_WORLD,
                    &requests[2]));
    check(MPI_Isend(part->last, part->columns, MPI_DOUBLE, part->below, TAG, MPI_COMM_WORLD,
                    &requests[3]));
    check(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    double us = part->rows * row_us;
    struct timespec rest = {(time_t)(us / 1e6), (long)(fmod(us, 1e6) * 1e3)};
    if (us > 0.0)
        nanosleep(&rest, NULL);
}

/* The least of several tries, because a disturbance only makes it longer: µs that a row takes in C, in a part of 64. */
static double time_row(int columns) {
    enum { ROWS = 64 };
    size_t count = (size_t)(ROWS + 2) * (size_t)columns;
    double *old = calloc(count, sizeof(double)), *new = calloc(count, sizeof(double)), best = 1e9;
    if (!old || !new) {
        fprintf(stderr, "There is no memory for %d rows of %d numbers.\n", ROWS, columns);
        give_up(1);
    }
    for (int i = 0; i < TRIALS; i++) {
        double began = MPI_Wtime();
        for (long row = 1; row <= ROWS; row++) {
            const double *here = old + row * columns, *up = here - columns, *down = here + columns;
            double *there = new + row * columns;
            for (long column = 1; column < columns - 1; column++)
                there[column] =
                    0.25 * (up[column] + down[column] + here[column - 1] + here[column + 1]);
        }
        double us = (MPI_Wtime() - began) * 1e6 / ROWS, *swapped = old;
        best = us < best ? us : best;
        old = new, new = swapped, old[columns + 1] += 1.0;
    }
    free(old), free(new);
    return best;
}

static void write_sample(const char *quantity, double seconds, long repetitions, long pass) {
    begin_line("sample");
    put_text("quantity", quantity);
    put_count("repetitions", repetitions);
    put_number("seconds", seconds);
    put_count("pass", pass);
    end_line();
}

static double decimal(int argc, char **argv, const char *name, double otherwise) {
    const char *text = text_argument(argc, argv, name, NULL);
    char *end;
    double value = text ? strtod(text, &end) : otherwise;
    if (text && (end == text || *end || !(value >= 0 && value <= 1e6)))
        refuse("%s takes a number from 0 to 1000000, not '%s'.", name, text);
    return value;
}

int main(int argc, char **argv) {
    static const char *const KNOWN[] = {"--rows",   "--columns",  "--steps", "--passes",
                                        "--row-us", "--time-row", "--lines", NULL};
    start_mpi(&argc, &argv);
    refuse_unknown(argc, argv, KNOWN);
    int rank = my_rank(), ranks = all_ranks(), lines = has_argument(argc, argv, "--lines");
    long rows = number_argument(argc, argv, "--rows", 4096, 1, 100000000);
    int columns = (int)number_argument(argc, argv, "--columns", 4096, 3, 10000000);
    long steps = number_argument(argc, argv, "--steps", 10, 1, 100000);
    long passes = number_argument(argc, argv, "--passes", 1, 1, MOST_PASSES);
    double row_us = decimal(argc, argv, "--row-us", 0.0);
    if (has_argument(argc, argv, "--time-row")) {
        double us = time_row(columns);
        if (rank == 0 && lines)
            write_sample("row_s", us * 1e-6, 1, 0);
        else if (rank == 0)
            printf("a row of %d numbers takes %.2f us\n", columns, us);
    } else {
        long from = rows * rank / ranks, to = rows * (rank + 1) / ranks,
             size = (long)columns * (long)sizeof(double);
        struct part part = {
            .rows = (int)(to - from),
            .columns = columns,
            .above = rank > 0 ? rank - 1 : MPI_PROC_NULL,
            .below = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL,
            .first = (double *)(void *)message_buffer(size, 4),
            .last = (double *)(void *)message_buffer(size, 4),
            .ghost_above = (double *)(void *)message_buffer(size, 4),
            .ghost_below = (double *)(void *)message_buffer(size, 4),
        };
        for (long pass = -1; pass < passes; pass++) { /* the first one is not counted */
            check(MPI_Barrier(MPI_COMM_WORLD));
            double began = MPI_Wtime();
            for (long i = 0; i < steps; i++)
                step(&part, row_us);
            double seconds = slowest(MPI_Wtime() - began);
            if (rank == 0 && pass >= 0 && lines)
                write_sample("step_s", seconds, steps, pass);
            else if (rank == 0 && pass >= 0)
                printf("%d ranks: a step takes %.3f ms\n", ranks, seconds / (double)steps * 1e3);
        }
    }
    if (rank == 0 && lines)
        write_end();
    check(MPI_Finalize());
    return 0;
}
