/* How MG starts: a cube of zeros, but for +1 at ten points and -1 at ten others. They are where the
 * ten largest and the ten smallest of as many random numbers as there are points would stand. */
#ifndef NPB_MG_START_H
#define NPB_MG_START_H

#include "mg_levels.h"
#include "random.h"

enum { CHARGES = 10 };

struct extreme {
    double value; /* by which the list is sorted, largest first */
    long place;   /* in the whole cube */
};

/* Put a value into its place in a list of the largest ones. */
static void note_extreme(struct extreme *list, double value, long place) {
    if (value <= list[CHARGES - 1].value)
        return;
    int i = CHARGES - 1;
    for (; i > 0 && list[i - 1].value < value; i--)
        list[i] = list[i - 1];
    list[i] = (struct extreme){value, place};
}

/* The first point of a row of this rank, counted in the whole cube. */
static long row_start(const struct box *box, const struct level *level, int y, int z) {
    long across = level->points[0] * box->place[0];
    long up = level->points[1] * box->place[1] + y, deep = level->points[2] * box->place[2] + z;
    return (deep * level->side + up) * level->side + across;
}

/* Each rank draws the numbers of its own points. `sign` -1 finds the smallest. */
static void find_extremes(const struct box *box, const struct level *level, uint64_t seed,
                          double sign, struct extreme *list) {
    for (int i = 0; i < CHARGES; i++)
        list[i] = (struct extreme){-2.0, -1};
    for (int z = 0; z < level->points[2]; z++)
        for (int y = 0; y < level->points[1]; y++) {
            long start = row_start(box, level, y, z);
            uint64_t state = jump(seed, (uint64_t)start);
            for (int x = 0; x < level->points[0]; x++)
                note_extreme(list, sign * draw(&state), start + x);
        }
}

/* From the lists of all ranks, the list of the whole cube. */
static void merge_extremes(struct extreme *list) {
    int ranks = all_ranks(), bytes = CHARGES * (int)sizeof *list;
    struct extreme *all = memory_for((size_t)(ranks * CHARGES), sizeof *list);
    check(MPI_Allgather(list, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD));
    for (int i = 0; i < CHARGES; i++)
        list[i] = (struct extreme){-2.0, -1};
    for (int i = 0; i < ranks * CHARGES; i++)
        note_extreme(list, all[i].value, all[i].place);
    free(all);
}

/* Set this rank's points among those of a list. */
static void set_charges(const struct box *box, const struct level *level,
                        const struct extreme *list, double charge, double *values) {
    for (int i = 0; i < CHARGES; i++) {
        long rest = list[i].place;
        size_t at = 0;
        int mine = 1;
        for (int axis = 0; axis < AXES; axis++, rest /= level->side) {
            long place = rest % level->side - level->points[axis] * box->place[axis];
            mine &= place >= 0 && place < level->points[axis];
            at += (size_t)(place + 1) * level->stride[axis];
        }
        if (mine)
            values[at] = charge;
    }
}

static void place_charges(const struct box *box, const struct level *level, uint64_t seed,
                          double *values) {
    memset(values, 0, level->size * sizeof *values);
    for (int sign = -1; sign <= 1; sign += 2) {
        struct extreme list[CHARGES];
        find_extremes(box, level, seed, sign, list);
        merge_extremes(list);
        set_charges(box, level, list, sign, values);
    }
    exchange_ghosts(box, level, values);
}

/* A sum that only these charges at these places have: of each place, counted from 1, as a number of
 * the whole cube; positive ones count 100 times, negative ones once. */
static double digest_of(const struct box *box, const struct level *level, const double *values) {
    double sum = 0.0, all;
    for (int z = 0; z < level->points[2]; z++)
        for (int y = 0; y < level->points[1]; y++) {
            const double *row = values + level->stride[0] + (size_t)(y + 1) * level->stride[1] +
                                (size_t)(z + 1) * level->stride[2];
            for (int x = 0; x < level->points[0]; x++)
                sum += (row[x] > 0.0 ? 100.0 : 1.0) * fabs(row[x]) *
                       (double)(row_start(box, level, y, z) + x + 1);
        }
    check(MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return all;
}

#endif
