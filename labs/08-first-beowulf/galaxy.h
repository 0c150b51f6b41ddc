/* What galaxy.c calls: reads the arguments, makes the particles, takes the steps and reports.
 *
 * tree.h has the tree and the forces, models.h the particles of the beginning, steps.h the phases
 * of a step on many ranks, report.h what is written. You do not need to change any of them. */
#ifndef GALAXY_H
#define GALAXY_H

#include "measure.h"
#include "models.h"
#include "report.h"
#include "steps.h"
#include "tree.h"

enum { MOST_PARTICLES = 5000000, MOST_STEPS = 100000 };

static inline double decimal_argument(int argc, char **argv, const char *name, double otherwise,
                                      double lowest, double highest) {
    const char *text = text_argument(argc, argv, name, NULL);
    char *end;
    double value = text ? strtod(text, &end) : otherwise;
    if (text && (end == text || *end || !(value >= lowest && value <= highest)))
        refuse("%s takes a number from %g to %g, not '%s'.", name, lowest, highest, text);
    return value;
}

/* What is no part of the galaxy itself. */
struct options {
    int model, lines, sample; /* --check: how many forces are checked */
    long steps, seed, every;
    const char *from, *positions;
};

static inline void make_room(struct galaxy *galaxy, long steps) {
    size_t count = (size_t)galaxy->count, ranks = (size_t)galaxy->ranks;
    struct tree *tree = &galaxy->tree;
    double bytes = 2.0 * sizeof *galaxy->own + 2.0 * sizeof *tree->bodies + sizeof *tree->places +
                   2.0 * sizeof *tree->nodes + 2.0 * sizeof *galaxy->costs;
    refuse_more_memory("So many particles need too much memory", bytes * (double)count);
    tree->count = galaxy->count;
    tree->bodies = room_for(count, sizeof *tree->bodies);
    tree->places = room_for(count, sizeof *tree->places);
    tree->nodes = room_for(2 * count, sizeof *tree->nodes);
    galaxy->shared = room_for(count, sizeof *galaxy->shared);
    galaxy->own = room_for(count, sizeof *galaxy->own);
    galaxy->others = room_for(count, sizeof *galaxy->others);
    galaxy->costs = room_for(count, sizeof *galaxy->costs);
    galaxy->shared_costs = room_for(count, sizeof *galaxy->shared_costs);
    galaxy->first = room_for(ranks + 1, sizeof *galaxy->first);
    galaxy->was_first = room_for(ranks + 1, sizeof *galaxy->was_first);
    for (int i = 0; i < 4; i++)
        galaxy->counts[i] = room_for(ranks, sizeof(int));
    galaxy->step_seconds = room_for((size_t)steps + 1, sizeof *galaxy->step_seconds);
    galaxy->pairs = room_for((size_t)steps + 1, sizeof *galaxy->pairs);
    galaxy->cells = room_for((size_t)steps + 1, sizeof *galaxy->cells);
}

/* The particles of a file, on all ranks. */
static inline struct particle *share_file(struct galaxy *galaxy, const char *path) {
    struct particle *read = room_for((size_t)galaxy->count, sizeof *read);
    if (galaxy->rank == 0)
        galaxy->count = read_particles(path, read, galaxy->count);
    check(MPI_Bcast(&galaxy->count, 1, MPI_INT, 0, MPI_COMM_WORLD));
    check(MPI_Bcast(read, galaxy->count * (int)sizeof *read, MPI_BYTE, 0, MPI_COMM_WORLD));
    return read;
}

/* The first owners: as many particles each, in the order of their numbers. */
static inline void make_particles(struct galaxy *galaxy, const struct particle *read, int model,
                                  long seed) {
    for (int rank = 0; rank <= galaxy->ranks; rank++)
        galaxy->first[rank] = (int)((long)galaxy->count * rank / galaxy->ranks);
    for (int i = 0; i < own_count(galaxy); i++) {
        int number = galaxy->first[galaxy->rank] + i;
        if (read)
            galaxy->own[i] = read[number];
        else
            draw_particle(&galaxy->own[i], model, seed, number, galaxy->count);
        galaxy->own[i].cost = 1;
    }
}

/* On simulated computers computing takes no time: there, --flop-ns is what an operation of the forces
 * waits, and --particle-ns what a particle takes when the tree is built. */
static inline struct options read_options(struct galaxy *galaxy, int argc, char **argv) {
    static const char *const KNOWN[] = {
        "--model",     "--particles",      "--seed",      "--from",        "--steps", "--step-time",
        "--angle",     "--no-quadrupoles", "--softening", "--farthest",    "--check", "--every",
        "--positions", "--lines",          "--flop-ns",   "--particle-ns", NULL};
    struct options options;
    refuse_unknown(argc, argv, KNOWN);
    galaxy->count = (int)number_argument(argc, argv, "--particles", 10000, 2, MOST_PARTICLES);
    galaxy->tree.angle = decimal_argument(argc, argv, "--angle", 0.8, 0.0, 1.1);
    galaxy->tree.quadrupoles = !has_argument(argc, argv, "--no-quadrupoles");
    double softening = decimal_argument(argc, argv, "--softening", 0.02, 0.0, 1e3);
    galaxy->tree.softening2 = softening * softening;
    galaxy->step_time = decimal_argument(argc, argv, "--step-time", 0.01, 0.0, 1e3);
    galaxy->farthest = decimal_argument(argc, argv, "--farthest", 1000.0, 1e-3, 1e6);
    galaxy->flop_ns = decimal_argument(argc, argv, "--flop-ns", 0.0, 0.0, 1e6);
    galaxy->particle_ns = decimal_argument(argc, argv, "--particle-ns", 0.0, 0.0, 1e6);
    options.model = word_argument(argc, argv, "--model", "plummer", MODELS);
    options.seed = number_argument(argc, argv, "--seed", 1, 0, 1000000000);
    options.from = text_argument(argc, argv, "--from", NULL);
    options.steps = number_argument(argc, argv, "--steps", 10, 0, MOST_STEPS);
    options.every = number_argument(argc, argv, "--every", MOST_STEPS, 1, MOST_STEPS);
    options.sample = (int)number_argument(argc, argv, "--check", 0, 0, MOST_PARTICLES);
    options.lines = has_argument(argc, argv, "--lines");
    options.positions = text_argument(argc, argv, "--positions", NULL);
    return options;
}

/* Step 0 finds the first forces and costs, and is a warm-up: it is not measured. */
static inline void take_steps(struct galaxy *galaxy, const struct options *options) {
    const char *path = galaxy->rank == 0 ? options->positions : NULL;
    FILE *positions = path ? fopen(path, "wb") : NULL;
    if (path && !positions)
        refuse_here("%s cannot be written: %s.", path, strerror(errno));
    begin_phase(galaxy);
    find_forces(galaxy);
    memset(galaxy->seconds, 0, sizeof galaxy->seconds);
    write_state(galaxy, positions, options->lines);
    while (galaxy->step < options->steps) {
        galaxy->step++;
        take_step(galaxy);
        if (galaxy->step % options->every == 0 || galaxy->step == options->steps)
            write_state(galaxy, positions, options->lines);
    }
    if (positions && fclose(positions) != 0)
        refuse_here("%s cannot be written: %s.", path, strerror(errno));
}

static inline int run_galaxy(int argc, char **argv, partitioning partition) {
    struct galaxy galaxy = {.partition = partition};
    start_mpi(&argc, &argv);
    galaxy.rank = my_rank(), galaxy.ranks = all_ranks();
    struct options options = read_options(&galaxy, argc, argv);
    struct particle *read = options.from ? share_file(&galaxy, options.from) : NULL;
    make_room(&galaxy, options.steps);
    make_particles(&galaxy, read, options.model, options.seed);
    free(read);
    try_partition(&galaxy);
    if (options.lines) {
        long samples = options.steps > 0 ? options.steps + (long)galaxy.ranks * PHASES : 0;
        begin_about("galaxy", clock_resolution(), samples);
        if (galaxy.rank == 0)
            end_line();
    }
    take_steps(&galaxy, &options);
    if (options.steps > 0)
        write_results(&galaxy, options.steps, options.lines);
    if (options.sample > 0)
        check_forces(&galaxy, options.sample, options.lines);
    if (galaxy.rank == 0 && options.lines)
        write_end();
    check(MPI_Finalize());
    return 0;
}

#endif
