/* The particles that a run begins with: a model by name, or a file. Masses add up to 1, and G is 1.
 * A particle is drawn with random numbers of its own, so that it does not depend on how many ranks
 * or other particles there are. */
#ifndef MODELS_H
#define MODELS_H

#include "measure.h"
#include <math.h>
#include <stdint.h>

struct particle {
    double position[3], velocity[3], mass;
    double acceleration[3], potential;
    int number; /* its place in the model or in the file; it stays the same */
    int cost;   /* how many bodies and cells acted on it in the last step */
};

static const char *const MODELS[] = {"plummer", "galaxies", "cube", NULL};

static inline double draw(uint64_t *state, double from, double to) {
    return from + (to - from) * (double)(next_random(state) >> 11) * 0x1p-53;
}

static inline void draw_direction(uint64_t *state, double length, double *vector) {
    double z = draw(state, -1.0, 1.0), round = draw(state, 0.0, 2.0 * acos(-1.0));
    vector[0] = length * sqrt(1.0 - z * z) * cos(round);
    vector[1] = length * sqrt(1.0 - z * z) * sin(round);
    vector[2] = length * z;
}

/* A sphere in equilibrium (Aarseth, Henon and Wielen 1974); 1 % of the mass, far outside, is left
 * out. */
static inline void draw_plummer(struct particle *particle, uint64_t *state, double mass,
                                double scale) {
    double within = draw(state, 0.0, 0.99), part, chance;
    double radius = scale / sqrt(pow(within, -2.0 / 3.0) - 1.0);
    do { /* the part of the escape velocity: likely where the curve is high */
        part = draw(state, 0.0, 1.0);
        chance = draw(state, 0.0, 0.1);
    } while (chance > part * part * pow(1.0 - part * part, 3.5));
    double escape = sqrt(2.0 * mass / sqrt(radius * radius + scale * scale));
    draw_direction(state, radius, particle->position);
    draw_direction(state, part * escape, particle->velocity);
}

/* An exponential disc that turns about its axis in the field of itself and of a Plummer sphere,
 * half the mass each. */
static inline void draw_disc(struct particle *particle, uint64_t *state, double mass, double scale,
                             double sphere_scale) {
    double radius = -scale * log(draw(state, 1e-9, 1.0) * draw(state, 1e-9, 1.0));
    double round = draw(state, 0.0, 2.0 * acos(-1.0));
    double of_disc = 1.0 - (1.0 + radius / scale) * exp(-radius / scale);
    double of_sphere = pow(1.0 + sphere_scale * sphere_scale / (radius * radius), -1.5);
    double speed = sqrt(0.5 * mass * (of_disc + of_sphere) / radius);
    double outwards[] = {cos(round), sin(round), 0.0}, along[] = {-sin(round), cos(round), 0.0};
    for (int k = 0; k < 3; k++) {
        particle->position[k] = radius * outwards[k];
        particle->velocity[k] = speed * (along[k] + draw(state, -0.05, 0.05));
    }
    particle->position[2] += draw(state, -0.1, 0.1) * scale;
}

/* One of two galaxies that fly towards each other; the second one is tilted. */
static inline void draw_galaxies(struct particle *particle, uint64_t *state) {
    double sign = particle->number % 2 ? 1.0 : -1.0, tilt = particle->number % 2 ? 1.0 : 0.0;
    const double middle[] = {1.2, 0.4, 0.1}, flight[] = {-0.4, 0.0, 0.0};
    if (particle->number / 2 % 2)
        draw_plummer(particle, state, 0.5, 0.25);
    else
        draw_disc(particle, state, 0.5, 0.15, 0.25);
    double *vectors[] = {particle->position, particle->velocity};
    for (int i = 0; i < 2; i++) {
        double y = vectors[i][1], z = vectors[i][2];
        vectors[i][1] = cos(tilt) * y - sin(tilt) * z;
        vectors[i][2] = sin(tilt) * y + cos(tilt) * z;
    }
    for (int k = 0; k < 3; k++) {
        particle->position[k] += sign * middle[k];
        particle->velocity[k] += sign * flight[k];
    }
}

static inline void draw_particle(struct particle *particle, int model, long seed, int number,
                                 int count) {
    uint64_t state = (uint64_t)seed * 1000000007u + (uint64_t)number;
    state = next_random(&state);
    memset(particle, 0, sizeof *particle);
    particle->number = number;
    particle->mass = 1.0 / count;
    if (model == 0) /* with this scale its energy is -1/4 */
        draw_plummer(particle, &state, 1.0, 3.0 * acos(-1.0) / 16.0);
    else if (model == 1)
        draw_galaxies(particle, &state);
    else
        for (int k = 0; k < 3; k++)
            particle->position[k] = draw(&state, -0.5, 0.5);
}

/* One particle a line: x y z vx vy vz mass. Only rank 0 reads; gives how many there are, at most
 * `most`. */
static inline int read_particles(const char *path, struct particle *particles, int most) {
    FILE *file = fopen(path, "r");
    char line[512];
    int count = 0;
    if (!file)
        refuse_here("%s cannot be read: %s.", path, strerror(errno));
    for (int number = 1; fgets(line, sizeof line, file); number++) {
        struct particle *new = &particles[count];
        double *x = new->position, *v = new->velocity;
        if (line[0] == '#')
            continue;
        if (count == most)
            refuse_here("%s has more than %d particles; --particles N reads N.", path, most);
        memset(new, 0, sizeof *new);
        if (sscanf(line, "%lf %lf %lf %lf %lf %lf %lf", &x[0], &x[1], &x[2], &v[0], &v[1], &v[2],
                   &new->mass) != 7)
            refuse_here("line %d of %s is not x y z vx vy vz mass.", number, path);
        if (!(new->mass > 0.0 && isfinite(new->mass)))
            refuse_here("line %d of %s has the mass %g; it must be above 0.", number, path,
                        new->mass);
        new->number = count++;
    }
    fclose(file);
    if (count < 2)
        refuse_here("%s has fewer than two particles.", path);
    return count;
}

#endif
