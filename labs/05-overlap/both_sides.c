/* Do two ranks that exchange messages gain when they work meanwhile?
 *
 *     before:  barrier | all the work | MPI_Irecv | MPI_Isend | MPI_Wait | MPI_Wait
 *     during:  barrier | a quarter | MPI_Irecv | MPI_Isend | three quarters | MPI_Wait | MPI_Wait
 *
 * Both ranks do the same. `comm` is the exchange without the work and `comp` the work without the
 * exchange: no overlap can make `during` shorter than the longer of the two.
 *
 *     beowulf run -n 2 both_sides.c
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include both_sides.c -o both_sides
 *     mpiexec -n 2 ./both_sides
 *
 * --sizes 7168,71680: bytes, paper D's 7 KB and 70 KB. --passes 1000: each operation by itself
 * --seconds 0.000377: the work, which is the minimum of the paper's own
 * --work loop or delay. --tests 0: MPI_Tests during the three quarters. --seed 1 */
#include "overlap.h"

enum { COMM, COMP, BEFORE, DURING, PARTS };
static const char *const PART_NAMES[] = {"comm", "comp", "before", "during"};
static const double FIRST_SHARE = 0.25; /* of the work in `during`, before the exchange begins */

struct test {
    struct work work;
    double seconds;
    long sizes[MOST_SIZES], passes, seed;
    int count;
    unsigned char *out, *in;
};

/* One operation; the seconds from the barrier to its end on this rank. */
static double run_one(struct test *test, int me, int part, int size) {
    MPI_Request receiving = MPI_REQUEST_NULL, sending = MPI_REQUEST_NULL;
    double first = part == COMM ? 0.0 : part == DURING ? FIRST_SHARE : 1.0;
    int other = 1 - me;

    check(MPI_Barrier(MPI_COMM_WORLD));
    double start = MPI_Wtime();
    if (part != COMM)
        do_work(&test->work, test->seconds * first, NULL);
    if (part != COMP) {
        check(MPI_Irecv(test->in, size, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &receiving));
        check(MPI_Isend(test->out, size, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &sending));
    }
    if (part == DURING)
        do_work(&test->work, test->seconds * (1.0 - first), &receiving);
    check(MPI_Wait(&receiving, MPI_STATUS_IGNORE)); /* returns at once where nothing is under way */
    check(MPI_Wait(&sending, MPI_STATUS_IGNORE));
    return MPI_Wtime() - start;
}

static void measure_part(struct test *test, int part, long size, long pass) {
    int me = my_rank();
    double of_both[2];

    fill(test->out, size, me, pass * PARTS + part);
    double mine = run_one(test, me, part, (int)size);
    if (part != COMP)
        verify(test->in, size, 1 - me, pass * PARTS + part);
    gather_times(&mine, of_both, 1);
    for (int rank = 0; me == 0 && rank < 2; rank++) {
        begin_sample("duration_s", of_both[rank], pass, size);
        put_count("rank", rank);
        put_text("part", PART_NAMES[part]);
        end_line();
    }
}

/* Every part at every size once, in an order of this pass. */
static void run_pass(struct test *test, long pass) {
    int order[MOST_SIZES * PARTS], count = test->count * PARTS;
    shuffle(order, count, test->seed, pass);
    for (int i = 0; i < count; i++)
        measure_part(test, order[i] % PARTS, test->sizes[order[i] / PARTS], pass);
}

int main(int argc, char **argv) {
    static const char *const KNOWN[] = {"--work",   "--tests", "--seconds", "--sizes",
                                        "--passes", "--seed",  NULL};
    start_mpi(&argc, &argv);
    refuse_other_than_two_ranks();
    refuse_unknown(argc, argv, KNOWN);
    struct test test = {
        .work = work_arguments(argc, argv, "loop"),
        .seconds = decimal_argument(argc, argv, "--seconds", 377e-6, 1e-6, 3600.0),
        .passes = number_argument(argc, argv, "--passes", 1000, 1, 1000000),
        .seed = number_argument(argc, argv, "--seed", 1, 0, LONG_MAX),
    };
    test.count = list_argument(argc, argv, "--sizes", "7168,71680", 0, LARGEST_MESSAGE, test.sizes,
                               MOST_SIZES);
    long largest = largest_of(test.sizes, test.count);
    test.out = message_buffer(largest, 2);
    test.in = message_buffer(largest, 2);

    keep_lines_back();
    begin_about("both_sides", clock_resolution(), test.passes * test.count * PARTS * 2);
    put_work(&test.work, test.seconds);
    if (my_rank() == 0)
        end_line();
    warm_up(test.in, test.sizes, test.count);
    for (long pass = 0; pass < test.passes; pass++)
        run_pass(&test, pass);
    if (my_rank() == 0)
        write_end();
    check(MPI_Finalize());
    return 0;
}
