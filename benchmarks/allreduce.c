/* How long does an 8-byte Allreduce take?
 *
 *     mpicc allreduce.c -o allreduce && mpiexec -n 4 ./allreduce CHUNKS REPETITIONS
 *
 * A sample is a chunk: the mean of REPETITIONS calls (0: as many as take 0.2 ms), the maximum over
 * ranks, which a barrier has set off together. Rank 0 prints lines of JSON: what was found, then
 * the samples, then whether every sum was right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WARM_UP = 10, MOST_CHUNKS = 10000, MOST_REPETITIONS = 4096, TRIES = 5 };

static const double SHORTEST_CHUNK_S = 0.2e-3;
static const double LEAST_TICKS = 100;

static int rank, ranks;

/* Every MPI call answers with a code. Here, and only here, it is looked at. */
static void check(int code) {
    if (code == MPI_SUCCESS)
        return;
    char reason[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, reason, &length);
    fprintf(stderr, "MPI failed: %s\n", reason);
    sleep(1); /* mpiexec needs a moment to pass it on, before it ends all ranks */
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The measured loop: seconds that this rank took for all repetitions. */
static double chunk(int repetitions, const double *given, double *sums) {
    check(MPI_Barrier(MPI_COMM_WORLD));
    double began = MPI_Wtime();
    for (int i = 0; i < repetitions; i++)
        check(MPI_Allreduce(&given[i], &sums[i], 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return MPI_Wtime() - began;
}

/* The smallest step that the clock makes. */
static double clock_step(void) {
    double smallest = 1;
    for (int i = 0; i < 100; i++) {
        double began = MPI_Wtime(), now;
        while ((now = MPI_Wtime()) == began)
            ;
        if (now - began < smallest)
            smallest = now - began;
    }
    return smallest;
}

/* How many repetitions make a chunk long enough. Every rank comes to the same number. */
static int enough(double step, const double *given, double *sums) {
    double shortest = LEAST_TICKS * step > SHORTEST_CHUNK_S ? LEAST_TICKS * step : SHORTEST_CHUNK_S;
    for (int repetitions = 1; repetitions < MOST_REPETITIONS; repetitions *= 2) {
        double least = 1e9;
        for (int i = 0; i < TRIES; i++) {
            double mine = chunk(repetitions, given, sums), longest;
            check(MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
            if (longest < least)
                least = longest;
        }
        if (least >= shortest)
            return repetitions;
    }
    return MOST_REPETITIONS;
}

static int all_right(int repetitions, const double *sums) {
    for (int i = 0; i < repetitions; i++)
        if (sums[i] != ranks * (ranks - 1) / 2.0 + (double)ranks * i)
            return 0;
    return 1;
}

static void measure(int chunks, int repetitions) {
    static double given[MOST_REPETITIONS], sums[MOST_REPETITIONS];
    static double mine[MOST_CHUNKS], longest[MOST_CHUNKS];
    for (int i = 0; i < MOST_REPETITIONS; i++)
        given[i] = rank + i;

    double first = chunk(1, given, sums); /* connections are made here */
    chunk(WARM_UP, given, sums);
    double step = rank == 0 ? clock_step() : 0;
    check(MPI_Bcast(&step, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    if (repetitions == 0)
        repetitions = enough(step, given, sums);
    chunk(WARM_UP, given, sums);

    int right = 1, right_everywhere;
    for (int i = 0; i < chunks; i++) {
        for (int k = 0; k < repetitions; k++)
            sums[k] = -1;
        mine[i] = chunk(repetitions, given, sums);
        right &= all_right(repetitions, sums);
    }
    check(MPI_Reduce(mine, longest, chunks, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD));
    check(MPI_Reduce(&right, &right_everywhere, 1, MPI_INT, MPI_LAND, 0, MPI_COMM_WORLD));
    if (rank != 0)
        return;
    const char *patient = getenv("BEOWULF_PATIENT");
    printf("{\"ranks\": %d, \"cores\": %ld, \"patient\": \"%s\", \"repetitions\": %d, "
           "\"clock_step_s\": %.3g, \"first_s\": %.9f}\n",
           ranks, sysconf(_SC_NPROCESSORS_ONLN), patient ? patient : "", repetitions, step, first);
    for (int i = 0; i < chunks; i++)
        printf("{\"allreduce_s\": %.9f}\n", longest[i] / repetitions);
    printf("{\"right\": %s}\n", right_everywhere ? "true" : "false");
}

int main(int argc, char **argv) {
    check(MPI_Init(&argc, &argv));
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    check(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    int chunks = argc > 1 ? atoi(argv[1]) : 30, repetitions = argc > 2 ? atoi(argv[2]) : 0;
    int usable =
        chunks > 0 && chunks <= MOST_CHUNKS && repetitions >= 0 && repetitions <= MOST_REPETITIONS;
    if (usable)
        measure(chunks, repetitions);
    else if (rank == 0)
        fprintf(stderr, "allreduce CHUNKS (1 to %d) REPETITIONS (0 to %d)\n", MOST_CHUNKS,
                MOST_REPETITIONS);
    check(MPI_Finalize());
    return usable ? 0 : 2;
}
