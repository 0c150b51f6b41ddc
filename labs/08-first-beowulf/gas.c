/* Gas dynamics on tiles, as on the first Beowulf (1995). What runs it is in gas.h; struct tiles and
 * struct border, and pack() and unpack(), are explained in tiles.h.
 *
 *     beowulf run -n 4 gas.c --check                  (is exchange_ghosts right?)
 *     beowulf run -n 4 gas.c --problem blast
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include gas.c -o gas -lm
 *     mpiexec -n 4 ./gas --check */
#include "gas.h"

/* Fill the ghost zones at all borders of this rank with the zones of its neighbours.
 *
 * As given, each rank computes as if the gas ended at its borders. That is right on one rank; on
 * more, the borders show in the image as seams. Yours exchanges one message at each border:
 * tiles->border[0] to tiles->border[tiles->borders - 1] say with which rank, how many numbers and
 * which tags. pack() fills border->out, unpack() uses border->in. tiles->requests has room for two
 * requests a border. About 15 lines. */
static void exchange_ghosts(struct tiles *tiles) {
    end_at_borders(tiles); /* in place of this line */
}

int main(int argc, char **argv) { return run_gas(argc, argv, exchange_ghosts); }
