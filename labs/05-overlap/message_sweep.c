/* From which size on does a message wait for its sender?
 *
 *     rank 0:  barrier | MPI_Isend | work ................ | MPI_Wait    takes T_P0
 *     rank 1:  barrier | MPI_Irecv | MPI_Wait                            takes T_P1
 *
 * Rank 1 does nothing but receive. While T_P1 is the time of a message, messages leave by
 * themselves; from the size on at which it is the time of rank 0's work, they do not.
 *
 *     beowulf run -n 2 message_sweep.c
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include message_sweep.c -o message_sweep
 *     mpiexec -n 2 ./message_sweep
 *
 * --sizes 10240,20480,...: bytes; the default is paper D's 10 to 80 KB by 10
 * --seconds 0.1: the work of rank 0 (3.8 on one of the paper's clusters, 61 on the other)
 * --work loop or delay. --tests 0: MPI_Tests during the work. --passes 30, --seed 1 */
#include "overlap.h"

#define PAPER_SIZES "10240,20480,30720,40960,51200,61440,71680,81920"

struct test {
    struct work work;
    double seconds;
    long sizes[MOST_SIZES], passes, seed;
    int count;
    unsigned char *buffer;
};

/* One message; the seconds from the barrier to the end of MPI_Wait on this rank. */
static double send_one(struct test *test, int me, int size) {
    MPI_Request request;

    check(MPI_Barrier(MPI_COMM_WORLD));
    double start = MPI_Wtime();
    if (me == 0) {
        check(MPI_Isend(test->buffer, size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request));
        do_work(&test->work, test->seconds, &request);
    } else {
        check(MPI_Irecv(test->buffer, size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request));
    }
    check(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return MPI_Wtime() - start;
}

static void measure_size(struct test *test, long size, long pass) {
    int me = my_rank();
    double of_both[2];

    if (me == 0)
        fill(test->buffer, size, 0, pass);
    double mine = send_one(test, me, (int)size);
    if (me == 1)
        verify(test->buffer, size, 0, pass);
    gather_times(&mine, of_both, 1);
    for (int rank = 0; me == 0 && rank < 2; rank++) {
        begin_sample("duration_s", of_both[rank], pass, size);
        put_count("rank", rank);
        end_line();
    }
    flush_lines();
}

/* All sizes once, in an order of this pass. */
static void run_pass(struct test *test, long pass) {
    int order[MOST_SIZES];
    shuffle(order, test->count, test->seed, pass);
    for (int i = 0; i < test->count; i++)
        measure_size(test, test->sizes[order[i]], pass);
}

int main(int argc, char **argv) {
    static const char *const KNOWN[] = {"--work",   "--tests", "--seconds", "--sizes",
                                        "--passes", "--seed",  NULL};
    start_mpi(&argc, &argv);
    refuse_other_than_two_ranks();
    refuse_unknown(argc, argv, KNOWN);
    struct test test = {
        .work = work_arguments(argc, argv, "loop"),
        .seconds = decimal_argument(argc, argv, "--seconds", 0.1, 1e-6, 3600.0),
        .passes = number_argument(argc, argv, "--passes", 30, 1, 1000000),
        .seed = number_argument(argc, argv, "--seed", 1, 0, LONG_MAX),
    };
    test.count = list_argument(argc, argv, "--sizes", PAPER_SIZES, 0, LARGEST_MESSAGE, test.sizes,
                               MOST_SIZES);
    long largest = largest_of(test.sizes, test.count);
    test.buffer = message_buffer(largest, 1);

    keep_lines_back();
    begin_about("message_sweep", clock_resolution(), test.passes * test.count * 2);
    put_work(&test.work, test.seconds);
    if (my_rank() == 0)
        end_line();
    warm_up(test.buffer, test.sizes, test.count);
    for (long pass = 0; pass < test.passes; pass++)
        run_pass(&test, pass);
    if (my_rank() == 0)
        write_end();
    check(MPI_Finalize());
    return 0;
}
