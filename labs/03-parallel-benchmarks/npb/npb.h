/* What the NAS Parallel Benchmarks share: classes, what a rank may ask for, verification and the
 * lines that they print.
 *
 * Each program is written from the published specification (Bailey and others: The NAS Parallel
 * Benchmarks, RNR-94-007, 1994) and is verified with the constants and tolerances of NPB 3.4.
 * Mop/s go by the published formulas. These are nominal: they count the operations of the
 * specification, and a program may do a few more or fewer.
 *
 * A published constant or two leave much unseen: CG gives its eigenvalue to all digits with 15 inner
 * iterations as well as with 25. So each program also verifies what the specification does not ask
 * for, as far as it can be known from elsewhere, and counts what it did while the clock ran.
 *
 * Each program prints one JSON object a line: about, a check for each published constant and each
 * other value that is known, result and end. A result that is not the expected one, or other work
 * than the specified, ends the program with exit code 1. */
#ifndef NPB_H
#define NPB_H
/* As the published results were compiled. Nobody asks errno whether a root was of a negative
 * number. */
#pragma GCC optimize("O3", "no-math-errno")

#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* madvise */
#endif
#include "measure.h"
#include <ctype.h>
#include <math.h>
#include <sys/mman.h>

struct npb {
    const char *name; /* "EP" */
    char class;       /* 'S' */
    int place;        /* of the class in the program's table */
    long seed;        /* of the random numbers */
    int checks, passed;
};

/* What this rank did since begin_timing(), counted where it is done: keys, points... It is held
 * against what is specified, so that nobody is fast who does less. */
static long work_done;
static inline void count_work(long amount) { work_done += amount; }

/* The class in the first argument, "S" if there is none. `classes` are those that the
 * benchmark has, in the order of its table. */
static int class_argument(const char *name, const char *classes, int argc, char **argv) {
    const char *asked = argc > 1 && strncmp(argv[1], "--", 2) != 0 ? argv[1] : "S";
    const char *place = strlen(asked) == 1 ? strchr(classes, toupper((unsigned char)*asked)) : NULL;
    if (!place) {
        char known[64] = "";
        for (const char *each = classes; *each; each++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%c",
                     each == classes ? ""
                     : each[1]       ? ", "
                                     : " and ",
                     *each);
        refuse("%s has the classes %s, not '%s'.", name, known, asked);
    }
    return (int)(place - classes);
}

/* Start MPI and read the arguments: a class, and `--seed`, with which the numbers are others and
 * the verification must fail. A benchmark without random numbers has the seed 0. */
static struct npb begin_npb(const char *name, const char *classes, long seed, int *argc,
                            char ***argv) {
    static const char *const KNOWN[] = {"--seed", NULL}, *const NONE[] = {NULL};
    start_mpi(argc, argv);
    MPI_Pcontrol(0);
    refuse_unknown(*argc, *argv, seed ? KNOWN : NONE);
    struct npb npb = {.name = name};
    npb.place = class_argument(name, classes, *argc, *argv);
    npb.class = classes[npb.place];
    npb.seed = number_argument(*argc, *argv, "--seed", seed, 0, (1L << 46) - 1);
    return npb;
}

static inline void refuse_unless_power_of_two(const struct npb *npb) {
    int ranks = all_ranks();
    if (ranks & (ranks - 1))
        refuse("%s takes 1, 2, 4, 8... ranks, a power of two, not %d.", npb->name, ranks);
}

/* Refuse what does not fit, before anything is allocated. `bytes` are those of all ranks together.
 */
static inline void refuse_unless_it_fits(const struct npb *npb, double bytes) {
    char what[80];
    snprintf(what, sizeof what, "%s class %c needs too much memory", npb->name, npb->class);
    refuse_more_memory(what, bytes / all_ranks());
}

/* `count` zeros of `size` bytes each, or an end with a sentence. They are touched, because the
 * kernel hands out a page only when it is first written. What fills several pages of 2 MiB is asked
 * for in those: a processor keeps in mind where some thousand pages are, and with pages of 4 KiB
 * it would have to look it up again at every point of a line along z. */
static inline void *memory_for(size_t count, size_t size) {
    const size_t huge = (size_t)1 << 21, line = 64;
    size_t unit = count * size > 2 * huge ? huge : line, bytes = (count * size / unit + 1) * unit;
    void *memory = aligned_alloc(unit, bytes);
    if (!memory) {
        fprintf(stderr, "There is no memory for %zu bytes on rank %d.\n", bytes, my_rank());
        give_up(1);
    }
    if (unit == huge)
        madvise(memory, bytes, MADV_HUGEPAGE); /* a wish: without it, it only takes longer */
    memset(memory, 0, bytes);
    return memory;
}

/* The first line. `size` is the problem's size in words. */
static void write_about(const struct npb *npb, const char *size) {
    begin_about(npb->name, clock_resolution(), 0);
    if (my_rank() != 0)
        return;
    char class[2] = {npb->class, '\0'};
    put_text("class", class);
    put_text("size", size);
    put_count("seed", npb->seed);
    put_text("mops", "nominal operations by the published formula, over the slowest rank's time");
    end_line();
    flush_lines();
}

/* Numbers with all their digits; JSON knows none that is infinite. */
static void put_list(const char *name, const double *values, int count) {
    printf(", \"%s\": [", name);
    for (int i = 0; i < count; i++)
        printf(isfinite(values[i]) ? "%s%.17g" : "%snull", i ? ", " : "", values[i]);
    putchar(']');
}

/* Hold `count` numbers that belong together, such as the parts of a complex one, against the
 * expected ones: the length of their difference, over the length of the expected ones; over 1 where
 * 0 is expected. `source` says how these are known if they are not published. Every rank calls it
 * with the same values. */
static void verify_as(struct npb *npb, const char *source, const char *quantity,
                      const double *values, const double *expected, int count, double tolerance) {
    double off = 0.0, length = 0.0;
    for (int i = 0; i < count; i++) {
        off += (values[i] - expected[i]) * (values[i] - expected[i]);
        length += expected[i] * expected[i];
    }
    double error = sqrt(length == 0.0 ? off : off / length);
    int same = error <= tolerance; /* not so if it is no number */
    npb->checks++;
    npb->passed += same;
    if (my_rank() != 0)
        return;
    begin_line("check");
    put_text("quantity", quantity);
    put_list("value", values, count);
    put_list(source ? "expected" : "published", expected, count);
    if (source)
        put_text("source", source);
    if (isfinite(error))
        put_number("relative_error", error);
    put_number("tolerance", tolerance);
    put_truth("verified", same);
    end_line();
    for (int i = 0; i < count && !same; i++)
        if (values[i] != expected[i])
            fprintf(stderr, "%s class %c is wrong: %s is %.15g, and %.15g is %s.\n", npb->name,
                    npb->class, quantity, values[i], expected[i],
                    source ? "expected" : "published");
}

static inline void verify_vector(struct npb *npb, const char *quantity, const double *values,
                                 const double *published, int count, double tolerance) {
    verify_as(npb, NULL, quantity, values, published, count, tolerance);
}

/* Something that may be at most so large, such as what is left of a residual. */
static inline void verify_at_most(struct npb *npb, const char *source, const char *quantity,
                                  double value, double most) {
    const double nothing = 0.0;
    verify_as(npb, source, quantity, &value, &nothing, 1, most);
}

static inline void verify_value(struct npb *npb, const char *quantity, double value,
                                double published, double tolerance) {
    verify_vector(npb, quantity, &value, &published, 1, tolerance);
}

/* The same for the numbered parts of one quantity, each by itself. */
static inline void verify_values(struct npb *npb, const char *quantity, const double *values,
                                 const double *published, int count, double tolerance) {
    for (int i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_%d", quantity, i + 1);
        verify_value(npb, name, values[i], published[i], tolerance);
    }
}

/* What is timed begins when all ranks are there. MPI_Pcontrol tells a profiling layer such as
 * ../profile.c, if one is loaded, that it is to count from here on; else it does nothing. */
static double begin_timing(void) {
    check(MPI_Barrier(MPI_COMM_WORLD));
    MPI_Pcontrol(1);
    work_done = 0;
    return MPI_Wtime();
}

/* What this rank took since then, and what it did. */
struct timed {
    double seconds;
    long work;
};

static struct timed end_timing(double began) {
    struct timed timed = {MPI_Wtime() - began, work_done};
    MPI_Pcontrol(0);
    return timed;
}

/* What all ranks together did while the clock ran, as `counted` calls it, against the specified. */
static int did_the_work(const struct npb *npb, long work, const char *counted, double specified) {
    if ((double)work == specified)
        return 1;
    if (my_rank() == 0)
        fprintf(stderr, "%s class %c did other work than is specified: %ld %s, not %.0f.\n",
                npb->name, npb->class, work, counted, specified);
    return 0;
}

/* The last lines, and the program's exit code. `timed` is this rank's; `operations` are those that
 * the published formula counts, `specified` what the program itself has to count as its work. */
static int end_npb(const struct npb *npb, struct timed timed, double operations,
                   const char *counted, double specified) {
    double longest = slowest(timed.seconds);
    long work;
    check(MPI_Allreduce(&timed.work, &work, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    int verified = npb->checks > 0 && npb->passed == npb->checks, place = my_rank();
    verified &= did_the_work(npb, work, counted, specified);
    if (place == 0) {
        char class[2] = {npb->class, '\0'};
        begin_line("result");
        put_text("name", npb->name);
        put_text("class", class);
        put_count("ranks", all_ranks());
        put_number("seconds", longest);
        put_number("mops", operations / longest / 1e6);
        put_truth("verified", verified);
        put_count("checks", npb->checks);
        put_text("counted", counted);
        put_count("work", work);
        put_text("verified_against", "the constants that are published with NPB 3.4, and what "
                                     "follows from its specification");
        end_line();
        write_end();
    }
    check(MPI_Finalize());
    if (place > 0 || verified)
        return 0;
    wait_until_heard(); /* what stderr says, before mpiexec ends all ranks */
    return 1;
}

#endif
