/* Can a message leave while its sender works?
 *
 *     rank 0:  barrier | MPI_Isend | work ........................ | MPI_Wait
 *     rank 1:  barrier | a share of that work .... | MPI_Recv
 *
 * If rank 1 has its message when its own share is done, the two ranks need not meet for it: the
 * synchronisation overlaps with the work. If it has it only when rank 0 has finished working, MPI
 * waited for rank 0 to call it again.
 *
 *     beowulf run -n 2 synchronisation.c       or on a node by hand, with mpiexec -n 2, after
 *     mpicc -O2 -I ../include synchronisation.c -o synchronisation
 * --work delay (as in paper D's tables 2-4 and 6; ours sleeps) or loop (computes, as in its figure 6)
 * --seconds 0.1: the work of rank 0. The paper has 4.
 * --share 0.5: what rank 1 does of it. The paper's section III.A says a quarter; IV.A has 2 s of 4 s.
 * --size 40000: bytes, the paper's 10000 ints (39.06 KiB). --tests 0: MPI_Tests during the work. */
#include "overlap.h"

enum { POSTED, WORKED, ENDED, EVENTS };
static const char *const EVENT_NAMES[] = {"posted", "worked", "ended"};

struct test {
    struct work work;
    double seconds, share;
    long size, passes;
    unsigned char *buffer;
};

/* One message. `at` gets the seconds from the barrier to each event on this rank. */
static void send_one(struct test *test, int me, double at[EVENTS]) {
    MPI_Request sending;
    int size = (int)test->size;
    check(MPI_Barrier(MPI_COMM_WORLD));
    double start = MPI_Wtime();
    if (me == 0) {
        check(MPI_Isend(test->buffer, size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &sending));
        at[POSTED] = MPI_Wtime() - start;
        do_work(&test->work, test->seconds, &sending);
        at[WORKED] = MPI_Wtime() - start;
        check(MPI_Wait(&sending, MPI_STATUS_IGNORE));
    } else {
        at[POSTED] = 0.0; /* it posts nothing before it works */
        do_work(&test->work, test->seconds * test->share, NULL);
        at[WORKED] = MPI_Wtime() - start;
        check(MPI_Recv(test->buffer, size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    at[ENDED] = MPI_Wtime() - start;
}

static void run_pass(struct test *test, long pass) {
    int me = my_rank();
    double mine[EVENTS], of_both[2 * EVENTS];
    if (me == 0)
        fill(test->buffer, test->size, 0, pass);
    send_one(test, me, mine);
    if (me == 1)
        verify(test->buffer, test->size, 0, pass);
    gather_times(mine, of_both, EVENTS);
    for (int i = 0; me == 0 && i < 2 * EVENTS; i++) {
        if (of_both[i] == 0.0)
            continue; /* rank 1 posts nothing */
        const char *quantity = i % EVENTS == POSTED ? "posting_s" : "since_barrier_s";
        begin_sample(quantity, of_both[i], pass, test->size);
        put_count("rank", i / EVENTS);
        put_text("event", EVENT_NAMES[i % EVENTS]);
        end_line();
    }
    flush_lines();
}

int main(int argc, char **argv) {
    static const char *const KNOWN[] = {"--work", "--tests",  "--seconds", "--share",
                                        "--size", "--passes", NULL};
    start_mpi(&argc, &argv);
    refuse_other_than_two_ranks();
    refuse_unknown(argc, argv, KNOWN);
    struct test test = {
        .work = work_arguments(argc, argv, "delay"),
        .seconds = decimal_argument(argc, argv, "--seconds", 0.1, 1e-6, 3600.0),
        .share = decimal_argument(argc, argv, "--share", 0.5, 0.01, 1.0),
        .size = number_argument(argc, argv, "--size", 40000, 0, LARGEST_MESSAGE),
        .passes = number_argument(argc, argv, "--passes", 100, 1, 1000000),
    };
    test.buffer = message_buffer(test.size, 1);

    keep_lines_back();
    begin_about("synchronisation", clock_resolution(), test.passes * (2 * EVENTS - 1));
    put_work(&test.work, test.seconds);
    if (my_rank() == 0) {
        put_number("share", test.share);
        end_line();
    }
    warm_up(test.buffer, &test.size, 1);
    for (long pass = 0; pass < test.passes; pass++)
        run_pass(&test, pass);
    if (my_rank() == 0)
        write_end();
    check(MPI_Finalize());
    return 0;
}
