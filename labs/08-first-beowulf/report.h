/* What a run writes: energies and momentum, the error of the forces, the times of the phases. */
#ifndef REPORT_H
#define REPORT_H

#include "steps.h"

/* Rank 0 gets all particles, in the order of their numbers. Others get NULL. */
static inline struct particle *gather_all(struct galaxy *galaxy) {
    int size = (int)sizeof(struct particle), *counts = galaxy->counts[0], *from = galaxy->counts[1];
    struct particle *along = NULL, *all = NULL;
    for (int rank = 0; rank < galaxy->ranks; rank++)
        counts[rank] = galaxy->first[rank + 1] - galaxy->first[rank];
    count_bytes(counts, from, galaxy->ranks);
    if (galaxy->rank == 0) {
        along = room_for((size_t)galaxy->count, sizeof *along);
        all = room_for((size_t)galaxy->count, sizeof *all);
    }
    check(MPI_Gatherv(galaxy->own, own_count(galaxy) * size, MPI_BYTE, along, counts, from,
                      MPI_BYTE, 0, MPI_COMM_WORLD));
    for (int i = 0; all && i < galaxy->count; i++)
        all[along[i].number] = along[i];
    free(along);
    return all;
}

/* A number that becomes another one when any bit of `value` is another one. */
static inline uint64_t mix_bits(uint64_t bits, double value) {
    uint64_t state;
    memcpy(&state, &value, sizeof state);
    state ^= bits;
    return next_random(&state);
}

/* A line with energies, momentum and a number that changes with any bit of any position or
 * velocity; and the positions, x y z of each particle in order, as numbers of 4 bytes. */
static inline void write_state(struct galaxy *galaxy, FILE *positions, int lines) {
    struct particle *all = gather_all(galaxy);
    double kinetic = 0.0, potential = 0.0, momentum[3] = {0.0, 0.0, 0.0}, paths = 0.0;
    uint64_t bits = 0;
    for (int i = 0; all && i < galaxy->count; i++) {
        const struct particle *particle = &all[i];
        const double *v = particle->velocity;
        double speed2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        kinetic += 0.5 * particle->mass * speed2;
        potential += 0.5 * particle->mass * particle->potential;
        paths += particle->mass * sqrt(speed2);
        for (int k = 0; k < 3; k++) {
            float place = (float)particle->position[k];
            momentum[k] += particle->mass * v[k];
            bits = mix_bits(mix_bits(bits, particle->position[k]), v[k]);
            if (positions && fwrite(&place, sizeof place, 1, positions) != 1)
                refuse_here("The positions cannot be written: %s.", strerror(errno));
        }
    }
    if (all && lines) {
        char text[20];
        snprintf(text, sizeof text, "%016llx", (unsigned long long)bits);
        begin_line("result");
        put_text("quantity", "state");
        put_count("step", galaxy->step);
        put_number("time", galaxy->step * galaxy->step_time);
        put_number("kinetic", kinetic);
        put_number("potential", potential);
        put_number("energy", kinetic + potential);
        put_number("momentum_x", momentum[0]);
        put_number("momentum_y", momentum[1]);
        put_number("momentum_z", momentum[2]);
        put_number("momentum_scale", paths); /* what it would be if all flew the same way */
        put_text("bits", text);
        end_line();
    } else if (all)
        printf("step %d: energy %.9f (kinetic %.6f, potential %.6f), momentum %.3g %.3g %.3g\n",
               galaxy->step, kinetic + potential, kinetic, potential, momentum[0], momentum[1],
               momentum[2]);
    free(all);
    check(
        MPI_Barrier(MPI_COMM_WORLD)); /* so that nobody waits for rank 0 in the step that follows */
}

static inline int compare_numbers(const void *left, const void *right) {
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* Compare the forces with sums over all bodies, for `sample` particles: each rank for those of its
 * own. */
static inline void check_forces(struct galaxy *galaxy, int sample, int lines) {
    sample = sample < galaxy->count ? sample : galaxy->count;
    double *errors = room_for((size_t)sample, sizeof *errors),
           *all = room_for((size_t)sample, sizeof *all);
    int every = galaxy->count / sample, begin = galaxy->first[galaxy->rank];
    for (int i = 0; i < own_count(galaxy); i++) {
        const struct particle *particle = &galaxy->own[i];
        int place = particle->number / every;
        if (particle->number % every != 0 || place >= sample)
            continue;
        struct pull exact = {0.0, 0.0, 0.0, 0.0, 0, 0};
        add_bodies(&galaxy->tree, 0, galaxy->count, begin + i, &exact);
        double right[] = {exact.x, exact.y, exact.z}, zero[] = {0.0, 0.0, 0.0};
        double size2 = way_to(right, zero).square;
        if (size2 > 0.0)
            errors[place] = sqrt(way_to(right, particle->acceleration).square / size2);
    }
    check(MPI_Reduce(errors, all, sample, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD));
    if (galaxy->rank == 0) {
        qsort(all, (size_t)sample, sizeof *all, compare_numbers);
        double median = all[sample / 2], high = all[(sample * 99L) / 100], most = all[sample - 1];
        if (lines) {
            begin_line("result");
            put_text("quantity", "force_error");
            put_count("sample", sample);
            put_number("angle", galaxy->tree.angle);
            put_truth("quadrupoles", galaxy->tree.quadrupoles);
            put_number("median", median);
            put_number("p99", high);
            put_number("most", most);
            end_line();
        } else
            printf("force error of %d particles: median %.2g, 99th percentile %.2g, most %.2g\n",
                   sample, median, high, most);
    }
    free(errors), free(all);
}

/* One line for each step, and for each phase of each rank over all steps. */
static inline void write_samples(const double *steps_s, long steps, const double *phases_s,
                                 int ranks) {
    for (long step = 1; step <= steps; step++) {
        begin_line("sample");
        put_text("quantity", "step_s");
        put_count("repetitions", 1);
        put_number("seconds", steps_s[step]);
        put_count("pass", step - 1);
        end_line();
    }
    for (int i = 0; i < ranks * PHASES; i++) {
        begin_line("sample");
        put_text("quantity", "phase_s");
        put_text("phase", PHASE_NAMES[i % PHASES]);
        put_count("rank", i / PHASES);
        put_count("repetitions", steps);
        put_number("seconds", phases_s[i]);
        put_count("pass", 0);
        end_line();
    }
}

static inline void print_phases(const double *phases_s, int ranks, long steps) {
    printf("ms a step:");
    for (int phase = 0; phase < PHASES; phase++)
        printf(" %14s", PHASE_NAMES[phase]);
    for (int i = 0; i < ranks * PHASES; i++) {
        if (i % PHASES == 0)
            printf("\n rank %3d: ", i / PHASES);
        printf(" %14.3f", phases_s[i] / (double)steps * 1e3);
    }
    printf("\n");
}

/* Times, interactions and balance of all steps but step 0, which only finds the first forces. */
static inline void write_results(struct galaxy *galaxy, long steps, int lines) {
    size_t size = (size_t)steps + 1;
    long *pairs = room_for(size, sizeof *pairs), *cells = room_for(size, sizeof *cells);
    long *most = room_for(size, sizeof *most), *own = room_for(size, sizeof *own);
    double *steps_s = room_for(size, sizeof *steps_s), balance = 0.0, seconds = 0.0;
    double *phases_s = room_for((size_t)galaxy->ranks * PHASES, sizeof *phases_s);
    long all_pairs = 0, all_cells = 0;
    for (long step = 0; step <= steps; step++)
        own[step] = galaxy->pairs[step] + galaxy->cells[step];
    check(MPI_Reduce(galaxy->pairs, pairs, (int)size, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
    check(MPI_Reduce(galaxy->cells, cells, (int)size, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
    check(MPI_Reduce(own, most, (int)size, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD));
    check(MPI_Reduce(galaxy->step_seconds, steps_s, (int)size, MPI_DOUBLE, MPI_MAX, 0,
                     MPI_COMM_WORLD));
    check(MPI_Gather(galaxy->seconds, PHASES, MPI_DOUBLE, phases_s, PHASES, MPI_DOUBLE, 0,
                     MPI_COMM_WORLD));
    for (long step = 1; step <= steps; step++) {
        double mean = (double)(pairs[step] + cells[step]) / galaxy->ranks;
        balance += mean > 0.0 ? (double)most[step] / mean / (double)steps : 0.0;
        all_pairs += pairs[step], all_cells += cells[step], seconds += steps_s[step];
    }
    double flops = flops_of(galaxy, all_pairs, all_cells);
    if (galaxy->rank == 0 && lines) {
        write_samples(steps_s, steps, phases_s, galaxy->ranks);
        begin_line("result");
        put_text("quantity", "steps");
        put_count("particles", galaxy->count);
        put_count("ranks", galaxy->ranks);
        put_count("steps", steps);
        put_number("step_s", seconds / (double)steps);
        put_number("pairs_per_step", (double)all_pairs / (double)steps);
        put_number("cells_per_step", (double)all_cells / (double)steps);
        put_number("mflops", flops / seconds / 1e6);
        put_number("balance", balance); /* the most that a rank has over the mean, of each step */
        end_line();
    } else if (galaxy->rank == 0) {
        print_phases(phases_s, galaxy->ranks, steps);
        printf("%d particles on %d ranks: a step takes %.3f ms, %.0f interactions a particle, "
               "%.0f MFLOPS\nthe rank with the most interactions has %.2f times the mean\n",
               galaxy->count, galaxy->ranks, seconds / (double)steps * 1e3,
               (double)(all_pairs + all_cells) / (double)steps / galaxy->count,
               flops / seconds / 1e6, balance);
    }
    free(pairs), free(cells), free(most), free(own), free(steps_s), free(phases_s);
}

#endif
