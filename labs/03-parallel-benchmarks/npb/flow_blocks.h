/* Blocks of the cube that LU, SP and BT compute on, and the ghosts around them.
 *
 * A rank has one block or several. Around each lies a layer of ghosts, two points thick: copies of
 * what the neighbouring blocks have there. */
#ifndef NPB_FLOW_BLOCKS_H
#define NPB_FLOW_BLOCKS_H

#include "flow.h"

enum { GHOSTS = 2, MOST_BLOCKS = 16, TAG_UP = 11, TAG_DOWN = 12, MOST_SIDE = 162 };

typedef double state[PARTS];

struct block {
    int first[AXES], count[AXES]; /* which points of the cube, without ghosts */
    long stride[AXES];
    size_t size;
    state *now;    /* the state; point 0, 0, 0 of the block, with ghosts before it */
    state *change; /* what is computed from it */
    state *force;  /* - L(exact) */
};

struct flow {
    int side; /* points of the cube along an axis */
    double spacing, time_step;
    int blocks;
    struct block block[MOST_BLOCKS];
    int below[AXES], above[AXES]; /* the rank that has the next block along each axis, or self */
};

static inline long point_at(const struct block *block, int x, int y, int z) {
    return x * block->stride[0] + y * block->stride[1] + z * block->stride[2];
}

/* The points of a block that are not on a wall of the cube are from inner_from to inner_to - 1. */
static inline int inner_from(const struct block *block, int axis) {
    return block->first[axis] == 0 ? 1 : 0;
}

static inline int inner_to(const struct flow *flow, const struct block *block, int axis) {
    return block->count[axis] - (block->first[axis] + block->count[axis] == flow->side);
}

static state *field_for(const struct block *block) {
    state *field = memory_for(block->size, sizeof(state));
    return field + point_at(block, GHOSTS, GHOSTS, GHOSTS);
}

/* The part of the cube at a place among parts[axis] along each axis. */
static void make_block(struct block *block, int side, const int *place, const int *parts) {
    block->size = 1;
    for (int axis = 0; axis < AXES; axis++) {
        block->first[axis] = side * place[axis] / parts[axis];
        block->count[axis] = side * (place[axis] + 1) / parts[axis] - block->first[axis];
        block->stride[axis] = (long)block->size;
        block->size *= (size_t)block->count[axis] + 2 * GHOSTS;
    }
    block->now = field_for(block);
    block->change = field_for(block);
    block->force = field_for(block);
}

/* Set every point of all blocks to a state that is known at x, y, z. */
static void set_states(const struct flow *flow, void (*known)(double, double, double, double *)) {
    for (int b = 0; b < flow->blocks; b++) {
        const struct block *block = &flow->block[b];
        for (int z = 0; z < block->count[2]; z++)
            for (int y = 0; y < block->count[1]; y++)
                for (int x = 0; x < block->count[0]; x++)
                    known((block->first[0] + x) * flow->spacing,
                          (block->first[1] + y) * flow->spacing,
                          (block->first[2] + z) * flow->spacing,
                          block->now[point_at(block, x, y, z)]);
    }
}

/* Copy two layers at right angles to an axis, from place `from` on, to or from a message. */
static long copy_layers(const struct block *block, int axis, int from, state *message, int out) {
    int inner = axis == 0 ? 1 : 0, outer = axis == 2 ? 1 : 2;
    long count = 0;
    for (int layer = from; layer < from + GHOSTS; layer++)
        for (int i = 0; i < block->count[outer]; i++)
            for (int j = 0; j < block->count[inner]; j++, count++) {
                double *point = block->now[layer * block->stride[axis] + i * block->stride[outer] +
                                           j * block->stride[inner]];
                double *packed = message[count];
                memcpy(out ? packed : point, out ? point : packed, sizeof(state));
            }
    return count;
}

/* All blocks' layers in one message: those that have a neighbour at that end. */
static long copy_all(const struct flow *flow, int axis, int upper, int ghosts, state *message) {
    long count = 0;
    for (int b = 0; b < flow->blocks; b++) {
        const struct block *block = &flow->block[b];
        int points = block->count[axis];
        if (upper ? block->first[axis] + points == flow->side : block->first[axis] == 0)
            continue;
        int from = ghosts ? (upper ? points : -GHOSTS) : (upper ? points - GHOSTS : 0);
        count += copy_layers(block, axis, from, message + count, !ghosts);
    }
    return count;
}

/* One message up and one down along an axis, if there is anybody. */
static void exchange_along(const struct flow *flow, int axis) {
    static state to_above[2 * MOST_SIDE * MOST_SIDE], to_below[2 * MOST_SIDE * MOST_SIDE];
    static state from_above[2 * MOST_SIDE * MOST_SIDE], from_below[2 * MOST_SIDE * MOST_SIDE];
    const int room = 2 * MOST_SIDE * MOST_SIDE * PARTS;
    int above = flow->above[axis], below = flow->below[axis];
    MPI_Request requests[4];
    long up = copy_all(flow, axis, 1, 0, to_above), down = copy_all(flow, axis, 0, 0, to_below);
    check(MPI_Irecv(from_below, room, MPI_DOUBLE, below, TAG_UP, MPI_COMM_WORLD, &requests[0]));
    check(MPI_Irecv(from_above, room, MPI_DOUBLE, above, TAG_DOWN, MPI_COMM_WORLD, &requests[1]));
    check(MPI_Isend(to_above, (int)up * PARTS, MPI_DOUBLE, above, TAG_UP, MPI_COMM_WORLD,
                    &requests[2]));
    check(MPI_Isend(to_below, (int)down * PARTS, MPI_DOUBLE, below, TAG_DOWN, MPI_COMM_WORLD,
                    &requests[3]));
    check(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    copy_all(flow, axis, 0, 1, from_below);
    copy_all(flow, axis, 1, 1, from_above);
}

static void exchange_states(const struct flow *flow) {
    int rank = my_rank();
    for (int axis = 0; axis < AXES; axis++)
        if (flow->above[axis] != rank || flow->below[axis] != rank)
            exchange_along(flow, axis);
}

/* The root of the mean square of each part over the inner points of the cube: of the change, or of
 * how far the state is from the exact one. */
static void find_norms(const struct flow *flow, int of_error, double *norms) {
    double sums[PARTS] = {0.0}, exact[PARTS];
    for (int b = 0; b < flow->blocks; b++) {
        const struct block *block = &flow->block[b];
        for (int z = inner_from(block, 2); z < inner_to(flow, block, 2); z++)
            for (int y = inner_from(block, 1); y < inner_to(flow, block, 1); y++)
                for (int x = inner_from(block, 0); x < inner_to(flow, block, 0); x++) {
                    long at = point_at(block, x, y, z);
                    exact_state((block->first[0] + x) * flow->spacing,
                                (block->first[1] + y) * flow->spacing,
                                (block->first[2] + z) * flow->spacing, exact);
                    for (int part = 0; part < PARTS; part++) {
                        double off =
                            of_error ? block->now[at][part] - exact[part] : block->change[at][part];
                        sums[part] += off * off;
                    }
                }
    }
    check(MPI_Allreduce(sums, norms, PARTS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    for (int part = 0; part < PARTS; part++)
        norms[part] = sqrt(norms[part] / pow(flow->side - 2, 3));
}

#endif
