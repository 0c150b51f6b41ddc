/* A step of particles that attract each other, on any number of ranks.
 *
 * Each rank owns a part of the Morton curve, and with it the particles there. A step has five
 * phases:
 *
 *     communicating   every rank sends the positions and masses of its particles to all ranks
 *                     (MPI_Allgatherv)
 *     building        every rank builds the same tree, of all particles
 *     balancing       costs go to all ranks (MPI_Allgatherv), the learner's `partition` divides the
 *                     curve, and particles go to their new owners (MPI_Alltoallv)
 *     computing       every rank computes the forces on its own particles, and moves them
 *     waiting         for the slowest rank, at two barriers
 *
 * Only computing becomes shorter with more ranks. A whole tree on every rank keeps the program
 * short, at a price: building it takes as long on 16 ranks as on one, and every position goes to
 * every rank. Codes for large machines exchange only the cells that a rank needs.
 *
 * The force on a particle is a sum in the order of the tree, which is the same on all ranks:
 * results do not depend on the number of ranks, to the last bit. */
#ifndef STEPS_H
#define STEPS_H

#include "measure.h"
#include "models.h"
#include "tree.h"

enum { WRONG = 3, SMALL = 100 };
enum phase { COMMUNICATING, BUILDING, BALANCING, COMPUTING, WAITING, PHASES };
static const char *const PHASE_NAMES[] = {"communicating", "building", "balancing", "computing",
                                          "waiting"};

/* Divides the curve: rank r shall own the particles first[r] to first[r + 1] - 1 of it. */
typedef void (*partitioning)(const int *costs, int count, int ranks, int *first);

struct galaxy {
    struct tree tree;
    int count, rank, ranks, step;
    int *first, *was_first;        /* the parts of the curve now and before; ranks + 1 numbers */
    struct particle *own, *others; /* this rank's particles; room for those that leave or arrive */
    struct body *shared;           /* all bodies, in the order of the last step's curve */
    int *costs, *shared_costs;     /* of all particles: along the curve, and as they were shared */
    int *counts[4];                /* what is sent to each rank and from where; and received */
    partitioning partition;
    double flop_ns, particle_ns, step_time, farthest;
    double seconds[PHASES], since; /* this rank's phases; when the present one began */
    double *step_seconds;          /* of each step */
    long *pairs, *cells;           /* this rank's interactions with bodies and cells in each step */
};

static inline void begin_phase(struct galaxy *galaxy) { galaxy->since = MPI_Wtime(); }

static inline void end_phase(struct galaxy *galaxy, enum phase phase) {
    double now = MPI_Wtime();
    galaxy->seconds[phase] += now - galaxy->since;
    galaxy->since = now;
}

static inline void wait_for_all(struct galaxy *galaxy) {
    check(MPI_Barrier(MPI_COMM_WORLD));
    end_phase(galaxy, WAITING);
}

static inline void sleep_ns(double ns) {
    struct timespec moment = {(time_t)(ns / 1e9), (long)fmod(ns, 1e9)};
    if (ns >= 1.0)
        nanosleep(&moment, NULL);
}

static inline void *room_for(size_t count, size_t size) {
    void *room = calloc(count, size);
    if (!room) {
        fprintf(stderr, "There is no memory for %zu times %zu bytes.\n", count, size);
        give_up(1);
    }
    return room;
}

static inline int own_count(const struct galaxy *galaxy) {
    return galaxy->first[galaxy->rank + 1] - galaxy->first[galaxy->rank];
}

/* In which part a place of the curve is. */
static inline int owner_of(const int *first, int place) {
    int rank = 0;
    while (place >= first[rank + 1])
        rank++;
    return rank;
}

/* A particle that cannot be computed with ends the run. */
static inline void fault_at(const struct galaxy *galaxy, const struct particle *particle,
                            const char *why) {
    const double *x = particle->position;
    fprintf(stderr, "particle %d of rank %d, at (%g, %g, %g) in step %d: %s\n", particle->number,
            galaxy->rank, x[0], x[1], x[2], galaxy->step, why);
    give_up(WRONG);
}

static inline void check_places(const struct galaxy *galaxy) {
    for (int i = 0; i < own_count(galaxy); i++) {
        const double *x = galaxy->own[i].position, *v = galaxy->own[i].velocity;
        double distance = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
        if (!isfinite(x[0] + x[1] + x[2]))
            fault_at(galaxy, &galaxy->own[i], "its position is not a number.");
        if (!isfinite(v[0] + v[1] + v[2]))
            fault_at(galaxy, &galaxy->own[i], "its velocity is not a number.");
        if (distance > galaxy->farthest)
            fault_at(galaxy, &galaxy->own[i],
                     "it has escaped. Try a shorter --step-time, more --softening, or a"
                     " larger --farthest.");
    }
}

/* Communicating: all ranks get the bodies of all ranks. */
static inline void share_bodies(struct galaxy *galaxy) {
    int *counts = galaxy->counts[0], *from = galaxy->counts[1], own = own_count(galaxy);
    for (int rank = 0; rank < galaxy->ranks; rank++) {
        counts[rank] = 4 * (galaxy->first[rank + 1] - galaxy->first[rank]);
        from[rank] = 4 * galaxy->first[rank];
    }
    struct body *mine = galaxy->shared + galaxy->first[galaxy->rank];
    for (int i = 0; i < own; i++) {
        memcpy(mine[i].position, galaxy->own[i].position, sizeof mine[i].position);
        mine[i].mass = galaxy->own[i].mass;
    }
    check(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DOUBLE, galaxy->shared, counts, from, MPI_DOUBLE,
                         MPI_COMM_WORLD));
}

/* All costs, along the curve. They were shared in the order in which the bodies were. */
static inline void share_costs(struct galaxy *galaxy) {
    int *counts = galaxy->counts[0], begin = galaxy->first[galaxy->rank];
    for (int rank = 0; rank < galaxy->ranks; rank++)
        counts[rank] = galaxy->first[rank + 1] - galaxy->first[rank];
    for (int i = 0; i < own_count(galaxy); i++)
        galaxy->shared_costs[begin + i] = galaxy->own[i].cost;
    check(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, galaxy->shared_costs, counts, galaxy->first,
                         MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < galaxy->count; i++)
        galaxy->costs[i] = galaxy->shared_costs[galaxy->tree.places[i].from];
}

/* What is wrong with a division; an empty text when nothing is. */
static inline void partition_fault(const int *first, int count, int ranks, char *why, size_t most) {
    why[0] = '\0';
    for (int rank = 0; rank <= ranks && !*why; rank++)
        if (first[rank] == -1)
            snprintf(why, most, "first[%d] is not filled", rank);
    if (*why)
        return;
    if (first[0] != 0)
        snprintf(why, most, "first[0] is %d, not 0", first[0]);
    else if (first[ranks] != count)
        snprintf(why, most, "first[%d] is %d, not %d: the last part ends with the last particle",
                 ranks, first[ranks], count);
    for (int rank = 0; rank < ranks && !*why; rank++)
        if (first[rank + 1] < first[rank])
            snprintf(why, most, "rank %d would own %d to %d: its part ends before it begins", rank,
                     first[rank], first[rank + 1] - 1);
}

/* Mostly all ranks find the same fault, and rank 0 is the one that reports it. */
static inline void refuse_partition(const char *why, int count) {
    wait_ms(my_rank() > 0 ? 2000 : 0);
    begin_line("check");
    put_text("function", "partition");
    put_truth("right", 0);
    put_count("rank", my_rank());
    put_count("particles", count);
    put_text("why", why);
    end_line();
    flush_lines();
    fprintf(stderr, "partition, with %d particle%s on rank %d of %d: %s.\n", count,
            count == 1 ? "" : "s", my_rank(), all_ranks(), why);
    give_up(WRONG);
}

/* Call `partition` with a few small curves before the run: also with fewer particles than ranks,
 * and with one particle that costs as much as all others. All ranks have to find the same. */
static inline void try_partition(const struct galaxy *galaxy) {
    int counts[] = {SMALL, galaxy->ranks, 1}, costs[SMALL], ranks = galaxy->ranks;
    size_t size = (size_t)ranks + 2;
    int *first = room_for(size, sizeof *first), *of_zero = room_for(size, sizeof *first);
    char why[200];
    for (int trial = 0; trial < 9; trial++) {
        int count = counts[trial / 3] < SMALL ? counts[trial / 3] : SMALL;
        for (int i = 0; i < count; i++)
            costs[i] = trial % 3 == 0 ? 1 : trial % 3 == 1 ? 100 + i : i == count / 2 ? SMALL : 1;
        memset(first, -1, sizeof *first * size);
        galaxy->partition(costs, count, ranks, first);
        partition_fault(first, count, ranks, why, sizeof why);
        if (!*why && first[ranks + 1] != -1)
            snprintf(why, sizeof why, "first[%d] is filled, but first[%d] is the last", ranks + 1,
                     ranks);
        if (*why)
            refuse_partition(why, count);
        memcpy(of_zero, first, sizeof *first * size);
        check(MPI_Bcast(of_zero, ranks + 1, MPI_INT, 0, MPI_COMM_WORLD));
        if (memcmp(first, of_zero, sizeof *first * size) != 0)
            refuse_partition("rank 0 divides the same curve differently", count);
    }
    free(first), free(of_zero);
}

/* Numbers of particles become numbers of bytes, and where each rank's begin. */
static inline void count_bytes(int *counts, int *from, int ranks) {
    for (int rank = 0, sum = 0; rank < ranks; rank++) {
        counts[rank] *= (int)sizeof(struct particle);
        from[rank] = sum;
        sum += counts[rank];
    }
}

/* Particles go to their new owners. The tree's `places` say where each one along the curve was
 * before; the owner sends them in the order of the curve, and the new owner puts those of several
 * ranks into that order. */
static inline void exchange_particles(struct galaxy *galaxy) {
    const struct place *places = galaxy->tree.places;
    int **counts = galaxy->counts, me = galaxy->rank, leaving = 0;
    int begin = galaxy->was_first[me], end = galaxy->was_first[me + 1];
    for (int i = 0; i < 4; i++)
        memset(counts[i], 0, sizeof(int) * (size_t)galaxy->ranks);
    for (int i = 0; i < galaxy->count; i++)
        if (begin <= places[i].from && places[i].from < end) {
            galaxy->others[leaving++] = galaxy->own[places[i].from - begin];
            counts[0][owner_of(galaxy->first, i)]++;
        }
    for (int i = galaxy->first[me]; i < galaxy->first[me + 1]; i++)
        counts[2][owner_of(galaxy->was_first, places[i].from)]++;
    count_bytes(counts[0], counts[1], galaxy->ranks);
    count_bytes(counts[2], counts[3], galaxy->ranks);
    check(MPI_Alltoallv(galaxy->others, counts[0], counts[1], MPI_BYTE, galaxy->own, counts[2],
                        counts[3], MPI_BYTE, MPI_COMM_WORLD));
    struct particle *arrived = galaxy->own;
    galaxy->own = galaxy->others, galaxy->others = arrived;
    for (int i = galaxy->first[me]; i < galaxy->first[me + 1]; i++) {
        int *next = &counts[3][owner_of(galaxy->was_first, places[i].from)];
        galaxy->own[i - galaxy->first[me]] = arrived[*next / (int)sizeof *arrived];
        *next += (int)sizeof *arrived;
    }
}

static inline void balance(struct galaxy *galaxy) {
    char why[200];
    share_costs(galaxy);
    memcpy(galaxy->was_first, galaxy->first, sizeof(int) * (size_t)(galaxy->ranks + 1));
    galaxy->partition(galaxy->costs, galaxy->count, galaxy->ranks, galaxy->first);
    partition_fault(galaxy->first, galaxy->count, galaxy->ranks, why, sizeof why);
    if (*why)
        refuse_partition(why, galaxy->count);
    exchange_particles(galaxy);
}

static inline double flops_of(const struct galaxy *galaxy, long pairs, long cells) {
    int of_a_cell = PULL_FLOPS + galaxy->tree.quadrupoles * QUADRUPOLE_FLOPS;
    return (double)pairs * PULL_FLOPS + (double)cells * of_a_cell;
}

static inline void compute_forces(struct galaxy *galaxy) {
    int begin = galaxy->first[galaxy->rank];
    long pairs = 0, cells = 0;
    for (int i = 0; i < own_count(galaxy); i++) {
        struct particle *particle = &galaxy->own[i];
        struct pull pull = pull_on(&galaxy->tree, begin + i);
        particle->acceleration[0] = pull.x;
        particle->acceleration[1] = pull.y;
        particle->acceleration[2] = pull.z;
        particle->potential = pull.potential;
        particle->cost = (int)(pull.pairs + pull.cells);
        pairs += pull.pairs, cells += pull.cells;
        if (!isfinite(pull.potential))
            fault_at(galaxy, particle,
                     "another particle is at the same place: only with --softening above 0"
                     " is the force between them finite.");
    }
    galaxy->pairs[galaxy->step] = pairs, galaxy->cells[galaxy->step] = cells;
    sleep_ns(flops_of(galaxy, pairs, cells) * galaxy->flop_ns);
}

/* Half a step's change of velocity, and a whole step's way. */
static inline void kick(struct galaxy *galaxy) {
    for (int i = 0; i < own_count(galaxy); i++)
        for (int k = 0; k < 3; k++)
            galaxy->own[i].velocity[k] += 0.5 * galaxy->step_time * galaxy->own[i].acceleration[k];
}

static inline void drift(struct galaxy *galaxy) {
    for (int i = 0; i < own_count(galaxy); i++)
        for (int k = 0; k < 3; k++)
            galaxy->own[i].position[k] += galaxy->step_time * galaxy->own[i].velocity[k];
}

static inline void find_forces(struct galaxy *galaxy) {
    check_places(galaxy);
    end_phase(galaxy, COMPUTING);
    share_bodies(galaxy);
    end_phase(galaxy, COMMUNICATING);
    build_tree(&galaxy->tree, galaxy->shared);
    sleep_ns(galaxy->count * galaxy->particle_ns);
    end_phase(galaxy, BUILDING);
    wait_for_all(galaxy);
    balance(galaxy);
    end_phase(galaxy, BALANCING);
    compute_forces(galaxy);
}

/* A leapfrog step: velocities change half before and half after the particles move. */
static inline void take_step(struct galaxy *galaxy) {
    double began = MPI_Wtime();
    begin_phase(galaxy);
    kick(galaxy);
    drift(galaxy);
    find_forces(galaxy);
    kick(galaxy);
    end_phase(galaxy, COMPUTING);
    wait_for_all(galaxy);
    galaxy->step_seconds[galaxy->step] = MPI_Wtime() - began;
}

#endif
