/* What all ranks together find out about the gas: sums, errors, a checksum and an image. No bit of
 * them depends on the number of ranks, except the last ones of the mean error. */
#ifndef GAS_SUMS_H
#define GAS_SUMS_H

#include "tiles.h"

/* The sum of each quantity in all zones: first each tile's, then in the order of the tiles, so that
 * the number of ranks changes no bit. */
static inline void sum_up(const struct tiles *tiles, double sums[QUANTITIES]) {
    long all = tiles->columns * tiles->rows * QUANTITIES;
    double *mine = room_for(all, sizeof(double)), *theirs = room_for(all, sizeof(double));
    for (struct place place = {0}; next_zone(tiles, &place);)
        for (int k = 0; k < QUANTITIES; k++)
            mine[place.tile->number * QUANTITIES + k] +=
                *zone_of(tiles, place.tile, k, place.row, place.column);
    check(MPI_Allreduce(mine, theirs, (int)all, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    memset(sums, 0, QUANTITIES * sizeof(double));
    for (long i = 0; i < all; i++)
        sums[i % QUANTITIES] += theirs[i];
    free(mine), free(theirs);
}

/* The mean difference of the density from the exact one. */
static inline double mean_error(const struct tiles *tiles, double time) {
    double mine = 0.0, sum, gas[QUANTITIES];
    for (struct place place = {0}; next_zone(tiles, &place);) {
        tiles->problem->state(&tiles->grid, place.grid_column, place.grid_row, time, gas);
        mine += fabs(*zone_of(tiles, place.tile, MASS, place.row, place.column) - gas[DENSITY]);
    }
    check(MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    return sum / (double)(tiles->grid.columns * tiles->grid.rows);
}

/* A number that each bit of each zone changes. */
static inline uint64_t all_bits(const struct tiles *tiles) {
    uint64_t mine = 0, all;
    for (struct place place = {0}; next_zone(tiles, &place);)
        for (int k = 0; k < QUANTITIES; k++)
            mine ^= zone_bits(&tiles->grid, place.grid_column, place.grid_row, k,
                              *zone_of(tiles, place.tile, k, place.row, place.column));
    check(MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD));
    return all;
}

/* Add the density of all zones to the image file. The barrier keeps other ranks from waiting for
 * rank 0 in a step. */
static inline void add_image(const struct tiles *tiles, FILE *image) {
    long size = tiles->side * tiles->side, mine = size * tiles->count;
    long columns = tiles->grid.columns, all = my_rank() == 0 ? mine * all_ranks() : 0, i = 0;
    double *out = room_for(mine, sizeof(double)), *in = room_for(all, sizeof(double));
    double *picture = room_for(all, sizeof(double));
    for (struct place place = {0}; next_zone(tiles, &place);)
        out[i++] = *zone_of(tiles, place.tile, MASS, place.row, place.column);
    check(MPI_Gather(out, (int)mine, MPI_DOUBLE, in, (int)mine, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    for (i = 0; i < all; i++) {
        long tile = i / size, row = i % size / tiles->side, column = i % tiles->side;
        row += tile / tiles->columns * tiles->side, column += tile % tiles->columns * tiles->side;
        picture[row * columns + column] = in[i];
    }
    if (my_rank() == 0)
        fwrite(picture, sizeof(double), (size_t)all, image);
    free(out), free(in), free(picture);
    check(MPI_Barrier(MPI_COMM_WORLD));
}

#endif
