/* The grids of MG: a cube of points on each level, spread over ranks, with a layer of ghosts.
 *
 * Level k has 2^k points along each axis, and the cube repeats itself in all directions. A rank has
 * the same part of the cube on every level. Around its part lies a layer of ghosts, one point
 * thick: copies of what the neighbours have there. exchange_ghosts() brings them up to date. */
#ifndef NPB_MG_LEVELS_H
#define NPB_MG_LEVELS_H

#include "npb.h"

enum { AXES = 3, MOST_LEVELS = 10, MOST_SIDE = 512, TAG = 5 };

/* The ranks as a box of ranks[0] x ranks[1] x ranks[2]. */
struct box {
    int ranks[AXES], place[AXES];
    int below[AXES], above[AXES]; /* the neighbours along each axis */
};

struct level {
    int side;            /* points along an axis of the whole cube */
    int points[AXES];    /* of this rank, without ghosts */
    size_t stride[AXES]; /* how far apart neighbours along an axis lie in memory */
    size_t size;         /* with ghosts */
    double *solution, *residual;
};

static int rank_at(const struct box *box, const int *place) {
    int wrapped[AXES];
    for (int axis = 0; axis < AXES; axis++)
        wrapped[axis] = (place[axis] + box->ranks[axis]) % box->ranks[axis];
    return (wrapped[2] * box->ranks[1] + wrapped[1]) * box->ranks[0] + wrapped[0];
}

/* A box that is as much like a cube as a power of two allows; what is left over goes to z first. */
static struct box make_box(void) {
    struct box box;
    int ranks = all_ranks(), rank = my_rank(), doublings = 0;
    while (1 << doublings < ranks)
        doublings++;
    box.ranks[0] = 1 << doublings / 3;
    box.ranks[1] = 1 << (doublings - doublings / 3) / 2;
    box.ranks[2] = ranks / box.ranks[0] / box.ranks[1];
    box.place[0] = rank % box.ranks[0];
    box.place[1] = rank / box.ranks[0] % box.ranks[1];
    box.place[2] = rank / box.ranks[0] / box.ranks[1];
    for (int axis = 0; axis < AXES; axis++) {
        int place[AXES] = {box.place[0], box.place[1], box.place[2]};
        place[axis]--;
        box.below[axis] = rank_at(&box, place);
        place[axis] += 2;
        box.above[axis] = rank_at(&box, place);
    }
    return box;
}

static struct level make_level(const struct box *box, int side) {
    struct level level = {.side = side, .size = 1};
    for (int axis = 0; axis < AXES; axis++) {
        level.points[axis] = side / box->ranks[axis];
        level.stride[axis] = level.size;
        level.size *= (size_t)level.points[axis] + 2;
    }
    level.solution = memory_for(level.size, sizeof(double));
    level.residual = memory_for(level.size, sizeof(double));
    return level;
}

/* One layer of points at right angles to an axis. Along the axes that were exchanged before, it
 * includes the ghosts, so that they reach the corners. */
struct layer {
    size_t first, inner_stride, outer_stride;
    int inner, outer;
};

static struct layer layer_at(const struct level *level, int axis, int place) {
    int inner = axis == 0 ? 1 : 0, outer = axis == 2 ? 1 : 2;
    int inner_ghost = inner < axis, outer_ghost = outer < axis;
    return (struct layer){
        .first = (size_t)place * level->stride[axis] + !inner_ghost * level->stride[inner] +
                 !outer_ghost * level->stride[outer],
        .inner_stride = level->stride[inner],
        .outer_stride = level->stride[outer],
        .inner = level->points[inner] + 2 * inner_ghost,
        .outer = level->points[outer] + 2 * outer_ghost,
    };
}

static int pack(const double *values, struct layer layer, double *message) {
    for (int i = 0; i < layer.outer; i++)
        for (int j = 0; j < layer.inner; j++)
            *message++ = values[layer.first + (size_t)i * layer.outer_stride +
                                (size_t)j * layer.inner_stride];
    return layer.outer * layer.inner;
}

static void unpack(double *values, struct layer layer, const double *message) {
    for (int i = 0; i < layer.outer; i++)
        for (int j = 0; j < layer.inner; j++)
            values[layer.first + (size_t)i * layer.outer_stride + (size_t)j * layer.inner_stride] =
                *message++;
}

/* Fill the ghosts along one axis: my lowest layer becomes the upper ghosts of the rank below, my
 * highest one the lower ghosts of the rank above. */
static void exchange_axis(const struct box *box, const struct level *level, int axis,
                          double *values) {
    static double to[2][(MOST_SIDE + 2) * (MOST_SIDE + 2)];
    static double from[2][(MOST_SIDE + 2) * (MOST_SIDE + 2)];
    int last = level->points[axis];
    int count = pack(values, layer_at(level, axis, 1), to[0]);
    pack(values, layer_at(level, axis, last), to[1]);
    if (box->ranks[axis] == 1) { /* this rank is its own neighbour */
        unpack(values, layer_at(level, axis, last + 1), to[0]);
        unpack(values, layer_at(level, axis, 0), to[1]);
        return;
    }
    MPI_Request requests[2];
    int below = box->below[axis], above = box->above[axis];
    check(MPI_Irecv(from[0], count, MPI_DOUBLE, above, TAG, MPI_COMM_WORLD, &requests[0]));
    check(MPI_Irecv(from[1], count, MPI_DOUBLE, below, TAG + 1, MPI_COMM_WORLD, &requests[1]));
    check(MPI_Send(to[0], count, MPI_DOUBLE, below, TAG, MPI_COMM_WORLD));
    check(MPI_Send(to[1], count, MPI_DOUBLE, above, TAG + 1, MPI_COMM_WORLD));
    check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    unpack(values, layer_at(level, axis, last + 1), from[0]);
    unpack(values, layer_at(level, axis, 0), from[1]);
}

static void exchange_ghosts(const struct box *box, const struct level *level, double *values) {
    for (int axis = 0; axis < AXES; axis++)
        exchange_axis(box, level, axis, values);
}

#endif
