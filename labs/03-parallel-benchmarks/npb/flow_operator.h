/* change = L(state) - L(exact): convection, friction and dissipation, one axis after the other.
 *
 * Along an axis, L is made of differences of a point and its neighbours. With spacing h,
 *
 *     convection   (F[i+1] - F[i-1]) / 2h           F what flows along the axis
 *     friction     (G[i+1] - 2 G[i] + G[i-1]) / h^2 G what spreads
 *     dissipation  fourth difference of the state   */
#ifndef NPB_FLOW_OPERATOR_H
#define NPB_FLOW_OPERATOR_H

#include "flow_blocks.h"

/* A row of points, each part by itself, so that a processor can take several points at once. Point
 * 0 of the block is at place GHOSTS. */
struct row {
    double state[PARTS][MOST_SIDE + 2 * GHOSTS];
    double flows[PARTS][MOST_SIDE + 2 * GHOSTS];
    double spreads[PARTS][MOST_SIDE + 2 * GHOSTS];
};

/* What flows along the axis at each point and what spreads, from point `from` to `to`. */
static inline void find_flows(struct row *row, int axis, int from, int to) {
    for (int i = from; i <= to; i++) {
        double inverse = 1.0 / row->state[0][i], v[AXES], half_square = 0.0;
        for (int j = 0; j < AXES; j++) {
            v[j] = row->state[j + 1][i] * inverse;
            half_square += 0.5 * v[j] * v[j];
        }
        double energy = row->state[ENERGY][i], along = v[axis];
        double pressure = C2 * (energy - row->state[0][i] * half_square);
        row->flows[0][i] = row->state[axis + 1][i];
        row->spreads[0][i] = DIFFUSION[axis] * row->state[0][i];
        for (int j = 0; j < AXES; j++) {
            row->flows[j + 1][i] = row->state[j + 1][i] * along + (j == axis ? pressure : 0.0);
            row->spreads[j + 1][i] =
                DIFFUSION[axis] * row->state[j + 1][i] + friction(j, axis) * v[j];
        }
        row->flows[ENERGY][i] = (energy + pressure) * along;
        row->spreads[ENERGY][i] = DIFFUSION[axis] * energy + (FRICTION - HEAT) * half_square +
                                  FRICTION / 6.0 * along * along + HEAT * energy * inverse;
    }
}

/* The fourth difference at a point. Next to a wall it has no points to go by on one side. */
static inline double fourth_difference(const double *u, int to_low_wall, int to_high_wall) {
    if (to_low_wall == 1)
        return 5.0 * u[0] - 4.0 * u[1] + u[2];
    if (to_low_wall == 2)
        return -4.0 * u[-1] + 6.0 * u[0] - 4.0 * u[1] + u[2];
    if (to_high_wall == 2)
        return u[-2] - 4.0 * u[-1] + 6.0 * u[0] - 4.0 * u[1];
    if (to_high_wall == 1)
        return u[-2] - 4.0 * u[-1] + 5.0 * u[0];
    return u[-2] - 4.0 * u[-1] + 6.0 * u[0] - 4.0 * u[1] + u[2];
}

/* L of the points of a row from `from` to before `to`, in place of the flows. `offset` is where in
 * the cube place 0 of the row is. */
static inline void find_change(const struct flow *flow, struct row *row, int offset, int from,
                               int to) {
    double per_h2 = 1.0 / (flow->spacing * flow->spacing), per_2h = 0.5 / flow->spacing;
    for (int part = 0; part < PARTS; part++) {
        const double *restrict u = row->state[part], *restrict f = row->flows[part];
        double *restrict g = row->spreads[part], before = g[from - 1];
        double smooth[MOST_SIDE + 2 * GHOSTS];
        for (int i = from; i < to; i++)
            smooth[i] = u[i - 2] - 4.0 * u[i - 1] + 6.0 * u[i] - 4.0 * u[i + 1] + u[i + 2];
        int near_wall[] = {1, 2, flow->side - 3, flow->side - 2};
        for (int j = 0; j < 4; j++) {
            int i = near_wall[j] - offset;
            if (i >= from && i < to)
                smooth[i] = fourth_difference(u + i, near_wall[j], flow->side - 1 - near_wall[j]);
        }
        for (int i = from; i < to; i++) {
            double second = before - 2.0 * g[i] + g[i + 1];
            before = g[i];
            g[i] = per_h2 * second - per_2h * (f[i + 1] - f[i - 1]) - DISSIPATION * smooth[i];
        }
    }
}

/* Add L along one axis for all rows of a block: along x to the force, along y and z to what is
 * there. With z the sum is complete, and is multiplied by `factor`. */
static inline void add_axis(const struct flow *flow, const struct block *block, int axis,
                            double factor) {
    static struct row row;
    int inner = axis == 0 ? 1 : 0, outer = axis == 2 ? 1 : 2;
    int from = inner_from(block, axis) + GHOSTS, to = inner_to(flow, block, axis) + GHOSTS;
    for (int i = inner_from(block, outer); i < inner_to(flow, block, outer); i++)
        for (int j = inner_from(block, inner); j < inner_to(flow, block, inner); j++) {
            long start =
                i * block->stride[outer] + j * block->stride[inner] - GHOSTS * block->stride[axis];
            for (int k = from - 2; k < to + 2; k++)
                for (int part = 0; part < PARTS; part++)
                    row.state[part][k] = block->now[start + k * block->stride[axis]][part];
            find_flows(&row, axis, from - 1, to);
            find_change(flow, &row, block->first[axis] - GHOSTS, from, to);
            for (int k = from; k < to; k++) {
                long at = start + k * block->stride[axis];
                const double *so_far = axis == 0 ? block->force[at] : block->change[at];
                for (int part = 0; part < PARTS; part++) {
                    double sum = so_far[part] + row.spreads[part][k];
                    block->change[at][part] = axis == 2 ? factor * sum : sum;
                }
            }
        }
}

/* The changes of all inner points, multiplied by a factor: 1, or the length of a time step. */
static void find_changes(const struct flow *flow, double factor) {
    exchange_states(flow);
    for (int b = 0; b < flow->blocks; b++) {
        add_axis(flow, &flow->block[b], 0, factor);
        add_axis(flow, &flow->block[b], 1, factor);
        add_axis(flow, &flow->block[b], 2, factor);
    }
}

/* force = - L(exact), then the state that the program starts with. */
static void begin_flow(const struct flow *flow) {
    for (int b = 0; b < flow->blocks; b++) {
        const struct block *block = &flow->block[b];
        size_t before = (size_t)point_at(block, GHOSTS, GHOSTS, GHOSTS);
        memset(block->force - before, 0, block->size * sizeof(state));
    }
    set_states(flow, exact_state);
    find_changes(flow, 1.0);
    for (int b = 0; b < flow->blocks; b++) {
        const struct block *block = &flow->block[b];
        size_t before = (size_t)point_at(block, GHOSTS, GHOSTS, GHOSTS);
        for (size_t i = 0; i < block->size; i++)
            for (int part = 0; part < PARTS; part++)
                (block->force - before)[i][part] = -(block->change - before)[i][part];
    }
    set_states(flow, first_state);
}

#endif
