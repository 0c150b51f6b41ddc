/* The problems: how the gas is at the beginning, what is around it, and the exact solution where
 * there is one. Nothing of MPI and of tiles is here. */
#ifndef PROBLEMS_H
#define PROBLEMS_H

#include "ppm.h"
#include <stdint.h>
#include <string.h>

enum around { PERIODIC, OPEN, WALLS };
enum { POINTS = 64 }; /* of the exact solution, in a zone */

/* A grid of square zones. */
struct grid {
    long columns, rows;
    double width; /* of a zone */
};

struct problem {
    const char *name;
    enum around around_x, around_y;
    double end; /* the time at which it ends */
    int by_rows;
    /* The means of zone (column, row) at the beginning. For problems with a moving exact solution,
     * `time` is another time, and only the density is looked at. */
    void (*state)(const struct grid *grid, long column, long row, double time,
                  double gas[QUANTITIES]);
    int is_exact;
};

static inline double square(double x) { return x * x; }

/* --- Sod's tube: two gases at rest, and the wall between them is taken away (Sod 1978) --- */

static const double SOD_LEFT[] = {1.0, 0.0, 0.0, 1.0}, SOD_RIGHT[] = {0.125, 0.0, 0.0, 0.1};

/* Both waves, an expansion on the left and a shock on the right, give the gas the same speed when
 * this pressure is between them. */
static const double SOD_BETWEEN = 0.30313017805064682;

/* The density at place / time, where the wall was at 0. */
static inline double sod_density(double speed) {
    double p = SOD_BETWEEN, c = sqrt(GAMMA), up = p / SOD_RIGHT[PRESSURE];
    double u = 2.0 * c / (GAMMA - 1.0) * (1.0 - pow(p, (GAMMA - 1.0) / (2.0 * GAMMA)));
    double density = pow(p, 1.0 / GAMMA), tail = u - sqrt(GAMMA * p / density);
    double g = (GAMMA - 1.0) / (GAMMA + 1.0);
    double behind = SOD_RIGHT[DENSITY] * (up + g) / (g * up + 1.0);
    double shock = u / (1.0 - SOD_RIGHT[DENSITY] / behind);
    if (speed < -c)
        return SOD_LEFT[DENSITY];
    if (speed < tail)
        return pow((1.0 - g) - g * speed / c, 2.0 / (GAMMA - 1.0));
    return speed < u ? density : speed < shock ? behind : SOD_RIGHT[DENSITY];
}

static inline void sod(long zones, long zone, double time, double gas[QUANTITIES]) {
    memcpy(gas, 2 * zone < zones ? SOD_LEFT : SOD_RIGHT, sizeof SOD_LEFT);
    double sum = 0.0;
    for (int i = 0; i < POINTS && time > 0.0; i++) {
        double place = ((double)zone + (i + 0.5) / POINTS) / (double)zones - 0.5;
        sum += sod_density(place / time);
    }
    if (time > 0.0)
        gas[DENSITY] = sum / POINTS;
}

static inline void sod_x(const struct grid *grid, long column, long row, double time,
                         double gas[QUANTITIES]) {
    (void)row;
    sod(grid->columns, column, time, gas);
}

static inline void sod_y(const struct grid *grid, long column, long row, double time,
                         double gas[QUANTITIES]) {
    (void)column;
    sod(grid->rows, row, time, gas);
}

/* --- A wave of density that the gas carries with it, back to its place at time 1. PPM lets no new
 * maximum arise, and for that flattens the parabola at each maximum and minimum a little in each step.
 * That costs more than all else here: the error falls with an order of 2.3 to 2.5, without that limit
 * with 3.1 --- */

static inline void smooth(const struct grid *grid, long column, long row, double time,
                          double gas[QUANTITIES]) {
    const double pi = 3.14159265358979323846;
    double across = pi / (double)grid->columns, up = pi / (double)grid->rows;
    double mean = sin(across) / across * sin(up) / up; /* of a wave, in a zone */
    double angle = (2.0 * (double)column + 1.0) * across + (2.0 * (double)row + 1.0) * up;
    gas[DENSITY] = 1.0 + 0.2 * mean * sin(angle - 4.0 * pi * time);
    gas[SPEED] = 1.0;
    gas[SPEED_ACROSS] = (double)grid->rows * grid->width;
    gas[PRESSURE] = 1.0;
}

/* --- A smooth ramp between two densities, which the gas carries with it: nowhere a maximum --- */

static inline double log_cosh(double x) { return fabs(x) + log1p(exp(-2.0 * fabs(x))); }

static inline void ramp(const struct grid *grid, long column, long row, double time,
                        double gas[QUANTITIES]) {
    (void)row;
    const double steep = 25.0;
    double left = steep * ((double)column * grid->width - 0.35 - time);
    double right = left + steep * grid->width;
    double mean = (log_cosh(right) - log_cosh(left)) / (right - left); /* of tanh, in a zone */
    gas[DENSITY] = 1.0 + 0.2 * mean, gas[SPEED] = 1.0, gas[SPEED_ACROSS] = 0.0, gas[PRESSURE] = 1.0;
}

/* --- High pressure in a circle in the middle. Counting from the middle, a zone and its mirror
 * image have the same place to the last bit --- */

static inline void blast(const struct grid *grid, long column, long row, double time,
                         double gas[QUANTITIES]) {
    (void)time;
    double x = 0.5 * (double)(2 * column + 1 - grid->columns) * grid->width;
    double y = 0.5 * (double)(2 * row + 1 - grid->rows) * grid->width;
    gas[DENSITY] = 1.0, gas[SPEED] = gas[SPEED_ACROSS] = 0.0;
    gas[PRESSURE] = square(x) + square(y) < square(0.1) ? 10.0 : 0.1;
}

/* --- Low pressure in a corner between walls: shocks run into it and are thrown back
 * (Liska and Wendroff 2003) --- */

static inline void implode(const struct grid *grid, long column, long row, double time,
                           double gas[QUANTITIES]) {
    (void)time;
    int inside = 2 * (column + row + 1) < grid->columns;
    gas[DENSITY] = inside ? 0.125 : 1.0, gas[SPEED] = gas[SPEED_ACROSS] = 0.0;
    gas[PRESSURE] = inside ? 0.14 : 1.0;
}

static const struct problem PROBLEMS[] = {
    {"sod-x", OPEN, PERIODIC, 0.2, 0, sod_x, 1},
    {"sod-y", PERIODIC, OPEN, 0.2, 1, sod_y, 1},
    {"smooth", PERIODIC, PERIODIC, 1.0, 0, smooth, 1},
    {"ramp", OPEN, PERIODIC, 0.3, 0, ramp, 1},
    {"blast", PERIODIC, PERIODIC, 0.2, 0, blast, 0},
    {"implode", WALLS, WALLS, 1.0, 0, implode, 0},
};
static const char *const PROBLEM_NAMES[] = {"sod-x", "sod-y",   "smooth", "ramp",
                                            "blast", "implode", NULL};

static inline struct grid make_grid(const struct problem *problem, long columns, long rows) {
    return (struct grid){columns, rows, 1.0 / (double)(problem->by_rows ? rows : columns)};
}

/* The conserved quantities of a zone at the beginning. MOMENTUM is along x here. */
static inline void begin_zone(const struct problem *problem, const struct grid *grid, long column,
                              long row, double conserved[QUANTITIES]) {
    double gas[QUANTITIES];
    problem->state(grid, column, row, 0.0, gas);
    conserved[MASS] = gas[DENSITY];
    conserved[MOMENTUM] = gas[DENSITY] * gas[SPEED];
    conserved[MOMENTUM_ACROSS] = gas[DENSITY] * gas[SPEED_ACROSS];
    conserved[ENERGY] = gas[PRESSURE] / (GAMMA - 1.0) +
                        0.5 * gas[DENSITY] * (square(gas[SPEED]) + square(gas[SPEED_ACROSS]));
}

/* A number that all bits of a zone change. Those of all zones, in any order, are put together by
 * exclusive or. */
static inline uint64_t zone_bits(const struct grid *grid, long column, long row, int k,
                                 double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t place = (uint64_t)((row * grid->columns + column) * QUANTITIES + k);
    bits ^= (place + 1) * 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return bits ^ (bits >> 31);
}

#endif
