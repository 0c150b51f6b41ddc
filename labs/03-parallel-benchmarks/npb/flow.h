/* The flow that LU, SP and BT compute: a gas with friction in a cube, in three dimensions.
 *
 * A point has five numbers: density, three of momentum, energy. They change with time by
 *
 *     d state / dt = L(state) - L(exact),   L = - convection + friction - dissipation
 *
 * where `exact` is a polynomial that is published. So it is the steady state, and how far a
 * program is from it can be computed. The three programs differ only in how they get there.
 * LU, SP and BT all have as many points along each axis. */
#ifndef NPB_FLOW_H
#define NPB_FLOW_H

#include "npb.h"

enum { AXES = 3, PARTS = 5, ENERGY = 4 };

/* Published constants: C1 the ratio of the gas's heat capacities, C2 = C1 - 1, FRICTION and HEAT
 * how it rubs and conducts, DISSIPATION what keeps the numbers smooth. */
#define C1 1.4
#define C2 0.4
#define FRICTION 0.1
#define HEAT (C1 * FRICTION * 1.4)
#define DISSIPATION 0.25
static const double DIFFUSION[AXES] = {0.75, 0.75, 1.0};

/* The size of a class, and what is published for it: norms of the residual and of the error. */
struct flow_class {
    int side, steps;
    double time_step;
    double residuals[PARTS], errors[PARTS];
};

/* Friction along the flow is a third stronger. */
static inline double friction(int part, int axis) {
    return part == axis ? 4.0 / 3.0 * FRICTION : FRICTION;
}

/* The steady state at x, y and z between 0 and 1: for each part a constant, then the factors of
 * x, y, z, of their squares, third and fourth powers. */
static void exact_state(double x, double y, double z, double *state) {
    static const double FACTORS[PARTS][13] = {
        {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
        {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
        {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
        {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
        {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
    };
    for (int part = 0; part < PARTS; part++) {
        const double *f = FACTORS[part];
        state[part] = f[0] + x * (f[1] + x * (f[4] + x * (f[7] + x * f[10]))) +
                      y * (f[2] + y * (f[5] + y * (f[8] + y * f[11]))) +
                      z * (f[3] + z * (f[6] + z * (f[9] + z * f[12])));
    }
}

/* Where the programs start. On the walls the state is steady, and stays so. In between, it is what
 * is published: 1 - (1 - a)(1 - b)(1 - c), where a, b and c are the means of opposite walls along
 * x, y and z. */
static void first_state(double x, double y, double z, double *state) {
    const double at[AXES] = {x, y, z}, rounding = 1e-9;
    double others[PARTS] = {1.0, 1.0, 1.0, 1.0, 1.0};
    exact_state(x, y, z, state);
    for (int axis = 0; axis < AXES; axis++) {
        double low[PARTS], high[PARTS], to[AXES] = {x, y, z};
        if (at[axis] < rounding || at[axis] > 1.0 - rounding)
            return;
        to[axis] = 0.0;
        exact_state(to[0], to[1], to[2], low);
        to[axis] = 1.0;
        exact_state(to[0], to[1], to[2], high);
        for (int part = 0; part < PARTS; part++)
            others[part] *= 1.0 - at[axis] * high[part] - (1.0 - at[axis]) * low[part];
    }
    for (int part = 0; part < PARTS; part++)
        state[part] = 1.0 - others[part];
}

/* What follows from the state of a point. */
struct gas {
    double inverse;        /* 1 / density */
    double velocity[AXES]; /* momentum / density */
    double half_square;    /* of the velocity */
    double energy;         /* for each unit of mass */
};

static inline struct gas gas_of(const double *state) {
    struct gas gas = {.inverse = 1.0 / state[0]};
    for (int axis = 0; axis < AXES; axis++) {
        gas.velocity[axis] = gas.inverse * state[axis + 1];
        gas.half_square += 0.5 * gas.velocity[axis] * gas.velocity[axis];
    }
    gas.energy = gas.inverse * state[ENERGY];
    return gas;
}

#endif
