/* Is a message and work together shorter than the one after the other?
 *
 *     message:  rank 0:  barrier | MPI_Isend | MPI_Wait
 *     work:     rank 0:  barrier | work
 *     both:     rank 0:  barrier | MPI_Isend | work | MPI_Wait
 *     rank 1:  in `message` MPI_Recv; in `both` a share of the work, then MPI_Recv
 *
 * Paper D adds the first two and compares their sum with the third. Its text leaves open what rank
 * 1 does in `message`. If it worked there, a long message would wait for it, and that waiting,
 * which in `both` falls into rank 0's own work, would look like a gain. So it only receives. What
 * rank 0 waits for is only that its buffer is free again, which may be long before rank 1 has the
 * message; rank 1's time is beside it.
 *
 *     beowulf run -n 2 message_workload.c
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include message_workload.c -o message_workload
 *     mpiexec -n 2 ./message_workload
 *
 * --sizes 10240,66560: bytes, the paper's 10 KB and 65 KB. --passes 1000: each operation by itself
 * --seconds 0.000377: the work, which is the minimum of the paper's own. --share 0.25: of rank 1
 * --work loop or delay. --tests 0: MPI_Tests during the work. --seed 1 */
#include "overlap.h"

enum { MESSAGE, WORK, BOTH, PARTS };
static const char *const PART_NAMES[] = {"message", "work", "both"};

struct test {
    struct work work;
    double seconds, share;
    long sizes[MOST_SIZES], passes, seed;
    int count;
    unsigned char *buffer;
};

/* One operation; the seconds from the barrier to its end on this rank. */
static double run_one(struct test *test, int me, int part, int size) {
    MPI_Request sending = MPI_REQUEST_NULL;

    check(MPI_Barrier(MPI_COMM_WORLD));
    double start = MPI_Wtime();
    if (me == 0) {
        if (part != WORK)
            check(MPI_Isend(test->buffer, size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &sending));
        if (part != MESSAGE)
            do_work(&test->work, test->seconds, &sending);
        check(MPI_Wait(&sending, MPI_STATUS_IGNORE)); /* returns at once where nothing was sent */
    } else if (part != WORK) {
        if (part == BOTH)
            do_work(&test->work, test->seconds * test->share, NULL);
        check(MPI_Recv(test->buffer, size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    return MPI_Wtime() - start;
}

static void measure_part(struct test *test, int part, long size, long pass) {
    int me = my_rank();
    double of_both[2];

    if (me == 0 && part != WORK)
        fill(test->buffer, size, 0, pass);
    double mine = run_one(test, me, part, (int)size);
    if (me == 1 && part != WORK)
        verify(test->buffer, size, 0, pass);
    gather_times(&mine, of_both, 1);
    for (int rank = 0; me == 0 && rank < (part == WORK ? 1 : 2); rank++) {
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
    static const char *const KNOWN[] = {"--work",  "--tests",  "--seconds", "--share",
                                        "--sizes", "--passes", "--seed",    NULL};
    start_mpi(&argc, &argv);
    refuse_other_than_two_ranks();
    refuse_unknown(argc, argv, KNOWN);
    struct test test = {
        .work = work_arguments(argc, argv, "loop"),
        .seconds = decimal_argument(argc, argv, "--seconds", 377e-6, 1e-6, 3600.0),
        .share = decimal_argument(argc, argv, "--share", 0.25, 0.0, 1.0),
        .passes = number_argument(argc, argv, "--passes", 1000, 1, 1000000),
        .seed = number_argument(argc, argv, "--seed", 1, 0, LONG_MAX),
    };
    test.count = list_argument(argc, argv, "--sizes", "10240,66560", 0, LARGEST_MESSAGE, test.sizes,
                               MOST_SIZES);
    long largest = largest_of(test.sizes, test.count);
    test.buffer = message_buffer(largest, 1);

    keep_lines_back();
    begin_about("message_workload", clock_resolution(), test.passes * test.count * (2 * PARTS - 1));
    put_work(&test.work, test.seconds);
    if (my_rank() == 0) {
        put_number("share", test.share);
        end_line();
    }
    warm_up(test.buffer, test.sizes, test.count);
    for (long pass = 0; pass < test.passes; pass++)
        run_pass(&test, pass);
    if (my_rank() == 0)
        write_end();
    check(MPI_Finalize());
    return 0;
}
