/* Where do the microseconds of a message go? Split the way of a message into parts, and time each.
 *
 *     printf '20\n' | beowulf run -n 2 steps.c --sizes 1
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include steps.c -o steps
 *     printf '20\n' | mpiexec -n 2 ./steps --sizes 1
 *
 * call       a system call that does next to nothing
 * loopback   half a round trip over TCP to a process on the same node: no cable, no card
 * nodes      half a round trip over TCP to the other node
 * mpi        half a round trip between two ranks of MPI
 *
 * loopback and nodes come in two ways. With `polling` a receiver asks the kernel again and again
 * whether something has come, as MPI does; with `waiting` it sleeps until the kernel wakes it. What
 * one step takes longer than another is the time of what lies between them: nodes less loopback is
 * the cable with its two cards.
 *
 * Each line of standard input asks for so many samples of every step (on_command.h). They are taken
 * alternating, in a new order each time, so that a disturbance hits all steps equally.
 *
 * --sizes     bytes of the message, with commas
 * --chunk-us  a sample is a chunk: the mean of as many as last so long together
 * --seed      of the orders
 */
#define _DEFAULT_SOURCE /* syscall; so it comes before any file */

#include "measure/socket_pair.h"
#include "on_command.h"

#include <sys/syscall.h>

static const char *const KNOWN[] = {"--sizes", "--chunk-us", "--seed", NULL};

enum step { CALL, LOOPBACK_POLLING, LOOPBACK_WAITING, NODES_POLLING, NODES_WAITING, MPI, STEPS };
static const char *const NAMES[] = {"call",          "loopback polling", "loopback waiting",
                                    "nodes polling", "nodes waiting",    "mpi"};

enum { TAG = 7, WARM_UP = 10, FIRST_LOOK = 20, MOST_SIZES = 8, MOST_PLACES = STEPS * MOST_SIZES };
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

struct place {
    enum step step;
    long size, repetitions;
};

static unsigned char *outgoing, *incoming;
static int me;
static int to_myself = -1, to_the_other = -1; /* sockets */

/* ---- The measured loops of rank 0 ---- */

static void calls(long count) {
    for (long i = 0; i < count; i++)
        syscall(SYS_getppid);
}

static void socket_trips(int line, int polling, long size, long count) {
    for (long i = 0; i < count; i++) {
        send_all(line, outgoing, size);
        receive_all(line, incoming, size, polling);
    }
}

static void mpi_trips(long size, long count) {
    for (long i = 0; i < count; i++) {
        if (me == 0)
            check(MPI_Send(outgoing, (int)size, MPI_BYTE, 1, TAG, WORLD));
        check(MPI_Recv(incoming, (int)size, MPI_BYTE, 1 - me, TAG, WORLD, IGNORE));
        if (me == 1)
            check(MPI_Send(incoming, (int)size, MPI_BYTE, 0, TAG, WORLD));
    }
}

static void repeat(const struct place *p, long count) {
    if (p->step == CALL)
        calls(count);
    else if (p->step == MPI)
        mpi_trips(p->size, count);
    else
        socket_trips(p->step < NODES_POLLING ? to_myself : to_the_other,
                     p->step == LOOPBACK_POLLING || p->step == NODES_POLLING, p->size, count);
}

/* ---- A chunk ---- */

/* Seconds for `count` repetitions. The side that answers gets the count first, and sleeps until then:
 * there are as many processes here as cores, or more. */
static double lead_chunk(const struct place *p, long count) {
    static long message;
    struct order order = {p->step == LOOPBACK_POLLING || p->step == NODES_POLLING, p->size,
                          WARM_UP + count};
    fill(outgoing, p->size, 0, ++message);
    if (p->step == MPI)
        tell_others(order.trips);
    else if (p->step != CALL)
        send_all(p->step < NODES_POLLING ? to_myself : to_the_other, &order, sizeof order);
    repeat(p, WARM_UP);
    double began = MPI_Wtime();
    repeat(p, count);
    double seconds = MPI_Wtime() - began;
    if (p->step != CALL)
        verify(incoming, p->size, 0, message); /* the other end sends back what it got */
    return seconds;
}

/* What rank 1 does meanwhile. */
static void answer_chunk(const struct place *p) {
    if (p->step == MPI)
        mpi_trips(p->size, tell_others(0));
    else if (p->step == NODES_POLLING || p->step == NODES_WAITING)
        answer_order(to_the_other, incoming);
}

/* ---- All steps, alternating ---- */

static void write_sample(const struct place *p, long command, double seconds) {
    begin_line("sample");
    put_text("quantity", p->step == CALL ? "call_us" : "half_round_trip_us");
    put_text("step", NAMES[p->step]);
    put_count("size_bytes", p->size);
    put_count("pass", command);
    put_count("repetitions", p->repetitions);
    put_number("seconds", seconds);
    end_line();
}

static void one_pass(struct place *places, int count, long seed, long pass, long command,
                     double wanted_s) {
    int order[MOST_PLACES];
    shuffle(order, count, seed + command, pass);
    for (int i = 0; i < count; i++) {
        struct place *p = &places[order[i]];
        if (me == 1) {
            answer_chunk(p);
        } else if (pass == 0) { /* how many of them last long enough, in the state of now */
            double seconds = lead_chunk(p, FIRST_LOOK);
            p->repetitions = 1 + (long)(wanted_s * FIRST_LOOK / seconds);
        } else {
            write_sample(p, command, lead_chunk(p, p->repetitions));
        }
    }
}

static void obey(struct place *places, int count, long seed, double wanted_s) {
    for (long command = 0, samples; (samples = next_command()) > 0; command++) {
        for (long pass = 0; pass <= samples; pass++)
            one_pass(places, count, seed, pass, command, wanted_s);
        flush_lines();
    }
}

/* The sockets: to a process of its own on rank 0's node, and from rank 0 to rank 1. */
static void connect_all(void) {
    char address[64] = "";
    int port = 0, listening = -1;
    if (me == 1) {
        listening = listen_anywhere(&port);
        my_address(address, sizeof address);
    }
    check(MPI_Bcast(&port, 1, MPI_INT, 1, WORLD));
    check(MPI_Bcast(address, sizeof address, MPI_CHAR, 1, WORLD));
    to_the_other = me == 1 ? accept_one(listening) : connect_to(address, port);
}

int main(int argc, char **argv) {
    int port, listening = listen_anywhere(&port); /* before MPI begins, which must not be forked */
    pid_t partner = start_answering(listening);
    start_mpi(&argc, &argv);
    refuse_unknown(argc, argv, KNOWN);
    long sizes[MOST_SIZES];
    int n_sizes = list_argument(argc, argv, "--sizes", "1", 1, 1 << 20, sizes, MOST_SIZES);
    long chunk_us = number_argument(argc, argv, "--chunk-us", 500, 1, 10000000);
    long seed = number_argument(argc, argv, "--seed", 1, 0, 1000000000);
    if (all_ranks() != 2)
        refuse("The steps are between two ranks: `-n 2`.");
    me = my_rank();
    outgoing = message_buffer(1 << 20, 2);
    incoming = message_buffer(1 << 20, 2);
    to_myself = connect_to("127.0.0.1", port);
    connect_all();

    struct place places[MOST_PLACES];
    int count = 0;
    for (int i = 0; i < n_sizes; i++)
        for (int step = i ? LOOPBACK_POLLING : CALL; step < STEPS; step++)
            places[count++] = (struct place){(enum step)step, step == CALL ? 0 : sizes[i], 1};
    keep_lines_back();
    begin_about("steps", clock_resolution(), 0);
    if (me == 0) {
        put_text("time", "half round trip; of `call`, one call");
        end_line();
    }
    flush_lines();
    obey(places, count, seed, (double)chunk_us * 1e-6);
    end_answering(partner);
    if (me == 0)
        write_end();
    check(MPI_Finalize());
    return 0;
}
