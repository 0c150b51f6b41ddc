/* The exercise of lab 05: write an exchange that works while its messages travel.
 *
 *     beowulf run -n 2 exchange.c
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include exchange.c -o exchange
 *     mpiexec -n 2 ./exchange
 *
 * Two ranks exchange messages of 200,000 bytes, and have work that takes each of them 1.2 times as
 * long: 20 ms beside 17 ms at 100 Mbit/s. The first quarter of the work comes before the exchange,
 * as in paper D; the other three quarters need neither message. What measures, and checks each
 * byte, is in exchange.h. */
#include "exchange.h"

/* Without overlap. It is right, and nothing of it needs to be changed. */
static void one_after_the_other(struct exchange *exchange) {
    work_share(exchange, 1.0);
    check(MPI_Irecv(exchange->in, exchange->size, MPI_BYTE, exchange->other, TAG, MPI_COMM_WORLD,
                    &exchange->requests[0]));
    check(MPI_Isend(exchange->out, exchange->size, MPI_BYTE, exchange->other, TAG, MPI_COMM_WORLD,
                    &exchange->requests[1]));
    check(MPI_Waitall(2, exchange->requests, MPI_STATUSES_IGNORE));
}

/* With overlap: yours.
 *
 * TODO, first step:
 *   - a quarter of the work
 *   - post the receive, then the send, without waiting for either
 *   - three quarters of the work
 *   - wait for both
 * Run it. What did you gain? Then explain it before you go on.
 *
 * TODO, second step:
 *   - cut the three quarters into slices, fifty of them for a start
 *   - after each slice, let MPI move the messages on: MPI_Testall(2, exchange->requests, &done,
 *     MPI_STATUSES_IGNORE), where `int done;` says whether both have arrived
 * Run it again. */
static void overlapped(struct exchange *exchange) {
    one_after_the_other(exchange); /* in place of this line */
}

int main(int argc, char **argv) {
    return measure_exchange(argc, argv, one_after_the_other, overlapped);
}
