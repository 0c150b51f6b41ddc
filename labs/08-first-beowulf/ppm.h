/* The piecewise-parabolic method (PPM) for one line of zones: a row or a column of the grid.
 *
 * P. Colella and P. R. Woodward, J. Comput. Phys. 54 (1984) 174, called CW here. Of that paper
 * this file has the parabolas with their limits, the flattening at shocks, the tracing of
 * characteristics and the two-shock Riemann solver. It has neither the steepening of contact
 * discontinuities nor the artificial viscosity.
 *
 * A new zone needs four old ones on each side (nine points): the flux through a face needs the
 * parabolas of the two zones next to it, and the flattening of a parabola looks at three zones on
 * each side. So a line has GHOSTS zones more at each end.
 *
 * Each formula gives the same bits for a line and for its mirror image. */
#ifndef PPM_H
#define PPM_H

#include <math.h>

enum { GHOSTS = 4, LONGEST = 4000 + 2 * GHOSTS, RIEMANN_ROUNDS = 3 };

/* What a zone holds. Conserved, per volume: */
enum { MASS, MOMENTUM, MOMENTUM_ACROSS, ENERGY, QUANTITIES };
/* The same gas in other words ("primitive"), in the same order: */
enum { DENSITY, SPEED, SPEED_ACROSS, PRESSURE };

static const double GAMMA = 1.4; /* the gas is air */

/* The floating-point operations for a zone, counted in the source below: each +, -, *, / and sqrt is
 * one; comparisons, least() and most() are none, nor is what only constants are in. Of branches, the
 * one of smooth gas that is slower than sound and expands. tests/count_flops.cpp counts again, by
 * running it. */
enum {
    PRIMITIVE_FLOPS = 12,              /* find_primitives() */
    SHOCK_FLOPS = 4,                   /* find_shocks() */
    PARABOLA_FLOPS = 4 * (6 + 5 + 15), /* make_parabolas(): slopes, faces, limits */
    TRACE_FLOPS = 84 + 54, /* trace() to the face that the gas flows to, and to the other */
    RIEMANN_FLOPS = 16 + RIEMANN_ROUNDS * 27 + 16 + 22, /* solve_riemann() */
    FLUX_FLOPS = 13,                                    /* find_flux() */
    UPDATE_FLOPS = 4 * 3,                               /* sweep_line() */
    SWEEP_FLOPS = PRIMITIVE_FLOPS + SHOCK_FLOPS + PARABOLA_FLOPS + TRACE_FLOPS + RIEMANN_FLOPS +
        FLUX_FLOPS + UPDATE_FLOPS,
    WAVE_FLOPS = 13,                          /* fastest_wave() of gas.h */
    ZONE_FLOPS = 2 * SWEEP_FLOPS + WAVE_FLOPS /* a step: a sweep along x and one along y */
};

struct line {
    int zones;                                       /* without ghosts */
    double conserved[QUANTITIES][LONGEST];           /* comes in, and goes out advanced */
    double gas[QUANTITIES][LONGEST], sound[LONGEST]; /* primitive, and the speed of sound */
    double shock[LONGEST];                           /* 0: smooth, 1: in a shock */
    double left[QUANTITIES][LONGEST];                /* the parabola at a zone's left face */
    double right[QUANTITIES][LONGEST];               /* and at its right face */
    double slope[LONGEST], face[LONGEST];            /* face i is between zones i and i + 1 */
    double flux[QUANTITIES][LONGEST];                /* through face i */
};

static inline double least(double a, double b) { return a < b ? a : b; }
static inline double most(double a, double b) { return a > b ? a : b; }

static inline void primitives_of(double mass, double momentum, double across, double energy,
                                 double gas[QUANTITIES]) {
    gas[DENSITY] = mass;
    gas[SPEED] = momentum / mass;
    gas[SPEED_ACROSS] = across / mass;
    gas[PRESSURE] = (GAMMA - 1.0) * (energy - 0.5 * (momentum * momentum + across * across) / mass);
}

static inline int is_gas(const double gas[QUANTITIES]) {
    return gas[DENSITY] > 0.0 && gas[PRESSURE] > 0.0 && gas[PRESSURE] < INFINITY;
}

/* Gives the first zone that is no gas: not a number, or a pressure or a density below zero. Gives
 * -1 when there is none. */
static inline int find_primitives(struct line *line) {
    int bad = -1;
    for (int i = line->zones + 2 * GHOSTS - 1; i >= 0; i--) {
        double gas[QUANTITIES];
        primitives_of(line->conserved[MASS][i], line->conserved[MOMENTUM][i],
                      line->conserved[MOMENTUM_ACROSS][i], line->conserved[ENERGY][i], gas);
        for (int k = 0; k < QUANTITIES; k++)
            line->gas[k][i] = gas[k];
        line->sound[i] = sqrt(GAMMA * gas[PRESSURE] / gas[DENSITY]);
        if (!is_gas(gas))
            bad = i;
    }
    return bad;
}

/* How much of a shock zone i is in (CW, eq. A.1): the pressure jumps, within few zones, and the gas
 * is compressed. */
static inline double shock_at(const struct line *line, int i) {
    const double *p = line->gas[PRESSURE], *u = line->gas[SPEED];
    double jump = p[i + 1] - p[i - 1], wide = p[i + 2] - p[i - 2];
    int strong = fabs(jump) > 0.33 * least(p[i + 1], p[i - 1]) && u[i - 1] > u[i + 1];
    if (!strong || wide == 0.0)
        return 0.0;
    return most(0.0, least(1.0, 10.0 * (jump / wide - 0.75)));
}

/* A parabola in a shock is flattened, and one just ahead of it as much (CW, eq. A.2). */
static inline void find_shocks(struct line *line) {
    int all = line->zones + 2 * GHOSTS;
    const double *p = line->gas[PRESSURE];
    double *here = line->face; /* free until parabolas are made */
    for (int i = 2; i < all - 2; i++)
        here[i] = shock_at(line, i);
    for (int i = 3; i < all - 3; i++) {
        double jump = p[i + 1] - p[i - 1];
        double ahead = jump < 0.0 ? here[i + 1] : jump > 0.0 ? here[i - 1] : here[i];
        line->shock[i] = most(here[i], ahead);
    }
}

/* The parabola of quantity k in each zone: its values at both faces (CW, eq. 1.6 to 1.10). */
static inline void make_parabolas(struct line *line, int k) {
    int all = line->zones + 2 * GHOSTS;
    const double *a = line->gas[k];
    double *slope = line->slope, *face = line->face;
    for (int i = 2; i < all - 2; i++) {
        double before = a[i] - a[i - 1], after = a[i + 1] - a[i];
        double steepest = 2.0 * least(fabs(before), fabs(after));
        double mean = 0.5 * (before + after), size = least(fabs(mean), steepest);
        slope[i] = before * after > 0.0 ? copysign(size, mean) : 0.0;
    }
    for (int i = 2; i < all - 3; i++)
        face[i] = 0.5 * (a[i] + a[i + 1]) - (slope[i + 1] - slope[i]) * (1.0 / 6.0);
    for (int i = 3; i < all - 3; i++) {
        double flat = line->shock[i], l = face[i - 1], r = face[i];
        if ((r - a[i]) * (a[i] - l) <= 0.0) {
            l = r = a[i]; /* no new maximum or minimum */
        } else {          /* nor one inside of the zone */
            double lowest = 3.0 * a[i] - 2.0 * r, highest = 3.0 * a[i] - 2.0 * l;
            int rises = r > l;
            l = rises ? most(l, lowest) : least(l, lowest);
            r = rises ? least(r, highest) : most(r, highest);
        }
        line->left[k][i] = l + flat * (a[i] - l);
        line->right[k][i] = r + flat * (a[i] - r);
    }
}

/* The mean of a parabola over the part of its zone that is within `reach` zones of an edge. */
static inline double mean_near(double edge, double opposite, double mean, double reach) {
    double bend = 6.0 * mean - 3.0 * (edge + opposite);
    return edge - 0.5 * reach * ((edge - opposite) - (1.0 - 2.0 / 3.0 * reach) * bend);
}

/* The gas of zone i that arrives at one of its faces during a step (CW, eq. 3.5 to 3.7): the right
 * one for `sign` 1, the left one for -1. `ratio` is the step's time by the width of a zone. Three
 * kinds of waves arrive, each with its own speed, and so from its own part of the zone. */
static inline void trace(const struct line *line, int i, double sign, double ratio,
                         double state[QUANTITIES]) {
    const double (*edges)[LONGEST] = sign > 0.0 ? line->right : line->left;
    const double (*opposites)[LONGEST] = sign > 0.0 ? line->left : line->right;
    double outward = sign * line->gas[SPEED][i], c = line->sound[i];
    double fast = ratio * most(outward + c, 0.0), slow = ratio * most(outward - c, 0.0);
    double middle = ratio * most(outward, 0.0);
#define MEAN(k, reach) mean_near(edges[k][i], opposites[k][i], line->gas[k][i], reach)
    double density = MEAN(DENSITY, fast), speed = MEAN(SPEED, fast), p = MEAN(PRESSURE, fast);
    state[SPEED_ACROSS] = MEAN(SPEED_ACROSS, middle);
    if (outward > 0.0) {
        double lag = (density - MEAN(DENSITY, middle)) - (p - MEAN(PRESSURE, middle)) / (c * c);
        if (outward > c) {
            double weight = line->gas[DENSITY][i] * c * sign;
            double wave =
                ((p - MEAN(PRESSURE, slow)) - weight * (speed - MEAN(SPEED, slow))) / (2.0 * c * c);
            density -= wave;
            speed += sign * wave * c / line->gas[DENSITY][i];
            p -= wave * c * c;
        }
        density -= lag;
    }
#undef MEAN
    state[DENSITY] = density, state[SPEED] = speed, state[PRESSURE] = p;
    if (!is_gas(state)) /* too steep a change for a parabola */
        for (int k = 0; k < QUANTITIES; k++)
            state[k] = line->gas[k][i];
}

/* The gas at a face, between a left and a right state (CW, section 3; both waves are taken for
 * shocks): first the pressure and the speed between the two waves, then where the face is. */
static inline void solve_riemann(const double l[QUANTITIES], const double r[QUANTITIES],
                                 double face[QUANTITIES]) {
    double left2 = GAMMA * l[PRESSURE] * l[DENSITY], right2 = GAMMA * r[PRESSURE] * r[DENSITY];
    double wl = sqrt(left2), wr = sqrt(right2), ul, ur;
    double p =
        ((wr * l[PRESSURE] + wl * r[PRESSURE]) + wl * wr * (l[SPEED] - r[SPEED])) / (wl + wr);
    double lowest = 1e-6 * least(l[PRESSURE], r[PRESSURE]);
    for (int round = 0;; round++) {
        p = most(p, lowest);
        double wl2 = left2 + 0.5 * (GAMMA + 1.0) * l[DENSITY] * (p - l[PRESSURE]);
        double wr2 = right2 + 0.5 * (GAMMA + 1.0) * r[DENSITY] * (p - r[PRESSURE]);
        wl = sqrt(wl2), wr = sqrt(wr2);
        ul = l[SPEED] - (p - l[PRESSURE]) / wl;
        ur = r[SPEED] + (p - r[PRESSURE]) / wr;
        if (round == RIEMANN_ROUNDS)
            break;
        p -= 2.0 * (ur - ul) / ((wl2 + left2) / (wl2 * wl) + (wr2 + right2) / (wr2 * wr));
    }
    /* From the side that the gas comes from: `outward` is towards the face. */
    double speed = 0.5 * (ul + ur), sign = speed > 0.0 ? 1.0 : -1.0;
    const double *side = speed > 0.0 ? l : r;
    double wave = speed > 0.0 ? wl : wr, c = sqrt((speed > 0.0 ? left2 : right2)) / side[DENSITY];
    double density = 1.0 / (1.0 / side[DENSITY] - (p - side[PRESSURE]) / (wave * wave));
    double outward = sign * side[SPEED], head = outward - wave / side[DENSITY], tail = head;
    if (p < side[PRESSURE]) {
        head = outward - c;
        tail = sign * speed - sqrt(GAMMA * p / density);
    }
    double part = head >= 0.0 ? 1.0 : tail <= 0.0 ? 0.0 : tail / (tail - head);
    face[DENSITY] = density + part * (side[DENSITY] - density);
    face[SPEED] = speed + part * (side[SPEED] - speed);
    face[SPEED_ACROSS] = side[SPEED_ACROSS];
    face[PRESSURE] = p + part * (side[PRESSURE] - p);
}

static inline void find_flux(struct line *line, int i, const double face[QUANTITIES]) {
    double speed = face[SPEED], across = face[SPEED_ACROSS], mass = face[DENSITY] * speed;
    double heat = face[PRESSURE] / (GAMMA - 1.0);
    double energy = heat + 0.5 * face[DENSITY] * (speed * speed + across * across);
    line->flux[MASS][i] = mass;
    line->flux[MOMENTUM][i] = mass * speed + face[PRESSURE];
    line->flux[MOMENTUM_ACROSS][i] = mass * across;
    line->flux[ENERGY][i] = speed * (energy + face[PRESSURE]);
}

/* Advance the zones of a line, but not its ghosts, by a time of `ratio` zone widths. Gives -1, or
 * the place of a zone that is no gas. */
static inline int sweep_line(struct line *line, double ratio) {
    int first = GHOSTS, end = GHOSTS + line->zones, bad = find_primitives(line);
    if (bad >= 0)
        return bad;
    find_shocks(line);
    for (int k = 0; k < QUANTITIES; k++)
        make_parabolas(line, k);
    for (int i = first - 1; i < end; i++) {
        double l[QUANTITIES], r[QUANTITIES], face[QUANTITIES];
        trace(line, i, 1.0, ratio, l);
        trace(line, i + 1, -1.0, ratio, r);
        solve_riemann(l, r, face);
        find_flux(line, i, face);
    }
    for (int k = 0; k < QUANTITIES; k++)
        for (int i = first; i < end; i++)
            line->conserved[k][i] += ratio * (line->flux[k][i - 1] - line->flux[k][i]);
    return -1;
}

#endif
