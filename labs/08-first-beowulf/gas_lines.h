/* What a run of the gas gives, as text, as lines of JSON and as an image. The serial program has
 * the same, so nothing of MPI is here. */
#ifndef GAS_LINES_H
#define GAS_LINES_H

#include "measure/arguments.h"
#include "measure/lines.h"
#include "problems.h"

/* Seconds of all steps of a run. Waiting is for the ranks to agree on the time of a step. */
struct parts {
    double computing, communicating, waiting, all;
};

struct outcome {
    long steps, images, computed_zones; /* ghosts, too, where two ranks computed the same zone */
    double time, before[QUANTITIES], after[QUANTITIES], error;
    uint64_t bits;
};

static inline double decimal_argument(int argc, char **argv, const char *name, double otherwise,
                                      double lowest, double highest) {
    const char *text = text_argument(argc, argv, name, NULL);
    char *end;
    double value = text ? strtod(text, &end) : otherwise;
    if (text && (end == text || *end || !(value >= lowest && value <= highest)))
        refuse("%s takes a number from %g to %g, not '%s'.", name, lowest, highest, text);
    return value;
}

/* How much a quantity has changed, relative to its sum; momenta relative to the largest that gas of
 * this mass and energy can have, because their sum may be 0. */
static inline double drift(const struct outcome *outcome, int k) {
    const double *before = outcome->before;
    double whole = k == MASS || k == ENERGY ? before[k] : sqrt(2.0 * before[MASS] * before[ENERGY]);
    return (outcome->after[k] - before[k]) / whole;
}

/* Zones that became one step older in a second, and million operations a second for them. What two
 * ranks both compute counts once. */
static inline double zones_per_s(const struct grid *grid, const struct parts *parts,
                                 const struct outcome *outcome) {
    return (double)(grid->columns * grid->rows) * (double)outcome->steps / parts->all;
}

static inline double computed_share(const struct grid *grid, const struct outcome *outcome) {
    double once = (double)(grid->columns * grid->rows) * (double)outcome->steps;
    return (double)outcome->computed_zones / once;
}

static inline void write_samples(const struct parts *parts, long steps, long pass) {
    const char *const quantities[] = {"step_s", "computing_s", "communicating_s", "waiting_s"};
    const double seconds[] = {parts->all, parts->computing, parts->communicating, parts->waiting};
    for (int i = 0; i < 4; i++) {
        begin_line("sample");
        put_text("quantity", quantities[i]);
        put_count("repetitions", steps);
        put_number("seconds", seconds[i]);
        put_count("pass", pass);
        end_line();
    }
}

static inline void write_outcome(const struct problem *problem, const struct grid *grid,
                                 const struct parts *parts, const struct outcome *outcome) {
    char bits[20];
    snprintf(bits, sizeof bits, "%016llx", (unsigned long long)outcome->bits);
    begin_line("result");
    put_text("problem", problem->name);
    put_count("columns", grid->columns);
    put_count("rows", grid->rows);
    put_count("steps", outcome->steps);
    put_number("time", outcome->time);
    put_number("mass_drift", drift(outcome, MASS));
    put_number("momentum_x_drift", drift(outcome, MOMENTUM));
    put_number("momentum_y_drift", drift(outcome, MOMENTUM_ACROSS));
    put_number("energy_drift", drift(outcome, ENERGY));
    if (problem->is_exact)
        put_number("density_error", outcome->error);
    put_text("bits", bits);
    put_number("zones_per_s", zones_per_s(grid, parts, outcome));
    put_count("flops_per_zone", ZONE_FLOPS);
    put_number("mflops", zones_per_s(grid, parts, outcome) * ZONE_FLOPS * 1e-6);
    put_number("computed_share", computed_share(grid, outcome));
    end_line();
}

static inline void print_outcome(const struct problem *problem, const struct grid *grid,
                                 const struct parts *parts, const struct outcome *outcome,
                                 int ranks) {
    double ms = 1e3 / (double)(outcome->steps > 0 ? outcome->steps : 1);
    printf("%s, %ld x %ld zones, %d rank%s: %ld steps to time %.4g\n", problem->name, grid->columns,
           grid->rows, ranks, ranks == 1 ? "" : "s", outcome->steps, outcome->time);
    printf("a step takes %.3f ms: %.3f computing, %.3f communicating, %.3f waiting\n",
           parts->all * ms, parts->computing * ms, parts->communicating * ms, parts->waiting * ms);
    printf("%.0f zones/s, %.1f MFLOPS at %d operations a zone; computed %.2f times\n",
           zones_per_s(grid, parts, outcome), zones_per_s(grid, parts, outcome) * ZONE_FLOPS * 1e-6,
           ZONE_FLOPS, computed_share(grid, outcome));
    printf("drift: mass %.1e, momentum %.1e and %.1e, energy %.1e\n", drift(outcome, MASS),
           drift(outcome, MOMENTUM), drift(outcome, MOMENTUM_ACROSS), drift(outcome, ENERGY));
    if (problem->is_exact)
        printf("mean error of the density: %.4e\n", outcome->error);
    printf("bits: %016llx\n", (unsigned long long)outcome->bits);
}

/* --- an image: a file that numpy.load reads --- */

enum { IMAGE_HEAD = 128 };

/* Gives NULL when the file cannot be written. */
static inline FILE *begin_image(const char *name) {
    FILE *image = fopen(name, "wb");
    if (image)
        fseek(image, IMAGE_HEAD, SEEK_SET);
    return image;
}

/* What is in the file is known only now. */
static inline void end_image(FILE *image, long images, const struct grid *grid) {
    char head[IMAGE_HEAD] = "\x93NUMPY\x01";
    memset(head + 8, ' ', sizeof head - 8);
    head[8] = IMAGE_HEAD - 10, head[9] = 0;
    int length = snprintf(head + 10, sizeof head - 10,
                          "{'descr': '<f8', 'fortran_order': False, 'shape': (%ld, %ld, %ld), }",
                          images, grid->rows, grid->columns);
    head[10 + length] = ' ', head[IMAGE_HEAD - 1] = '\n';
    fseek(image, 0, SEEK_SET);
    size_t written = fwrite(head, 1, sizeof head, image);
    if (fclose(image) != 0 || written < sizeof head)
        fprintf(stderr, "The image could not be written.\n");
}

#endif
