/* The surface integral by which LU is verified: the pressure on a box somewhat smaller than the
 * cube, by the trapezoidal rule. */
#ifndef NPB_LU_SURFACE_H
#define NPB_LU_SURFACE_H

#include "flow_blocks.h"

/* The pressure of a point. */
static double pressure_at(const struct block *block, const int *place) {
    const double *state = block->now[point_at(block, place[0], place[1], place[2])];
    return C2 * (state[ENERGY] - state[0] * gas_of(state).half_square);
}

/* What one rank has of the integral over the two faces at right angles to an axis. The box is from
 * low[] to high[] in the cube. A point counts for each of the squares of points that it is a corner
 * of: 4, or 2 on an edge of the box, or 1 in its corners. */
static double integrate_faces(const struct block *block, int axis, const int *low,
                              const int *high) {
    int inner = axis == 0 ? 1 : 0, outer = axis == 2 ? 1 : 2, place[AXES];
    int ends[2] = {low[axis], high[axis]};
    double sum = 0.0;
    for (int end = 0; end < 2; end++) {
        place[axis] = ends[end] - block->first[axis];
        if (place[axis] < 0 || place[axis] >= block->count[axis])
            continue;
        for (int i = 0; i < block->count[outer]; i++)
            for (int j = 0; j < block->count[inner]; j++) {
                int a = i + block->first[outer], b = j + block->first[inner];
                if (a < low[outer] || a > high[outer] || b < low[inner] || b > high[inner])
                    continue;
                int squares = (a == low[outer] || a == high[outer] ? 1 : 2) *
                              (b == low[inner] || b == high[inner] ? 1 : 2);
                place[outer] = i;
                place[inner] = j;
                sum += squares * pressure_at(block, place);
            }
    }
    return sum;
}

/* The published box, counted from 0. */
static double surface_integral(const struct flow *flow) {
    int low[AXES] = {1, 1, 2};
    int high[AXES] = {flow->side - 2, flow->side - 3, flow->side - 2};
    double sum = 0.0, all;
    for (int axis = 0; axis < AXES; axis++)
        sum += integrate_faces(&flow->block[0], axis, low, high);
    check(MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return 0.25 * flow->spacing * flow->spacing * all;
}

#endif
