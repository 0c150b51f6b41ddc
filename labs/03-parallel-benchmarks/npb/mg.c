/* MG, multigrid: how well do messages of all lengths travel, from very long to very short?
 *
 * Poisson's equation is solved on a cube that repeats itself, with ten positive and ten negative
 * charges in it. An iteration is one V-cycle. The residual, what is still wrong, is handed down to
 * coarser and coarser cubes, each with half as many points along an axis; from the coarsest, of 2
 * points along an axis, the correction comes up again, smoothed on each level.
 *
 *     finest   r                                  u += correction, smooth
 *                \ restrict                      /
 *     ...          r                 prolong, residual, smooth
 *                    \              /
 *     coarsest         r --- smooth
 *
 * Each point is computed from itself and its 26 neighbours. So what is sent, after each step on
 * each level, are the faces of every rank's part to its neighbours: 256 KiB on the finest level of
 * class A on four ranks, and a few numbers on the coarsest. The short ones cost as much time as the
 * network needs for any message at all. In all, each rank sends about ninety in an iteration. Every
 * rank has points on every level, and the coarsest has eight in all: so there are at most 8 ranks.
 *
 *     beowulf run -n 4 mg.c S    a cube of 32 points along an axis; W 128, A 256, B 256, C 512
 */
#include "mg_levels.h"
#include "mg_start.h"

static const struct {
    int log_side, iterations;
    double norm;   /* of the last residual */
    double digest; /* of the charges (mg_start.h) */
} CLASSES[] = {
    {5, 4, 0.5307707005734e-4, 17615498},     /* S */
    {7, 4, 0.6467329375339e-5, 892289652},    /* W */
    {8, 4, 0.2433365309069e-5, 10844899109},  /* A */
    {8, 20, 0.1800564401355e-5, 10844899109}, /* B */
    {9, 20, 0.5706732285740e-6, 44038427675}, /* C */
};

/* The published weights of a point, its 6, 12 and 8 neighbours by distance: of the equation, and of
 * the smoother in classes S, W, A and in the others. */
static const double EQUATION[4] = {-8.0 / 3.0, 0.0, 1.0 / 6.0, 1.0 / 12.0};
static const double SMOOTHER[2][4] = {{-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0, 0.0},
                                      {-3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0, 0.0}};

struct multigrid {
    struct box box;
    int finest; /* the levels are numbered from 1 */
    struct level levels[MOST_LEVELS];
    double *charges;
    const double *smoother;
};

/* For each point of a row, the sums of its four nearest neighbours and of its four diagonal ones
 * in the plane across the row. A row with its sums makes 27 points of three additions. */
static inline void sum_across(const struct level *level, const double *row, double *restrict near,
                              double *restrict diagonal) {
    size_t y = level->stride[1], z = level->stride[2];
    const double *below = row - z, *above = row + z;
    for (int i = 0; i < level->points[0] + 2; i++) {
        near[i] = row[i - (long)y] + row[i + (long)y] + below[i] + above[i];
        diagonal[i] =
            below[i - (long)y] + below[i + (long)y] + above[i - (long)y] + above[i + (long)y];
    }
}

static inline size_t row_at(const struct level *level, int y, int z) {
    return (size_t)y * level->stride[1] + (size_t)z * level->stride[2];
}

/* residual = right side - equation(solution) */
static void find_residual(const struct multigrid *grid, const struct level *level,
                          const double *right_side) {
    static double near[MOST_SIDE + 2], diagonal[MOST_SIDE + 2];
    const double *w = EQUATION; /* w[1] is 0 and left out */
    for (int z = 1; z <= level->points[2]; z++)
        for (int y = 1; y <= level->points[1]; y++) {
            const double *u = level->solution + row_at(level, y, z);
            const double *v = right_side + row_at(level, y, z);
            double *r = level->residual + row_at(level, y, z);
            sum_across(level, u, near, diagonal);
#pragma GCC ivdep /* v may be r, but no point is computed from another one of r */
            for (int x = 1; x <= level->points[0]; x++)
                r[x] = v[x] - w[0] * u[x] - w[2] * (diagonal[x] + near[x - 1] + near[x + 1]) -
                       w[3] * (diagonal[x - 1] + diagonal[x + 1]);
            count_work(level->points[0]);
        }
    exchange_ghosts(&grid->box, level, level->residual);
}

/* solution += smoother(residual) */
static void smooth(const struct multigrid *grid, const struct level *level) {
    static double near[MOST_SIDE + 2], diagonal[MOST_SIDE + 2];
    const double *w = grid->smoother; /* w[3] is 0 and left out */
    for (int z = 1; z <= level->points[2]; z++)
        for (int y = 1; y <= level->points[1]; y++) {
            double *restrict u = level->solution + row_at(level, y, z);
            const double *restrict r = level->residual + row_at(level, y, z);
            sum_across(level, r, near, diagonal);
            for (int x = 1; x <= level->points[0]; x++)
                u[x] += w[0] * r[x] + w[1] * (r[x - 1] + r[x + 1] + near[x]) +
                        w[2] * (diagonal[x] + near[x - 1] + near[x + 1]);
            count_work(level->points[0]);
        }
    exchange_ghosts(&grid->box, level, level->solution);
}

/* The residual of the next coarser level: each of its points is an average of 27. Coarse point i
 * lies on fine point 2i. */
static void restrict_residual(const struct multigrid *grid, const struct level *fine,
                              const struct level *coarse) {
    static double near[MOST_SIDE + 2], diagonal[MOST_SIDE + 2];
    for (int z = 1; z <= coarse->points[2]; z++)
        for (int y = 1; y <= coarse->points[1]; y++) {
            const double *r = fine->residual + row_at(fine, 2 * y, 2 * z);
            double *restrict s = coarse->residual + row_at(coarse, y, z);
            sum_across(fine, r, near, diagonal);
            for (int x = 1, i = 2; x <= coarse->points[0]; x++, i += 2)
                s[x] = 0.5 * r[i] + 0.25 * (r[i - 1] + r[i + 1] + near[i]) +
                       0.125 * (near[i - 1] + near[i + 1] + diagonal[i]) +
                       0.0625 * (diagonal[i - 1] + diagonal[i + 1]);
        }
    exchange_ghosts(&grid->box, coarse, coarse->residual);
}

/* Add a coarse row to a fine one; a fine point between two coarse ones gets the half of each. */
static inline void add_row(double *restrict fine, const double *restrict coarse, double weight,
                           int points) {
    for (int i = 0; i <= points; i++) {
        fine[2 * i] += weight * coarse[i];
        fine[2 * i + 1] += 0.5 * weight * (coarse[i] + coarse[i + 1]);
    }
}

/* solution of the finer level += solution of the coarser one, at the ghosts as well: nothing needs
 * to be sent. A fine row has one, two or four coarse rows around it. */
static void prolong(const struct level *coarse, const struct level *fine) {
    static double sums[3][MOST_SIDE + 2];
    int points = coarse->points[0];
    for (int z = 0; z <= coarse->points[2]; z++)
        for (int y = 0; y <= coarse->points[1]; y++) {
            const double *row = coarse->solution + row_at(coarse, y, z);
            const double *next_y = row + coarse->stride[1], *next_z = row + coarse->stride[2];
            const double *next_both = next_z + coarse->stride[1];
            for (int i = 0; i < points + 2; i++) {
                sums[0][i] = row[i] + next_y[i];
                sums[1][i] = row[i] + next_z[i];
                sums[2][i] = sums[0][i] + next_z[i] + next_both[i];
            }
            double *to = fine->solution + row_at(fine, 2 * y, 2 * z);
            add_row(to, row, 1.0, points);
            add_row(to + fine->stride[1], sums[0], 0.5, points);
            add_row(to + fine->stride[2], sums[1], 0.5, points);
            add_row(to + fine->stride[1] + fine->stride[2], sums[2], 0.25, points);
        }
}

static void v_cycle(const struct multigrid *grid) {
    const struct level *levels = grid->levels;
    for (int k = grid->finest; k > 1; k--)
        restrict_residual(grid, &levels[k], &levels[k - 1]);
    for (int k = 1; k <= grid->finest; k++) {
        const struct level *level = &levels[k];
        if (k < grid->finest)
            memset(level->solution, 0, level->size * sizeof(double));
        if (k > 1) {
            prolong(&levels[k - 1], level);
            find_residual(grid, level, k < grid->finest ? level->residual : grid->charges);
        }
        smooth(grid, level);
    }
}

/* The root of the mean square of the finest residual, over all ranks. */
static double residual_norm(const struct multigrid *grid) {
    const struct level *level = &grid->levels[grid->finest];
    double sum = 0.0, all;
    for (int z = 1; z <= level->points[2]; z++)
        for (int y = 1; y <= level->points[1]; y++) {
            const double *r = level->residual + row_at(level, y, z);
            for (int x = 1; x <= level->points[0]; x++)
                sum += r[x] * r[x];
        }
    check(MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return sqrt(all / pow(level->side, 3));
}

/* What is timed. */
static double iterate(const struct multigrid *grid, int iterations) {
    const struct level *level = &grid->levels[grid->finest];
    memset(level->solution, 0, level->size * sizeof(double));
    find_residual(grid, level, grid->charges);
    residual_norm(grid);
    for (int i = 0; i < iterations; i++) {
        v_cycle(grid);
        find_residual(grid, level, grid->charges);
    }
    return residual_norm(grid);
}

static struct multigrid prepare(const struct npb *npb) {
    if (all_ranks() > 8)
        refuse("MG takes 1, 2, 4 or 8 ranks, not %d: the coarsest cube has a point for 8 of them.",
               all_ranks());
    double points = ldexp(1.0, 3 * CLASSES[npb->place].log_side);
    refuse_unless_it_fits(npb, 8.0 * points * 3.5);
    struct multigrid grid = {.box = make_box(), .finest = CLASSES[npb->place].log_side};
    for (int k = 1; k <= grid.finest; k++)
        grid.levels[k] = make_level(&grid.box, 1 << k);
    const struct level *finest = &grid.levels[grid.finest];
    grid.charges = memory_for(finest->size, sizeof(double));
    grid.smoother = SMOOTHER[npb->class == 'B' || npb->class == 'C'];
    place_charges(&grid.box, finest, (uint64_t)npb->seed, grid.charges);
    return grid;
}

/* What iterate() has to compute: a residual on the finest level before the first V-cycle and after
 * each, and in each a residual on all levels but the coarsest and a smoothing on all. */
static double work_of(int finest, int iterations) {
    double all_levels = 0.0, finest_points = ldexp(1.0, 3 * finest), coarsest_points = 8.0;
    for (int k = 1; k <= finest; k++)
        all_levels += ldexp(1.0, 3 * k);
    return finest_points * (iterations + 1) + iterations * (2.0 * all_levels - coarsest_points);
}

int main(int argc, char **argv) {
    struct npb npb = begin_npb("MG", "SWABC", 314159265, &argc, &argv);
    refuse_unless_power_of_two(&npb);
    struct multigrid grid = prepare(&npb);
    int side = 1 << grid.finest, iterations = CLASSES[npb.place].iterations;
    char size[96];
    snprintf(size, sizeof size, "%d x %d x %d points, %d iterations, a box of %d x %d x %d ranks",
             side, side, side, iterations, grid.box.ranks[0], grid.box.ranks[1], grid.box.ranks[2]);
    write_about(&npb, size);

    iterate(&grid, 1); /* a warm-up */
    double began = begin_timing();
    double norm = iterate(&grid, iterations);
    struct timed timed = end_timing(began);

    double digest = digest_of(&grid.box, &grid.levels[grid.finest], grid.charges);
    verify_value(&npb, "residual_norm", norm, CLASSES[npb.place].norm, 1e-8);
    verify_as(&npb, "computed from the specification by another program", "digest_of_charges",
              &digest, &CLASSES[npb.place].digest, 1, 0.0);
    return end_npb(&npb, timed, 58.0 * iterations * pow(side, 3),
                   "points smoothed or with a new residual", work_of(grid.finest, iterations));
}
