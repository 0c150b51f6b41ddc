/* The gas of lab 08 with its exchange of ghost zones, for studies that need more than one rank. */
#include "../../../labs/08-first-beowulf/gas.h"

static void exchange_ghosts(struct tiles *tiles) {
    for (int i = 0; i < tiles->borders; i++) {
        struct border *border = &tiles->border[i];
        check(MPI_Irecv(border->in, border->count, MPI_DOUBLE, border->rank, border->tag_in,
                        MPI_COMM_WORLD, &tiles->requests[2 * i]));
        pack(tiles, border);
        check(MPI_Isend(border->out, border->count, MPI_DOUBLE, border->rank, border->tag_out,
                        MPI_COMM_WORLD, &tiles->requests[2 * i + 1]));
    }
    check(MPI_Waitall(2 * tiles->borders, tiles->requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < tiles->borders; i++)
        unpack(tiles, &tiles->border[i]);
}

int main(int argc, char **argv) { return run_gas(argc, argv, exchange_ghosts); }
