/* Do ranks that exchange messages gain when they work meanwhile?
 *
 *     before:  barrier | all the work | MPI_Irecv | MPI_Isend | MPI_Wait | MPI_Wait
 *     during:  barrier | a quarter | MPI_Irecv | MPI_Isend | three quarters | MPI_Wait | MPI_Wait
 *
 * All ranks do the same, in paper D two. Of more ranks each exchanges with every other one, and then
 * there are as many receives, sends and waits. `comm` is the exchange without the work and `comp` the work without the
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
 * --seconds 0.000377: the work, the minimum in paper D's tables 7 and 8
 * --messages 1: so many of that size to each other rank, one behind the other
 * --work loop or delay. --tests 0: MPI_Tests during the three quarters. --seed 1 */
#include "overlap.h"

enum { MOST_MESSAGES = 64, MOST_RANKS = 64 };
enum { COMM, COMP, BEFORE, DURING, PARTS };
static const char *const PART_NAMES[] = {"comm", "comp", "before", "during"};
static const double FIRST_SHARE = 0.25; /* of the work in `during`, before the exchange begins */

struct test {
    struct work work;
    double seconds;
    long sizes[MOST_SIZES], passes, seed;
    int count, messages;
    unsigned char *out, *in; /* `in` has a place for each message */
    MPI_Request *receiving, *sending;
};

/* How many messages a rank sends, and how many it gets. */
static int each_way(const struct test *test) { return test->messages * (all_ranks() - 1); }

/* From whom the message number i comes, and to whom it goes: each other rank in turn. */
static int partner(int i, int me) { return (me + 1 + i % (all_ranks() - 1)) % all_ranks(); }

/* One operation; the seconds from the barrier to its end on this rank. */
static double run_one(struct test *test, int me, int part, int size) {
    double first = part == COMM ? 0.0 : part == DURING ? FIRST_SHARE : 1.0;
    int count = part == COMP ? 0 : each_way(test);

    check(MPI_Barrier(MPI_COMM_WORLD));
    double start = MPI_Wtime();
    if (part != COMM)
        do_work(&test->work, test->seconds * first, NULL);
    for (int i = 0; i < count; i++)
        check(MPI_Irecv(test->in + (long)i * size, size, MPI_BYTE, partner(i, me), TAG,
                        MPI_COMM_WORLD, &test->receiving[i]));
    for (int i = 0; i < count; i++)
        check(MPI_Isend(test->out, size, MPI_BYTE, partner(i, me), TAG, MPI_COMM_WORLD,
                        &test->sending[i]));
    if (part == DURING)
        do_work(&test->work, test->seconds * (1.0 - first), &test->receiving[0]);
    check(MPI_Waitall(count, test->receiving, MPI_STATUSES_IGNORE));
    check(MPI_Waitall(count, test->sending, MPI_STATUSES_IGNORE));
    return MPI_Wtime() - start;
}

static void measure_part(struct test *test, int part, long size, long pass) {
    int me = my_rank();
    double of_all[MOST_RANKS];

    fill(test->out, size, me, pass * PARTS + part);
    double mine = run_one(test, me, part, (int)size);
    for (int i = 0; part != COMP && i < each_way(test); i++)
        verify(test->in + i * size, size, partner(i, me), pass * PARTS + part);
    gather_times(&mine, of_all, 1);
    for (int rank = 0; me == 0 && rank < all_ranks(); rank++) {
        begin_sample("duration_s", of_all[rank], pass, size);
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
    static const char *const KNOWN[] = {"--work",   "--tests", "--seconds",  "--sizes",
                                        "--passes", "--seed",  "--messages", NULL};
    start_mpi(&argc, &argv);
    if (all_ranks() < 2 || all_ranks() > MOST_RANKS)
        refuse("This program takes 2 to %d ranks (mpiexec -n 2), not %d.", MOST_RANKS, all_ranks());
    refuse_unknown(argc, argv, KNOWN);
    struct test test = {
        .work = work_arguments(argc, argv, "loop"),
        .seconds = decimal_argument(argc, argv, "--seconds", 377e-6, 1e-6, 3600.0),
        .passes = number_argument(argc, argv, "--passes", 1000, 1, 1000000),
        .seed = number_argument(argc, argv, "--seed", 1, 0, LONG_MAX),
        .messages = (int)number_argument(argc, argv, "--messages", 1, 1, MOST_MESSAGES),
    };
    test.count = list_argument(argc, argv, "--sizes", "7168,71680", 0, LARGEST_MESSAGE, test.sizes,
                               MOST_SIZES);
    long largest = largest_of(test.sizes, test.count);
    int count = each_way(&test);
    test.out = message_buffer(largest, 1 + count);
    test.in = message_buffer(largest * count, 1);
    MPI_Request requests[2 * MOST_RANKS * MOST_MESSAGES];
    test.receiving = requests;
    test.sending = requests + count;

    keep_lines_back();
    begin_about("both_sides", clock_resolution(), test.passes * test.count * PARTS * all_ranks());
    put_work(&test.work, test.seconds);
    if (my_rank() == 0)
        end_line();
    if (my_rank() < 2)
        warm_up(test.in, test.sizes, test.count);
    for (int i = 0; i < test.count * WARM_UPS; i++) /* the connections of the other ranks */
        run_one(&test, my_rank(), COMM, (int)test.sizes[i % test.count]);
    for (long pass = 0; pass < test.passes; pass++)
        run_pass(&test, pass);
    if (my_rank() == 0)
        write_end();
    check(MPI_Finalize());
    return 0;
}
