/* The matrix of CG: sparse, symmetric, with random places and a known spread of eigenvalues.
 *
 * It is the sum of n outer products w_i x_i x_i' of sparse random vectors, plus (0.1 - shift) on
 * the diagonal. w_i falls from 1 to 0.1, always by the same factor. Vector i has `nonzer` random
 * numbers at random places, and 0.5 at place i. Every rank draws all the vectors, because there is
 * one sequence of random numbers, and keeps the rows and columns that are its own. */
#ifndef NPB_CG_MATRIX_H
#define NPB_CG_MATRIX_H

#include "npb.h"
#include "random.h"

enum { MOST_NONZER = 16, TILE_ROWS = 1024, TILE_COLUMNS = 2336, MOST_BANDS = 8 };
enum { LANES = 4, AHEAD = 1024 };
#define CONDITION 0.1

/* A sparse matrix, kept in tiles. A whole row jumps about in a vector that is larger than a
 * processor's first cache. A tile needs only its part of the vector, 18 KB, which stays in there
 * while the tile is multiplied; of very wide matrices the tiles are wider.
 *
 *        band 0  band 1           tile t is in band t % bands
 *      +-------+-------+
 *      |   0   |   1   |  1024 rows
 *      +-------+-------+
 *      |   2   |   3   |
 *      +-------+-------+
 *
 * What a row has in a tile is a piece. Four pieces lie side by side in a bundle, as lanes of a
 * road: the first element of each, then the second of each, and so on, with zeros where one is
 * shorter. So four sums grow at once, none of which waits for another, and the processor
 * learns once for four rows that a loop ends. The pieces of a tile are in the order of their
 * lengths, so that those of a bundle are about equally long.
 *
 *        lane      0   1   2   3
 *                 a0  b0  c0  d0     from start[bundle]
 *                 a1  b1  c1  d1
 *                  0  b2  c2  d2     to start[bundle + 1]
 */
struct matrix {
    int width, bands; /* columns of a tile, and tiles side by side */
    int tiles;        /* in all */
    long elements;    /* in all, without the zeros of the bundles */
    long *tile;       /* tile t has the bundles from tile[t] to tile[t + 1] */
    long *start;      /* of each bundle */
    uint16_t *row;    /* of each bundle's lanes, counted within the tile */
    uint16_t *column; /* of each element, counted within the tile */
    double *value;    /* of each element */
};

struct sparse_vector {
    int count, place[MOST_NONZER];
    double value[MOST_NONZER];
};

/* `nonzer` numbers at different random places below n. A number and a place are drawn together;
 * places from n up to the next power of two are thrown away, and so are those that are taken. */
static struct sparse_vector draw_vector(uint64_t *state, int n, int nonzer) {
    struct sparse_vector vector = {0};
    int power = 1;
    while (power < n)
        power *= 2;
    while (vector.count < nonzer) {
        double value = draw(state);
        int place = (int)(power * draw(state)), taken = place >= n;
        for (int i = 0; i < vector.count; i++)
            taken |= vector.place[i] == place;
        if (taken)
            continue;
        vector.value[vector.count] = value;
        vector.place[vector.count++] = place;
    }
    return vector;
}

/* Set one place of a vector, whether it has something there or not. */
static void set_place(struct sparse_vector *vector, int place, double value) {
    for (int i = 0; i < vector->count; i++)
        if (vector->place[i] == place) {
            vector->value[i] = value;
            return;
        }
    vector->place[vector->count] = place;
    vector->value[vector->count++] = value;
}

/* All vectors, and for each row a list of the places where vectors have something in it: chain[row]
 * is the first of them, next[] leads from one to the next, and -1 ends it. */
struct vectors {
    struct sparse_vector *all;
    int *chain, *next;
};

static struct vectors draw_vectors(uint64_t seed, int n, int nonzer) {
    struct vectors vectors = {
        .all = memory_for((size_t)n, sizeof(struct sparse_vector)),
        .chain = memory_for((size_t)n, sizeof(int)),
        .next = memory_for((size_t)n * MOST_NONZER, sizeof(int)),
    };
    uint64_t state = jump(seed, 1); /* the first number is not used */
    memset(vectors.chain, -1, (size_t)n * sizeof(int));
    for (int i = 0; i < n; i++) {
        vectors.all[i] = draw_vector(&state, n, nonzer);
        set_place(&vectors.all[i], i, 0.5);
        for (int j = 0; j < vectors.all[i].count; j++) {
            int row = vectors.all[i].place[j];
            vectors.next[i * MOST_NONZER + j] = vectors.chain[row];
            vectors.chain[row] = i * MOST_NONZER + j;
        }
    }
    return vectors;
}

/* More elements than some rows can have: those that coincide are counted twice. */
static long most_elements(const struct vectors *vectors, int first_row, int rows) {
    long count = 0;
    for (int row = first_row; row < first_row + rows; row++)
        for (int at = vectors->chain[row]; at >= 0; at = vectors->next[at])
            count += vectors->all[at / MOST_NONZER].count;
    return count;
}

static long most_in_a_row(const struct vectors *vectors, int first_row, int rows) {
    long longest = 0;
    for (int row = first_row; row < first_row + rows; row++) {
        long count = most_elements(vectors, row, 1);
        longest = count > longest ? count : longest;
    }
    return longest;
}

/* One row as the sum of what all vectors bring to it. `sum` has a zero for each column, before and
 * after. */
static long add_row(const struct vectors *vectors, int row, int first_column, int columns,
                    const double *weight, double diagonal, double *sum, int *column,
                    double *value) {
    long count = 0;
    for (int at = vectors->chain[row]; at >= 0; at = vectors->next[at]) {
        const struct sparse_vector *vector = &vectors->all[at / MOST_NONZER];
        double factor = weight[at / MOST_NONZER] * vector->value[at % MOST_NONZER];
        for (int k = 0; k < vector->count; k++) {
            int place = vector->place[k] - first_column;
            if (place < 0 || place >= columns)
                continue;
            if (sum[place] == 0.0)
                column[count++] = place;
            sum[place] += factor * vector->value[k];
        }
    }
    for (long k = 0; k < count; k++) {
        value[k] = sum[column[k]] + (column[k] + first_column == row ? diagonal : 0.0);
        sum[column[k]] = 0.0;
    }
    return count;
}

/* Rows of the matrix that are to be cut into tiles. */
struct slice {
    int rows, start[TILE_ROWS + 1]; /* row i has the elements from start[i] to start[i + 1] */
    int *column;
    double *value;
    int *length; /* of each row's pieces, band by band */
    long *next;  /* where the next element of each piece is put */
};

/* Give the pieces of one tile their lanes, the short ones first. */
static void place_pieces(struct matrix *matrix, const struct slice *slice, int band) {
    const int *length = slice->length + band * TILE_ROWS;
    long *next = slice->next + band * TILE_ROWS, bundle = matrix->tile[matrix->tiles];
    int longest = 0, lane = 0;
    for (int row = 0; row < slice->rows; row++)
        longest = length[row] > longest ? length[row] : longest;
    for (int wanted = 1; wanted <= longest; wanted++)
        for (int row = 0; row < slice->rows; row++) {
            if (length[row] != wanted)
                continue;
            next[row] = matrix->start[bundle] + lane;
            matrix->row[bundle * LANES + lane] = (uint16_t)row;
            matrix->start[bundle + 1] = matrix->start[bundle] + (long)wanted * LANES;
            lane = (lane + 1) % LANES;
            bundle += lane == 0;
        }
    matrix->tile[++matrix->tiles] = bundle + (lane > 0);
}

/* Append the slice to the matrix, as a tile for each band. */
static void cut_into_tiles(struct matrix *matrix, const struct slice *slice) {
    memset(slice->length, 0, (size_t)matrix->bands * TILE_ROWS * sizeof *slice->length);
    for (int row = 0; row < slice->rows; row++)
        for (int k = slice->start[row]; k < slice->start[row + 1]; k++)
            slice->length[slice->column[k] / matrix->width * TILE_ROWS + row]++;
    for (int band = 0; band < matrix->bands; band++)
        place_pieces(matrix, slice, band);
    for (int row = 0; row < slice->rows; row++)
        for (int k = slice->start[row]; k < slice->start[row + 1]; k++) {
            int band = slice->column[k] / matrix->width;
            long at = slice->next[band * TILE_ROWS + row];
            slice->next[band * TILE_ROWS + row] += LANES;
            matrix->column[at] = (uint16_t)(slice->column[k] - band * matrix->width);
            matrix->value[at] = slice->value[k];
        }
}

/* Room for `most` elements in all, and for `most_in_row` in a row. The zeros in a tile are fewer
 * than two bundles of its longest piece have elements: one for what the lengths grow by from bundle
 * to bundle, and one for the last, which may have a single piece. */
static struct matrix empty_matrix(int rows, int columns, long most, long most_in_row) {
    struct matrix matrix = {.width = columns / MOST_BANDS + 1};
    if (matrix.width < TILE_COLUMNS)
        matrix.width = TILE_COLUMNS;
    matrix.bands = (columns - 1) / matrix.width + 1;
    size_t tiles = ((size_t)(rows - 1) / TILE_ROWS + 1) * (size_t)matrix.bands;
    matrix.tile = memory_for(tiles + 1, sizeof(long));
    matrix.start = memory_for(tiles * (TILE_ROWS / LANES) + 1, sizeof(long));
    matrix.row = memory_for(tiles * TILE_ROWS, sizeof(uint16_t));
    size_t zeros = tiles * 2 * LANES * (size_t)most_in_row;
    size_t elements =
        (size_t)most + zeros + AHEAD; /* what is fetched ahead has no end to look for */
    matrix.column = memory_for(elements, sizeof(uint16_t));
    matrix.value = memory_for(elements, sizeof(double));
    return matrix;
}

/* Room for the largest slice. */
static struct slice empty_slice(const struct vectors *vectors, int first_row, int rows, int bands) {
    size_t largest = 0;
    for (int first = 0; first < rows; first += TILE_ROWS) {
        int here = rows - first < TILE_ROWS ? rows - first : TILE_ROWS;
        size_t most = (size_t)most_elements(vectors, first_row + first, here);
        largest = most > largest ? most : largest;
    }
    return (struct slice){
        .column = memory_for(largest, sizeof(int)),
        .value = memory_for(largest, sizeof(double)),
        .length = memory_for((size_t)bands * TILE_ROWS, sizeof(int)),
        .next = memory_for((size_t)bands * TILE_ROWS, sizeof(long)),
    };
}

/* This rank's block of the matrix. */
static struct matrix make_matrix(uint64_t seed, int n, int nonzer, double shift, int first_row,
                                 int rows, int first_column, int columns) {
    struct vectors vectors = draw_vectors(seed, n, nonzer);
    struct matrix matrix = empty_matrix(rows, columns, most_elements(&vectors, first_row, rows),
                                        most_in_a_row(&vectors, first_row, rows));
    struct slice slice = empty_slice(&vectors, first_row, rows, matrix.bands);
    double *weight = memory_for((size_t)n, sizeof(double));
    double *sum = memory_for((size_t)columns, sizeof(double));
    double fall = pow(CONDITION, 1.0 / n);
    weight[0] = 1.0;
    for (int i = 1; i < n; i++)
        weight[i] = weight[i - 1] * fall;
    for (int first = 0; first < rows; first += TILE_ROWS) {
        slice.rows = rows - first < TILE_ROWS ? rows - first : TILE_ROWS;
        for (int i = 0; i < slice.rows; i++) {
            int start = slice.start[i];
            slice.start[i + 1] = start + (int)add_row(&vectors, first_row + first + i, first_column,
                                                      columns, weight, CONDITION - shift, sum,
                                                      slice.column + start, slice.value + start);
        }
        matrix.elements += slice.start[slice.rows];
        cut_into_tiles(&matrix, &slice);
    }
    free(vectors.all);
    free(vectors.chain);
    free(vectors.next);
    free(slice.column);
    free(slice.value);
    free(slice.length);
    free(slice.next);
    free(weight);
    free(sum);
    return matrix;
}

#endif
