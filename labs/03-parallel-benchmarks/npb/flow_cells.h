/* How SP and BT share out the cube: multipartition.
 *
 * With q x q ranks the cube is cut into q x q x q cells, and each rank gets q of them, on a
 * diagonal. So in whichever direction the cells are passed through, one layer after the other, each
 * rank has exactly one cell in every layer, and all ranks work all the time. With four ranks:
 *
 *     lower layer  0 1     upper layer  3 2
 *                  2 3                  1 0
 *
 * The next cell along an axis always belongs to the same rank, whichever cell it is. */
#ifndef NPB_FLOW_CELLS_H
#define NPB_FLOW_CELLS_H

#include "flow_operator.h"

struct cells {
    struct flow flow;
    int across;                      /* cells along an axis: q */
    int in_layer[AXES][MOST_BLOCKS]; /* which cell of this rank is in each layer */
};

/* The rank whose cell is at a place: cells go down along x while they go up along z, and so on. */
static int owner_of(const int *place, int across) {
    int column = (place[0] - place[2] + across) % across;
    int row = (place[1] + place[2]) % across;
    return row * across + column;
}

static int root_of(const struct npb *npb) {
    int ranks = all_ranks(), root = (int)(sqrt(ranks) + 0.5);
    if (root * root != ranks)
        refuse("%s takes 1, 4, 9, 16... ranks, a square number, not %d.", npb->name, ranks);
    return root;
}

static struct cells make_cells(const struct npb *npb, const struct flow_class *class) {
    int side = class->side, across = root_of(npb), rank = my_rank(),
        parts[AXES] = {across, across, across};
    if (across > MOST_BLOCKS || side / across < 3)
        refuse("%s class %c has %d points along an axis: too few for %d ranks.", npb->name,
               npb->class, side, all_ranks());
    double ghosted = side + 2.0 * GHOSTS * across;
    refuse_unless_it_fits(npb, 9.0 * sizeof(state) * pow(ghosted, 3));
    struct cells cells = {
        .flow = {.side = side, .spacing = 1.0 / (side - 1), .time_step = class->time_step},
        .across = across,
    };
    struct flow *flow = &cells.flow;
    for (int z = 0; z < across; z++) {
        int place[AXES] = {(rank % across + z) % across, (rank / across - z + across) % across, z};
        make_block(&flow->block[z], side, place, parts);
        for (int axis = 0; axis < AXES; axis++) {
            int next[AXES] = {place[0], place[1], place[2]};
            cells.in_layer[axis][place[axis]] = z;
            next[axis] = (place[axis] + 1) % across;
            flow->above[axis] = owner_of(next, across);
            next[axis] = (place[axis] + across - 1) % across;
            flow->below[axis] = owner_of(next, across);
        }
    }
    flow->blocks = across;
    return cells;
}

#endif
