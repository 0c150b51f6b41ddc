/* Particles that attract each other: a tree code on any number of ranks.
 *
 *     beowulf run -n 4 galaxy.c --model galaxies --particles 20000 --steps 50
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include galaxy.c -o galaxy -lm
 *     mpiexec -n 4 ./galaxy --steps 5
 *
 * What calls `partition`, checks it and measures is in galaxy.h; the tree is in tree.h. */
#include "galaxy.h"

/* Which particles belong to which rank. `count` particles lie along a curve; particle i took part
 * in costs[i] interactions in the last step, and will take part in about as many in this one. Rank
 * r shall own the particles first[r] to first[r + 1] - 1: so first[0] is 0, and first[ranks] is
 * `count`. All ranks call it with the same costs.
 *
 * This one gives each rank as many particles. It is right, but some ranks have to wait: give each
 * rank as much cost. */
static void partition(const int *costs, int count, int ranks, int *first) {
    (void)costs;
    for (int rank = 0; rank <= ranks; rank++)
        first[rank] = (int)((long)count * rank / ranks);
}

int main(int argc, char **argv) { return run_galaxy(argc, argv, partition); }
