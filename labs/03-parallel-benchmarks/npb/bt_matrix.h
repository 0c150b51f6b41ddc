/* The 5 x 5 matrices of BT, of LANES lines at once: how L at a point changes with the state of a
 * point along an axis. */
#ifndef NPB_BT_MATRIX_H
#define NPB_BT_MATRIX_H

#include "flow_lines.h"

typedef lanes matrix[PARTS][PARTS];

/* The derivative of what flows along an axis. */
static inline void derive_flows(const struct gases *gas, int axis, matrix f) {
    const lanes *v = gas->velocity, along = v[axis];
    lanes enthalpy = C1 * gas->energy - C2 * gas->half_square;
    memset(f, 0, sizeof(matrix));
    f[0][axis + 1] += 1.0;
    for (int j = 0; j < AXES; j++) {
        f[j + 1][0] = -v[j] * along;
        f[ENERGY][j + 1] = -C2 * v[j] * along;
        f[j + 1][j + 1] += along;
        f[j + 1][axis + 1] += v[j];
        f[axis + 1][j + 1] -= C2 * v[j];
    }
    f[axis + 1][0] += C2 * gas->half_square;
    f[axis + 1][ENERGY] += C2;
    f[ENERGY][axis + 1] += enthalpy;
    f[ENERGY][0] = along * (C2 * gas->half_square - enthalpy);
    f[ENERGY][ENERGY] = C1 * along;
}

/* The derivative of what spreads. Most of it is 0. */
static inline void derive_spreads(const struct gases *gas, int axis, matrix g) {
    lanes heat = gas->energy * HEAT;
    memset(g, 0, sizeof(matrix));
    for (int j = 0; j < AXES; j++) {
        lanes rub = gas->inverse * friction(j, axis), v = gas->velocity[j];
        g[j + 1][0] = -rub * v;
        g[j + 1][j + 1] = rub + DIFFUSION[axis];
        g[ENERGY][j + 1] = (rub - gas->inverse * HEAT) * v;
        heat += (friction(j, axis) - HEAT) * v * v;
    }
    g[0][0] += DIFFUSION[axis];
    g[ENERGY][0] = -gas->inverse * heat;
    g[ENERGY][ENERGY] = gas->inverse * HEAT + DIFFUSION[axis];
}

/* A matrix with a vector beside it. */
typedef lanes wide_matrix[PARTS][PARTS + 1];

/* a -= b c, vectors included */
static inline void subtract_product(wide_matrix a, matrix b, wide_matrix c) {
    for (int i = 0; i < PARTS; i++)
        for (int j = 0; j < PARTS + 1; j++)
            a[i][j] -= b[i][0] * c[0][j] + b[i][1] * c[1][j] + b[i][2] * c[2][j] +
                       b[i][3] * c[3][j] + b[i][4] * c[4][j];
}

/* Solve m x = right for a matrix and a vector at once, in place. No pivot is looked for, as it is
 * published: the diagonal is always large enough. */
static inline void solve_matrix(wide_matrix m, wide_matrix right) {
    for (int p = 0; p < PARTS; p++) {
        lanes pivot = 1.0 / m[p][p];
        for (int j = p + 1; j < PARTS; j++)
            m[p][j] *= pivot;
        for (int j = 0; j < PARTS + 1; j++)
            right[p][j] *= pivot;
        for (int i = 0; i < PARTS; i++) {
            if (i == p)
                continue;
            lanes factor = m[i][p];
            for (int j = p + 1; j < PARTS; j++)
                m[i][j] -= factor * m[p][j];
            for (int j = 0; j < PARTS + 1; j++)
                right[i][j] -= factor * right[p][j];
        }
    }
}

#endif
