/* For how long does a short message keep its sender busy, and its receiver?
 *
 *     beowulf run -n 2 overheads.c
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include overheads.c -o overheads
 *     mpiexec -n 2 ./overheads
 *
 *     rank 0:  MPI_Send MPI_Send ... MPI_Send | pause
 *     rank 1:  pause ........................ | MPI_Recv MPI_Recv ... MPI_Recv
 *
 * A short MPI_Send is over when the kernel has the message: it does not wait for the network. And
 * when rank 1 begins to receive, all messages are there. So each rank times its own calls alone.
 *
 * --size      bytes of a message (1)
 * --burst     messages in a row (10): what a link of 10 Mbit/s lets through at once
 * --pause-ms  until rank 1 begins (5)
 * --passes    samples of each rank (40)
 */
#include "measure.h"

enum { TAG = 7, MOST_BYTES = 1024, MOST_MESSAGES = 1000 };
static const char *const KNOWN[] = {"--size", "--burst", "--pause-ms", "--passes", NULL};
static unsigned char buffer[MOST_BYTES];

/* The seconds of a burst on this rank. */
static double burst(int size, long messages, long pause_ms) {
    check(MPI_Barrier(MPI_COMM_WORLD));
    if (my_rank() == 1)
        wait_ms(pause_ms);
    double began = MPI_Wtime();
    for (long i = 0; i < messages; i++) {
        if (my_rank() == 0)
            check(MPI_Send(buffer, size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD));
        else
            check(MPI_Recv(buffer, size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    return MPI_Wtime() - began;
}

static void write_sample(const char *quantity, double seconds, long pass, long size, long burst) {
    begin_line("sample");
    put_text("quantity", quantity);
    put_count("size_bytes", size);
    put_count("burst", burst);
    put_count("pass", pass);
    put_count("repetitions", burst);
    put_number("seconds", seconds);
    end_line();
}

int main(int argc, char **argv) {
    start_mpi(&argc, &argv);
    if (all_ranks() != 2)
        refuse("This program needs 2 ranks, not %d.", all_ranks());
    refuse_unknown(argc, argv, KNOWN);
    long size = number_argument(argc, argv, "--size", 1, 0, MOST_BYTES);
    long messages = number_argument(argc, argv, "--burst", 10, 1, MOST_MESSAGES);
    long pause_ms = number_argument(argc, argv, "--pause-ms", 5, 0, 1000);
    long passes = number_argument(argc, argv, "--passes", 40, 1, 100000);

    keep_lines_back();
    begin_about("overheads", clock_resolution(), 2 * passes);
    if (my_rank() == 0)
        end_line();
    for (long pass = -1; pass < passes; pass++) { /* the first one sets up the connection */
        if (my_rank() == 0)
            fill(buffer, size, 0, pass);
        double mine = burst((int)size, messages, pause_ms), both[2];
        if (my_rank() == 1)
            verify(buffer, size, 0, pass);
        check(MPI_Gather(&mine, 1, MPI_DOUBLE, both, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD));
        if (my_rank() == 0 && pass >= 0) {
            write_sample("send_us", both[0], pass, size, messages);
            write_sample("receive_us", both[1], pass, size, messages);
        }
    }
    if (my_rank() == 0)
        write_end();
    check(MPI_Finalize());
    return 0;
}
