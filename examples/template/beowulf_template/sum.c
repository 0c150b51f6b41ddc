/* How long does a sum over all ranks take?
 *
 *     beowulf run -n 4 sum.c
 *
 * --passes: how many samples. Each line of the output is JSON, for the study. */
#include "measure.h"

/* Seconds for so many sums, on the slowest rank. */
static double sums(void *nothing, long repetitions) {
    double mine = my_rank(), all = 0.0, began = MPI_Wtime();
    int ranks = all_ranks();
    (void)nothing;
    for (long i = 0; i < repetitions; i++)
        check(MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    double took = slowest(MPI_Wtime() - began);
    if (all != ranks * (ranks - 1) / 2.0) {
        fprintf(stderr, "wrong data: the sum is %g.\n", all);
        give_up(3);
    }
    return took;
}

int main(int argc, char **argv) {
    static const char *const KNOWN[] = {"--passes", NULL};
    start_mpi(&argc, &argv);
    refuse_unknown(argc, argv, KNOWN);
    long passes = number_argument(argc, argv, "--passes", 10, 1, 100000);
    double resolution = clock_resolution();
    long repetitions = calibrate(sums, NULL, 5e-3, resolution);
    int speaks = my_rank() == 0;
    keep_lines_back();
    begin_about("sum", resolution, passes);
    if (speaks)
        end_line();
    for (long pass = 0; pass < passes; pass++) {
        check(MPI_Barrier(MPI_COMM_WORLD));
        double seconds = sums(NULL, repetitions);
        if (!speaks)
            continue;
        begin_line("sample");
        put_text("quantity", "sum_s");
        put_count("repetitions", repetitions);
        put_number("seconds", seconds);
        put_count("pass", pass);
        end_line();
    }
    if (speaks)
        write_end();
    check(MPI_Finalize());
    return 0;
}
