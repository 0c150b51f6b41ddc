/* Runs the gas on tiles, with the exchange_ghosts of gas.c, and measures it. This file need not be
 * changed. The solver is in ppm.h, the tiles are in tiles.h, the problems in problems.h; gas_sums.h,
 * gas_lines.h and gas_check.h have results and checks.
 *
 *     mpiexec -n 4 ./gas --problem blast --tiles 4,4
 *
 * --problem blast   sod-x, sod-y, smooth, ramp, blast or implode (problems.h)
 * --tiles 4,4       how many along x and y; the ranks share them equally
 * --side 30         zones along a side of a tile
 * --cfl 0.8         how many zones the fastest wave may pass in a step
 * --until 0.2       the time at which it ends (otherwise the problem's own)
 * --steps 100       at most so many steps
 * --passes 3        how many times all of it is done, and measured
 * --zone-us 189     each computed zone also waits so many us: on simulated computers, where
 *                   computing takes no time. 189 is a processor of 4.5 MFLOPS, as the paper's
 * --image FILE      writes the density at the end: a NumPy array (image, row, column)
 * --every 20        and also after each 20 steps
 * --check           tries only exchange_ghosts, on numbers that say where they are from
 * --lines           results as lines of JSON */
#ifndef GAS_H
#define GAS_H

#include "measure.h" /* it comes first */

#include "gas_lines.h"
#include "gas_sums.h"
#include "tiles.h"
#include <signal.h>

typedef void (*exchange_function)(struct tiles *tiles);

struct run {
    double cfl, until, zone_us;
    long steps, every;
    int is_drawn;
    FILE *image; /* on rank 0 */
};

/* --- a step --- */

/* A zone holds what no gas can be: report which zone, of which rank, and a likely reason. */
static inline _Noreturn void no_gas(const struct tiles *tiles, const struct tile *tile, long row,
                                    long column) {
    double gas[QUANTITIES], zone[QUANTITIES];
    for (int k = 0; k < QUANTITIES; k++)
        zone[k] = *zone_of(tiles, tile, k, row, column);
    primitives_of(zone[0], zone[1], zone[2], zone[3], gas);
    int down = row < GHOSTS ? -1 : row >= GHOSTS + tiles->side;
    int across = column < GHOSTS ? -1 : column >= GHOSTS + tiles->side;
    int direction = MIDDLE + 3 * down + across, ghost = direction != MIDDLE;
    const char *what = gas[DENSITY] <= 0.0    ? "has no density, or a negative one"
                       : isnan(gas[PRESSURE]) ? "is not a number"
                       : gas[PRESSURE] < 0.0  ? "has a negative pressure"
                       : gas[PRESSURE] == 0.0 ? "has no pressure"
                                              : "has an infinite pressure";
    long rows = tiles->grid.rows, columns = tiles->grid.columns;
    long grid_row = (tile->row * tiles->side + row - GHOSTS + rows) % rows;
    long grid_column = (tile->column * tiles->side + column - GHOSTS + columns) % columns;
    char hint[100] = ". Try a smaller --cfl.";
    if (ghost && is_elsewhere(tiles, tile, direction))
        snprintf(hint, sizeof hint,
                 ", a ghost zone that rank %d has: see what exchange_ghosts puts there.",
                 owner(tiles, neighbour(tiles, tile, direction)));
    else if (tiles->borders > 0)
        snprintf(hint, sizeof hint,
                 ". Try exchange_ghosts with --check; if that is right, a smaller --cfl.");
    fprintf(stderr,
            "wrong gas: rank %d, step %ld: zone (row %ld, column %ld) %s: density %g, pressure %g. "
            "It is in tile %ld%s\n",
            my_rank(), tiles->step, grid_row, grid_column, what, gas[DENSITY], gas[PRESSURE],
            tile->number, hint);
    give_up(3);
    exit(3);
}

/* Which lines of a tile a sweep advances: `from` to `to` - 1, rows along x or columns along y. Ghosts
 * are among them in those directions in which another rank has them. */
struct lines {
    long from, to;
};

static inline struct lines lines_of(const struct tiles *tiles, long i, int before, int behind) {
    const struct tile *tile = &tiles->tile[i];
    long end = GHOSTS + tiles->side;
    return (struct lines){is_elsewhere(tiles, tile, before) ? 0 : GHOSTS,
                          is_elsewhere(tiles, tile, behind) ? end + GHOSTS : end};
}

static inline long tiles_apart(const struct tiles *tiles, int is_y) {
    return is_y ? tiles->columns : 1;
}

/* Whether this rank has the tile behind tile i as well, along an axis, and the sweep advances the same
 * lines of both. */
static inline int goes_on(const struct tiles *tiles, long i, int is_y, int before, int behind) {
    long next = i + tiles_apart(tiles, is_y);
    if (i < 0 || next >= tiles->count || (!is_y && tiles->tile[next].column == 0))
        return 0;
    struct lines these = lines_of(tiles, i, before, behind);
    struct lines those = lines_of(tiles, next, before, behind);
    return these.from == those.from && these.to == those.to;
}

/* Copy zones `from` to `to` - 1 along line i of a tile to `line`, where they begin at `place`; or back. */
static inline void copy_line(const struct tiles *tiles, const struct tile *tile, int is_y, long i,
                             long from, long to, struct line *line, long place, enum way way) {
    const int order[QUANTITIES] = {MASS, is_y ? MOMENTUM_ACROSS : MOMENTUM,
                                   is_y ? MOMENTUM : MOMENTUM_ACROSS, ENERGY};
    long along = is_y ? width_of(tiles) : 1;
    for (int k = 0; k < QUANTITIES; k++) {
        double *zones = zone_of(tiles, tile, order[k], is_y ? 0 : i, is_y ? i : 0);
        double *list = line->conserved[k] + place;
        for (long j = from; j < to; j++)
            if (way == INTO_TILE)
                zones[j * along] = list[j];
            else
                list[j] = zones[j * along];
    }
}

/* Advance `count` tiles that lie behind each other along an axis. A line goes through all of them, so
 * that a face between two tiles is computed once, and a line of 30 zones is not mostly ends. */
static inline void sweep_tiles(struct tiles *tiles, const struct tile *first, long count, int is_y,
                               struct lines lines, double ratio) {
    static struct line line;
    long side = tiles->side, apart = tiles_apart(tiles, is_y), width = width_of(tiles);
    line.zones = (int)(count * side);
    for (long i = lines.from; i < lines.to; i++) {
        for (long n = 0; n < count; n++)
            copy_line(tiles, first + n * apart, is_y, i, n == 0 ? 0 : GHOSTS,
                      n < count - 1 ? GHOSTS + side : width, &line, n * side, OUT_OF_TILE);
        long bad = sweep_line(&line, ratio);
        if (bad >= 0) {
            long n = bad < GHOSTS ? 0 : (bad - GHOSTS) / side;
            n -= n == count; /* a ghost behind the last tile */
            bad -= n * side;
            no_gas(tiles, first + n * apart, is_y ? bad : i, is_y ? i : bad);
        }
        for (long n = 0; n < count; n++)
            copy_line(tiles, first + n * apart, is_y, i, GHOSTS, GHOSTS + side, &line, n * side,
                      INTO_TILE);
    }
    tiles->swept += (lines.to - lines.from) * line.zones;
}

/* Advance all tiles of this rank along an axis, and ghost zones before and behind them. */
static inline void sweep(struct tiles *tiles, int is_y, int before, int behind, double ratio) {
    long apart = tiles_apart(tiles, is_y);
    for (long i = 0; i < tiles->count; i++) {
        if (goes_on(tiles, i - apart, is_y, before, behind))
            continue; /* it was swept with the one before it */
        long count = 1;
        while (goes_on(tiles, i + (count - 1) * apart, is_y, before, behind))
            count++;
        sweep_tiles(tiles, &tiles->tile[i], count, is_y, lines_of(tiles, i, before, behind), ratio);
    }
}

/* Fill the ghost zones at both ends of the lines of a sweep where this rank has what belongs there. */
static inline void fill_ends(const struct tiles *tiles, int is_y, int before, int behind) {
    long apart = tiles_apart(tiles, is_y);
    for (long i = 0; i < tiles->count; i++)
        for (int direction = 0; direction < DIRECTIONS; direction++) {
            int way = (is_y ? direction / 3 : direction % 3) - 1;
            long joined = way < 0 ? i - apart : i;
            if (way != 0 && !goes_on(tiles, joined, is_y, before, behind))
                copy_own_ghosts(tiles, &tiles->tile[i], direction);
        }
    end_axis(tiles, is_y);
}

/* Two sweeps: along x and y in one step, along y and x in the next one. The second needs the ghost
 * zones on two sides after the first. Where another rank has them, the first sweep advances them
 * here, too; where this rank has them, they are filled in between. */
static inline void sweep_twice(struct tiles *tiles, double ratio) {
    int first = tiles->step % 2 == 0 ? 0 : 1, second = !first;
    int before = second ? 1 : 3, behind = 8 - before;
    fill_ends(tiles, first, before, behind);
    sweep(tiles, first, before, behind, ratio);
    fill_ends(tiles, second, MIDDLE, MIDDLE);
    sweep(tiles, second, MIDDLE, MIDDLE, ratio);
}

/* The speed of the fastest wave in a tile. */
static inline double fastest_in(const struct tiles *tiles, const struct tile *tile) {
    double fastest = 0.0;
    for (long row = GHOSTS; row < GHOSTS + tiles->side; row++) {
        const double *zones[QUANTITIES];
        for (int k = 0; k < QUANTITIES; k++)
            zones[k] = zone_of(tiles, tile, k, row, 0);
        for (long i = GHOSTS; i < GHOSTS + tiles->side; i++) {
            double gas[QUANTITIES];
            primitives_of(zones[0][i], zones[1][i], zones[2][i], zones[3][i], gas);
            if (!is_gas(gas))
                no_gas(tiles, tile, row, i);
            double sound = sqrt(GAMMA * gas[PRESSURE] / gas[DENSITY]);
            fastest = most(fastest, most(fabs(gas[SPEED]), fabs(gas[SPEED_ACROSS])) + sound);
        }
    }
    return fastest;
}

/* The same in all of this rank's tiles. */
static inline double fastest_wave(const struct tiles *tiles) {
    double fastest = 0.0;
    for (int i = 0; i < tiles->count; i++)
        fastest = most(fastest, fastest_in(tiles, &tiles->tile[i]));
    return fastest;
}

/* One step, of at most `left`; gives its time. The ranks first agree on it, and wait for the
 * slowest one there, so that the exchange after it is not waiting. */
static inline double make_step(struct tiles *tiles, exchange_function exchange,
                               const struct run *run, double left, struct parts *parts) {
    double began = MPI_Wtime();
    double mine = fastest_wave(tiles), fastest;
    double computed = MPI_Wtime();
    check(MPI_Allreduce(&mine, &fastest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    double agreed = MPI_Wtime(), time = least(run->cfl * tiles->grid.width / fastest, left);
    exchange(tiles);
    double exchanged = MPI_Wtime();
    long before = tiles->swept;
    sweep_twice(tiles, time / tiles->grid.width);
    double us = 0.5 * (double)(tiles->swept - before) * run->zone_us;
    struct timespec pause = {(time_t)(us * 1e-6), (long)(fmod(us, 1e6) * 1e3)};
    if (us > 0.0)
        nanosleep(&pause, NULL);
    tiles->step++;
    parts->computing += computed - began + MPI_Wtime() - exchanged;
    parts->waiting += agreed - computed;
    parts->communicating += exchanged - agreed;
    return time;
}

/* --- a run --- */

static inline struct outcome make_run(struct tiles *tiles, exchange_function exchange,
                                      const struct run *run, struct parts *parts) {
    struct outcome outcome = {.images = 0};
    begin_gas(tiles);
    sum_up(tiles, outcome.before);
    check(MPI_Barrier(MPI_COMM_WORLD));
    while (outcome.time < run->until && tiles->step < run->steps) {
        if (run->is_drawn && run->every && tiles->step % run->every == 0)
            add_image(tiles, run->image), outcome.images++;
        outcome.time += make_step(tiles, exchange, run, run->until - outcome.time, parts);
    }
    fastest_wave(tiles); /* is it still a gas? */
    if (run->is_drawn)
        add_image(tiles, run->image), outcome.images++;
    sum_up(tiles, outcome.after);
    outcome.steps = tiles->step;
    outcome.error = tiles->problem->is_exact ? mean_error(tiles, outcome.time) : NAN;
    outcome.bits = all_bits(tiles);
    double mine = (double)tiles->swept * 0.5, swept;
    check(MPI_Allreduce(&mine, &swept, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    outcome.computed_zones = (long)swept;
    return outcome;
}

/* The parts of a run are means of all ranks; a run takes as long as its slowest rank. */
static inline void share_parts(struct parts *parts) {
    double mine[] = {parts->computing, parts->communicating, parts->waiting}, sums[3];
    parts->all = slowest(mine[0] + mine[1] + mine[2]);
    check(MPI_Allreduce(mine, sums, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    parts->computing = sums[0] / all_ranks();
    parts->communicating = sums[1] / all_ranks();
    parts->waiting = sums[2] / all_ranks();
}

static inline void begin_drawing(struct run *run, const char *name) {
    run->image = my_rank() == 0 ? begin_image(name) : NULL;
    run->is_drawn = run->image != NULL;
    check(MPI_Bcast(&run->is_drawn, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (!run->is_drawn)
        refuse("%s cannot be written.", name);
}

static inline void measure_gas(struct tiles *tiles, exchange_function exchange, struct run *run,
                               long passes, int lines) {
    if (lines) {
        begin_about("gas", clock_resolution(), 4 * passes);
        if (my_rank() == 0)
            end_line();
    }
    for (long pass = 0; pass < passes; pass++) {
        struct parts parts = {0};
        struct outcome outcome = make_run(tiles, exchange, run, &parts);
        share_parts(&parts);
        if (run->image)
            end_image(run->image, outcome.images, &tiles->grid);
        run->image = NULL, run->is_drawn = 0; /* the first pass is enough */
        if (my_rank() > 0)
            continue;
        if (lines)
            write_samples(&parts, outcome.steps, pass);
        if (lines && pass == passes - 1)
            write_outcome(tiles->problem, &tiles->grid, &parts, &outcome);
        else if (!lines)
            print_outcome(tiles->problem, &tiles->grid, &parts, &outcome, all_ranks());
    }
    if (my_rank() == 0 && lines)
        write_end();
}

#include "gas_check.h"

static inline int run_gas(int argc, char **argv, exchange_function exchange) {
    static const char *const KNOWN[] = {"--problem", "--tiles",   "--side",  "--cfl",   "--until",
                                        "--steps",   "--passes",  "--image", "--every", "--check",
                                        "--lines",   "--zone-us", NULL};
    start_mpi(&argc, &argv);
    refuse_unknown(argc, argv, KNOWN);
    long size[2] = {0, 0}, ranks = all_ranks();
    int word = word_argument(argc, argv, "--problem", "blast", PROBLEM_NAMES);
    const struct problem *problem = &PROBLEMS[word];
    if (list_argument(argc, argv, "--tiles", "4,4", 1, 256, size, 2) != 2)
        refuse("--tiles takes two numbers, such as 4,4: along x and along y.");
    long side = number_argument(argc, argv, "--side", 30, GHOSTS, LONGEST - 2 * GHOSTS);
    if (size[0] * size[1] % ranks != 0)
        refuse("%ld ranks cannot share %ld x %ld tiles equally: take a number of ranks that "
               "divides %ld.",
               ranks, size[0], size[1], size[0] * size[1]);
    for (int axis = 0; axis < 2; axis++)
        if (size[axis] * side > LONGEST - 2 * GHOSTS)
            refuse("%ld tiles of %ld zones are %ld: the grid has at most %d along an axis.",
                   size[axis], side, size[axis] * side, LONGEST - 2 * GHOSTS);
    struct run run = {.steps = number_argument(argc, argv, "--steps", 1000000, 1, 1000000),
                      .every = number_argument(argc, argv, "--every", 0, 1, 1000000),
                      .zone_us = decimal_argument(argc, argv, "--zone-us", 0.0, 0.0, 1e4),
                      .until = decimal_argument(argc, argv, "--until", problem->end, 1e-6, 1e3),
                      .cfl = decimal_argument(argc, argv, "--cfl", 0.8, 0.01, 1e9)};
    if (run.cfl > 1.0)
        refuse("--cfl takes a number up to 1, not %g: no wave may pass more than one zone in a "
               "step, or the gas becomes unstable.",
               run.cfl);
    long passes = number_argument(argc, argv, "--passes", 1, 1, 1000);
    const char *image = text_argument(argc, argv, "--image", NULL);
    struct tiles tiles = make_tiles(problem, size[0], size[1], side);
    int is_check = has_argument(argc, argv, "--check"), is_right = 1;
    if (is_check && ranks == 1)
        refuse("--check needs 2 ranks or more: on one rank nothing is exchanged.");
    if (image)
        begin_drawing(&run, image);
    if (is_check)
        is_right = check_exchange(&tiles, exchange);
    else
        measure_gas(&tiles, exchange, &run, passes, has_argument(argc, argv, "--lines"));
    int code = is_right || my_rank() > 0 ? 0 : 3;
    check(MPI_Finalize());
    return code;
}

#endif
