/* The same gas without tiles and without MPI, to compare with: one grid with a frame of ghosts.
 *
 *     ./gas_serial --problem blast --zones 120,120 --lines */
#include "measure/no_mpi.h" /* it comes first */

#include "gas_lines.h"

struct whole {
    const struct problem *problem;
    struct grid grid;
    long width, height; /* with ghosts */
    double *zones[QUANTITIES];
};

static double *zone_of(const struct whole *whole, int k, long row, long column) {
    return whole->zones[k] + (row + GHOSTS) * whole->width + column + GHOSTS;
}

static _Noreturn void no_gas(long row, long column) {
    fprintf(stderr, "wrong gas: zone (row %ld, column %ld). Take a smaller --cfl.\n", row, column);
    exit(3);
}

/* The ghosts at both ends of each row (along x), or of each column (along y). */
static void fill_ghosts(const struct whole *whole, int is_y) {
    enum around around = is_y ? whole->problem->around_y : whole->problem->around_x;
    long zones = is_y ? whole->grid.rows : whole->grid.columns;
    long lines = is_y ? whole->grid.columns : whole->grid.rows;
    for (int k = 0; k < QUANTITIES; k++) {
        double sign = around == WALLS && k == (is_y ? MOMENTUM_ACROSS : MOMENTUM) ? -1.0 : 1.0;
        for (long i = 0; i < lines; i++)
            for (long ghost = 0; ghost < GHOSTS; ghost++) {
                long to[] = {-1 - ghost, zones + ghost};
                long from[] = {0, zones - 1};
                if (around == PERIODIC)
                    from[0] = zones - 1 - ghost, from[1] = ghost;
                if (around == WALLS)
                    from[0] = ghost, from[1] = zones - 1 - ghost;
                for (int end = 0; end < 2; end++)
                    *zone_of(whole, k, is_y ? to[end] : i, is_y ? i : to[end]) =
                        sign * *zone_of(whole, k, is_y ? from[end] : i, is_y ? i : from[end]);
            }
    }
}

static void sweep(const struct whole *whole, int is_y, double ratio) {
    static struct line line;
    const int order[QUANTITIES] = {MASS, is_y ? MOMENTUM_ACROSS : MOMENTUM,
                                   is_y ? MOMENTUM : MOMENTUM_ACROSS, ENERGY};
    long lines = is_y ? whole->grid.columns : whole->grid.rows, along = is_y ? whole->width : 1;
    fill_ghosts(whole, is_y);
    line.zones = (int)(is_y ? whole->grid.rows : whole->grid.columns);
    for (long i = 0; i < lines; i++) {
        double *zones[QUANTITIES];
        for (int k = 0; k < QUANTITIES; k++) {
            zones[k] = zone_of(whole, order[k], is_y ? -GHOSTS : i, is_y ? i : -GHOSTS);
            for (long j = 0; j < line.zones + 2 * GHOSTS; j++)
                line.conserved[k][j] = zones[k][j * along];
        }
        int bad = sweep_line(&line, ratio);
        if (bad >= 0)
            no_gas(is_y ? bad - GHOSTS : i, is_y ? i : bad - GHOSTS);
        for (int k = 0; k < QUANTITIES; k++)
            for (long j = GHOSTS; j < GHOSTS + line.zones; j++)
                zones[k][j * along] = line.conserved[k][j];
    }
}

static double fastest_wave(const struct whole *whole) {
    double fastest = 0.0;
    for (long row = 0; row < whole->grid.rows; row++)
        for (long column = 0; column < whole->grid.columns; column++) {
            double zone[QUANTITIES], gas[QUANTITIES];
            for (int k = 0; k < QUANTITIES; k++)
                zone[k] = *zone_of(whole, k, row, column);
            primitives_of(zone[0], zone[1], zone[2], zone[3], gas);
            if (!is_gas(gas))
                no_gas(row, column);
            double sound = sqrt(GAMMA * gas[PRESSURE] / gas[DENSITY]);
            double speed = most(fabs(gas[SPEED]), fabs(gas[SPEED_ACROSS]));
            fastest = most(fastest, speed + sound);
        }
    return fastest;
}

static struct whole make_whole(const struct problem *problem, long columns, long rows) {
    struct whole whole = {
        problem, make_grid(problem, columns, rows), columns + 2 * GHOSTS, rows + 2 * GHOSTS, {0}};
    for (int k = 0; k < QUANTITIES; k++) {
        whole.zones[k] = calloc((size_t)(whole.width * whole.height), sizeof(double));
        if (!whole.zones[k])
            refuse("There is no memory for %ld x %ld zones.", columns, rows);
    }
    for (long row = 0; row < rows; row++)
        for (long column = 0; column < columns; column++) {
            double zone[QUANTITIES];
            begin_zone(problem, &whole.grid, column, row, zone);
            for (int k = 0; k < QUANTITIES; k++)
                *zone_of(&whole, k, row, column) = zone[k];
        }
    return whole;
}

static void look(const struct whole *whole, struct outcome *outcome) {
    double gas[QUANTITIES];
    for (long row = 0; row < whole->grid.rows; row++)
        for (long column = 0; column < whole->grid.columns; column++) {
            for (int k = 0; k < QUANTITIES; k++) {
                double value = *zone_of(whole, k, row, column);
                outcome->after[k] += value;
                outcome->bits ^= zone_bits(&whole->grid, column, row, k, value);
            }
            whole->problem->state(&whole->grid, column, row, outcome->time, gas);
            outcome->error += fabs(*zone_of(whole, MASS, row, column) - gas[DENSITY]);
        }
    outcome->error /= (double)(whole->grid.rows * whole->grid.columns);
}

int main(int argc, char **argv) {
    static const char *const KNOWN[] = {"--problem", "--zones", "--cfl",    "--until",
                                        "--steps",   "--lines", "--passes", NULL};
    refuse_unknown(argc, argv, KNOWN);
    long size[2] = {0, 0};
    int word = word_argument(argc, argv, "--problem", "blast", PROBLEM_NAMES);
    const struct problem *problem = &PROBLEMS[word];
    if (list_argument(argc, argv, "--zones", "120,120", 4, LONGEST - 2 * GHOSTS, size, 2) != 2)
        refuse("--zones takes two numbers, such as 120,120: along x and along y.");
    double cfl = decimal_argument(argc, argv, "--cfl", 0.8, 0.01, 1.0);
    double until = decimal_argument(argc, argv, "--until", problem->end, 1e-6, 1e3);
    long steps = number_argument(argc, argv, "--steps", 1000000, 1, 1000000);
    long passes = number_argument(argc, argv, "--passes", 1, 1, 1000);
    for (long pass = 0; pass < passes; pass++) {
        struct whole whole = make_whole(problem, size[0], size[1]);
        struct outcome first = {.time = 0.0}, outcome = {.time = 0.0};
        look(&whole, &first);
        memcpy(outcome.before, first.after, sizeof first.after);
        double began = seconds_now();
        while (outcome.time < until && outcome.steps < steps) {
            double time =
                least(cfl * whole.grid.width / fastest_wave(&whole), until - outcome.time);
            sweep(&whole, outcome.steps % 2 != 0, time / whole.grid.width);
            sweep(&whole, outcome.steps % 2 == 0, time / whole.grid.width);
            outcome.time += time, outcome.steps++;
        }
        struct parts parts = {.all = seconds_now() - began};
        parts.computing = parts.all;
        outcome.computed_zones = outcome.steps * size[0] * size[1];
        look(&whole, &outcome);
        if (has_argument(argc, argv, "--lines"))
            write_samples(&parts, outcome.steps, pass);
        if (has_argument(argc, argv, "--lines") && pass == passes - 1)
            write_outcome(problem, &whole.grid, &parts, &outcome);
        else if (!has_argument(argc, argv, "--lines"))
            print_outcome(problem, &whole.grid, &parts, &outcome, 1);
        for (int k = 0; k < QUANTITIES; k++)
            free(whole.zones[k]);
    }
    if (has_argument(argc, argv, "--lines"))
        write_end();
    return 0;
}
