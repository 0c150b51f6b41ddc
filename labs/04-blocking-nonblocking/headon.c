/* Two ranks send to each other, and only then receive. Does that work? It depends on the size.
 *
 *     beowulf run -n 2 headon.c --bytes 1000
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include headon.c -o headon
 *     mpiexec -n 2 ./headon --bytes 1000
 *
 * MPI_Send promises one thing: when it returns, the buffer is yours again. It does not say that the
 * message has arrived, or that anybody asks for it. A library may copy the message and return at
 * once, or wait until the other side receives. Which one, is for the library to decide.
 *
 * With --nonblocking the send is only begun; then the rank receives, and then it waits.
 */
#include "measure.h"

enum { TAG = 4 };
static const char *const KNOWN[] = {"--bytes", "--nonblocking", NULL};

static void blocking(const unsigned char *out, unsigned char *in, int bytes, int other) {
    check(MPI_Send(out, bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD));
    check(MPI_Recv(in, bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void nonblocking(const unsigned char *out, unsigned char *in, int bytes, int other) {
    MPI_Request sending;
    check(MPI_Isend(out, bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &sending));
    check(MPI_Recv(in, bytes, MPI_BYTE, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check(MPI_Wait(&sending, MPI_STATUS_IGNORE)); /* from here on `out` is ours again */
}

int main(int argc, char **argv) {
    start_mpi(&argc, &argv);
    refuse_unknown(argc, argv, KNOWN);
    int bytes = (int)number_argument(argc, argv, "--bytes", 1000, 0, LARGEST_MESSAGE);
    int me = my_rank(), other = 1 - me;
    if (all_ranks() != 2)
        refuse("Two ranks meet here: mpiexec -n 2 ./headon");

    unsigned char *out = message_buffer(bytes, 2), *in = message_buffer(bytes, 2);
    fill(out, bytes, me, 0);
    (has_argument(argc, argv, "--nonblocking") ? nonblocking : blocking)(out, in, bytes, other);
    verify(in, bytes, other, 0);

    check(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0)
        printf("Both messages of %d bytes have arrived.\n", bytes);
    free(out);
    free(in);
    check(MPI_Finalize());
    return 0;
}
