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

enum { MOST_NONZER = 16, AHEAD = 192 };
#define CONDITION 0.1

/* Rows of a sparse matrix: row i has the elements from start[i] to start[i + 1]. */
struct matrix {
    int rows, *column;
    long *start;
    double *value;
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

/* This rank's block of the matrix. */
static struct matrix make_matrix(uint64_t seed, int n, int nonzer, double shift, int first_row,
                                 int rows, int first_column, int columns) {
    struct vectors vectors = draw_vectors(seed, n, nonzer);
    size_t most = (size_t)most_elements(&vectors, first_row, rows) + AHEAD; /* no end to look for */
    struct matrix matrix = {
        .rows = rows,
        .start = memory_for((size_t)rows + 1, sizeof(long)),
        .column = memory_for(most, sizeof(int)),
        .value = memory_for(most, sizeof(double)),
    };
    double *weight = memory_for((size_t)n, sizeof(double));
    double *sum = memory_for((size_t)columns, sizeof(double));
    weight[0] = 1.0;
    for (int i = 1; i < n; i++)
        weight[i] = weight[i - 1] * pow(CONDITION, 1.0 / n);
    for (int i = 0; i < rows; i++) {
        long start = matrix.start[i];
        matrix.start[i + 1] =
            start + add_row(&vectors, first_row + i, first_column, columns, weight,
                            CONDITION - shift, sum, matrix.column + start, matrix.value + start);
    }
    free(vectors.all);
    free(vectors.chain);
    free(vectors.next);
    free(weight);
    free(sum);
    return matrix;
}

#endif
