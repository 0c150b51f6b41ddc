/* How long is half a round trip: now, and after the next change?
 *
 *     printf '20\n20\n' | beowulf run -n 2 pingpong.c --bytes 1
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include pingpong.c -o pingpong
 *     printf '20\n20\n' | mpiexec -n 2 ./pingpong --bytes 1
 *
 * Rank 0 sends to rank 1, which sends back. Each line of standard input asks for so many samples;
 * the end of the input ends the program (on_command.h says what that is good for).
 *
 * --bytes       of the message
 * --chunk-us    a sample is a chunk: the mean of as many round trips as last so long together
 * --lead-in-us  how long messages go to and fro, untimed, before the first sample of a command
 */
#include "on_command.h"

static const char *const KNOWN[] = {"--bytes", "--chunk-us", "--lead-in-us", NULL};

enum { TAG = 7, WARM_UP = 10, LEAST_TRIES = 5 };
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static unsigned char *outgoing, *incoming;
static int bytes, me;
static long message; /* counts chunks: each has data of its own */

/* The measured loop. */
static void round_trips(long count) {
    int other = 1 - me;
    for (long i = 0; i < count; i++) {
        if (me == 0)
            check(MPI_Send(outgoing, bytes, MPI_BYTE, other, TAG, WORLD));
        check(MPI_Recv(incoming, bytes, MPI_BYTE, other, TAG, WORLD, IGNORE));
        if (me == 1)
            check(MPI_Send(outgoing, bytes, MPI_BYTE, other, TAG, WORLD));
    }
}

/* A chunk: rank 0's seconds for so many round trips. What arrived is verified afterwards. */
static double chunk_s(long count) {
    fill(outgoing, bytes, me, ++message);
    double began = MPI_Wtime();
    round_trips(count);
    double seconds = MPI_Wtime() - began;
    verify(incoming, bytes, 1 - me, message);
    return seconds;
}

/* Messages go to and fro for a while; gives how many of them make a chunk of `wanted_s`. The state
 * that is measured now may be ten times slower than the last one, so each command recounts. Both
 * ranks have slept, and may have woken up on the same core: it takes some trips until the kernel
 * has noticed and moved one of them. */
static long lead_in(double lead_in_s, double wanted_s) {
    double spent_s = 0.0, quickest_s = 1e9;
    for (int tries = 0; tries < LEAST_TRIES || spent_s < lead_in_s; tries++) {
        double seconds = chunk_s(WARM_UP);
        spent_s += seconds;
        quickest_s = seconds / WARM_UP < quickest_s ? seconds / WARM_UP : quickest_s;
        check(MPI_Bcast(&spent_s, 1, MPI_DOUBLE, 0, WORLD)); /* both leave the loop together */
    }
    long count = 1 + (long)(wanted_s / quickest_s);
    check(MPI_Bcast(&count, 1, MPI_LONG, 0, WORLD));
    return count;
}

static void write_sample(long command, long count, double seconds) {
    begin_line("sample");
    put_text("quantity", "half_round_trip_us");
    put_count("size_bytes", bytes);
    put_count("pass", command);
    put_count("repetitions", count);
    put_number("seconds", seconds);
    end_line();
}

static void obey(double lead_in_s, double wanted_s) {
    static double seconds[MOST_SAMPLES];
    for (long command = 0, samples; (samples = next_command()) > 0; command++) {
        long count = lead_in(lead_in_s, wanted_s);
        for (long i = 0; i < samples; i++)
            seconds[i] = chunk_s(count);
        for (long i = 0; me == 0 && i < samples; i++)
            write_sample(command, count, seconds[i]);
        flush_lines();
    }
}

int main(int argc, char **argv) {
    start_mpi(&argc, &argv);
    refuse_unknown(argc, argv, KNOWN);
    bytes = (int)number_argument(argc, argv, "--bytes", 1, 0, LARGEST_MESSAGE);
    long chunk_us = number_argument(argc, argv, "--chunk-us", 500, 1, 10000000);
    long lead_in_us = number_argument(argc, argv, "--lead-in-us", 2000, 1, 10000000);
    if (all_ranks() != 2)
        refuse("Ping-pong is a game for two ranks: `-n 2`.");
    outgoing = message_buffer(bytes ? bytes : 1, 2);
    incoming = message_buffer(bytes ? bytes : 1, 2);
    me = my_rank();

    double resolution_s = clock_resolution();
    double wanted_s = (double)chunk_us * 1e-6;
    if (wanted_s < FEWEST_TICKS * resolution_s)
        wanted_s = FEWEST_TICKS * resolution_s;
    keep_lines_back();
    begin_about("pingpong", resolution_s, 0);
    if (me == 0) {
        put_text("time", "half round trip");
        put_count("chunk_us", chunk_us);
        put_count("lead_in_us", lead_in_us);
        end_line();
    }
    flush_lines();
    obey((double)lead_in_us * 1e-6, wanted_s);
    if (me == 0)
        write_end();
    check(MPI_Finalize());
    return 0;
}
