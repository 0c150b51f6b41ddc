/* CG, conjugate gradient: how fast does a sparse matrix meet a vector that is spread over ranks?
 *
 * The smallest eigenvalue of a sparse symmetric matrix is estimated by the inverse power method.
 * Each of its steps solves A z = x with 25 iterations of the conjugate gradient method: a product
 * of the matrix with a vector, two dot products and three sums of vectors each. The matrix has its
 * elements at random places, so the memory is read all over.
 *
 * The ranks form a grid, and each has a block of the matrix. A rank in grid column c holds part c
 * of every vector, and so do all ranks below it.
 *
 *        p0 p1          q = A p: each rank multiplies its block with its part of p; the sum over
 *      +-----+-----+    its grid row gives part r of q to all ranks of grid row r. Part c is
 *   q0 |  0  |  1  |    wanted instead: each rank gets it from its mirror image, here 1 from 2.
 *      +-----+-----+
 *   q1 |  2  |  3  |
 *      +-----+-----+
 *
 * What is sent in each of the 25 iterations, point to point: a part of a vector to as many ranks
 * as it takes for a sum over the grid row (log2 of its length), the same once to the mirror image,
 * and two single numbers summed over the grid row. All messages wait for the one before.
 *
 *     beowulf run -n 4 cg.c S       1400 rows; W 7000, A 14000, B 75000, C 150000
 */
#include "cg_matrix.h"

enum { INNER = 25, TAG = 3 };
#define ROUNDING 1e-13 /* some 50 times what is left for x of length 1 */

/* Verified is the eigenvalue, which hardly notices how exactly A z = x is solved: it is right to all
 * published digits with 15 inner iterations. So two things more are known: how many elements the
 * matrix has, and how small the residual of the last outer iteration becomes. `residual` is a bound
 * between what was measured after 25 inner iterations and after 24, which leave four to 27 times as
 * much. (In classes S, W and A both are the same to five digits on 1 to 8 ranks. In B, where 75 outer
 * iterations round, they were half as large on 2 and 4 ranks as on one; C was run on 1 and 4.) */
static const struct {
    int n, nonzer, iterations;
    double shift, zeta;
    long elements;
    double residual;
} CLASSES[] = {
    {1400, 7, 15, 10.0, 8.5971775078648, 78148, 1.4e-22},        /* S */
    {7000, 8, 15, 12.0, 10.362595087124, 508402, 3.4e-23},       /* W */
    {14000, 11, 15, 20.0, 17.130235054029, 1853104, 3.2e-27},    /* A */
    {75000, 13, 75, 60.0, 22.712745482631, 13708072, 2.2e-41},   /* B */
    {150000, 15, 75, 110.0, 28.973605592845, 36121058, 1.2e-43}, /* C */
};

/* The grid of ranks: as many columns as rows, or twice as many. */
struct grid {
    int rows, columns, row, column;
    int first_row, row_count;        /* this rank's rows of the matrix */
    int first_column, column_count;  /* its columns, and its part of every vector */
    int mirror;                      /* who holds the part that this rank wants after a product */
    int mirror_offset, mirror_count; /* which part of its own product its mirror wants */
    double *other;                   /* room for a part of a product that arrives */
};

/* All vectors have `column_count` numbers, except for the product, which has `row_count`. */
struct solver {
    struct grid grid;
    struct matrix matrix;
    double *x, *z, *p, *q, *r, *product;
};

static int part_start(int n, int part, int parts) { return (int)((long)n * part / parts); }

static struct grid make_grid(int n) {
    int ranks = all_ranks(), rank = my_rank();
    struct grid grid = {.rows = 1, .columns = 1};
    while (grid.rows * grid.columns < ranks)
        *(grid.columns == grid.rows ? &grid.columns : &grid.rows) *= 2;
    int wide = grid.columns / grid.rows; /* 1, or 2: so many parts are in one grid row */
    grid.row = rank / grid.columns;
    grid.column = rank % grid.columns;
    grid.first_column = part_start(n, grid.column, grid.columns);
    grid.column_count = part_start(n, grid.column + 1, grid.columns) - grid.first_column;
    grid.first_row = part_start(n, grid.row * wide, grid.columns);
    grid.row_count = part_start(n, (grid.row + 1) * wide, grid.columns) - grid.first_row;
    /* Part c is in the products of grid row c / wide. Of that row's ranks, the mirror is the one
     * that in turn wants a part from this grid row. */
    int wanted_back = grid.row * wide + grid.column % wide;
    grid.mirror = grid.column / wide * grid.columns + wanted_back;
    grid.mirror_offset = part_start(n, wanted_back, grid.columns) - grid.first_row;
    grid.mirror_count =
        part_start(n, wanted_back + 1, grid.columns) - grid.first_row - grid.mirror_offset;
    grid.other = memory_for((size_t)grid.row_count, sizeof(double));
    return grid;
}

/* Sum `count` numbers over the ranks of this grid row: with the neighbour, then with the rank two
 * further, four further... each time all that is known so far is exchanged. */
static void sum_over_row(const struct grid *grid, double *numbers, int count) {
    for (int distance = 1; distance < grid->columns; distance *= 2) {
        int partner = grid->row * grid->columns + (grid->column ^ distance);
        check(MPI_Sendrecv(numbers, count, MPI_DOUBLE, partner, TAG, grid->other, count, MPI_DOUBLE,
                           partner, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < count; i++)
            numbers[i] += grid->other[i];
    }
}

static double dot(const struct grid *grid, const double *a, const double *b) {
    double sum = 0.0;
    for (int i = 0; i < grid->column_count; i++)
        sum += a[i] * b[i];
    sum_over_row(grid, &sum, 1);
    return sum;
}

/* Add one bundle of the matrix times its part of a vector to what its four rows have. What is
 * AHEAD is asked for before it is wanted, into the second cache: the matrix is read once from one
 * end to the other, and the first cache is the vector's. */
static inline void multiply_bundle(const struct matrix *matrix, long bundle, const double *part,
                                   double *result) {
    enum { SECOND_CACHE = 2 };
    const double *restrict value = matrix->value;
    const uint16_t *restrict column = matrix->column;
    const uint16_t *row = matrix->row + bundle * LANES;
    double sums[LANES] = {0.0};
    long end = matrix->start[bundle + 1];
    for (long k = matrix->start[bundle]; k < end; k += LANES) {
        __builtin_prefetch(&value[k + AHEAD], 0, SECOND_CACHE);
        __builtin_prefetch(&column[k + AHEAD], 0, SECOND_CACHE);
        for (int lane = 0; lane < LANES; lane++)
            sums[lane] += value[k + lane] * part[column[k + lane]];
    }
    for (int lane = 0; lane < LANES; lane++)
        result[row[lane]] += sums[lane];
}

/* result = A vector, tile by tile */
static void multiply(struct solver *solver, const double *vector, double *result) {
    const struct grid *grid = &solver->grid;
    const struct matrix *matrix = &solver->matrix;
    memset(solver->product, 0, (size_t)grid->row_count * sizeof *solver->product);
    for (int t = 0; t < matrix->tiles; t++) {
        const double *part = vector + t % matrix->bands * matrix->width;
        double *sums = solver->product + t / matrix->bands * TILE_ROWS;
        for (long bundle = matrix->tile[t]; bundle < matrix->tile[t + 1]; bundle++)
            multiply_bundle(matrix, bundle, part, sums);
    }
    count_work(matrix->elements);
    sum_over_row(grid, solver->product, grid->row_count);
    if (grid->mirror == my_rank()) {
        memcpy(result, solver->product + grid->mirror_offset,
               (size_t)grid->column_count * sizeof *result);
        return;
    }
    check(MPI_Sendrecv(solver->product + grid->mirror_offset, grid->mirror_count, MPI_DOUBLE,
                       grid->mirror, TAG, result, grid->column_count, MPI_DOUBLE, grid->mirror, TAG,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* How near z came to the solution: the length of x - A z, and what the iteration itself takes it to
 * be. The one ends where numbers of 16 digits end, the other still falls with each iteration. */
struct residual {
    double length, by_iteration;
};

/* Solve A z = x with a fixed number of iterations. */
static struct residual solve(struct solver *s) {
    const struct grid *grid = &s->grid;
    int n = grid->column_count;
    memset(s->z, 0, (size_t)n * sizeof *s->z);
    memcpy(s->r, s->x, (size_t)n * sizeof *s->r);
    memcpy(s->p, s->x, (size_t)n * sizeof *s->p);
    double rho = dot(grid, s->r, s->r);
    for (int iteration = 0; iteration < INNER; iteration++) {
        multiply(s, s->p, s->q);
        double alpha = rho / dot(grid, s->p, s->q), before = rho;
        for (int i = 0; i < n; i++) {
            s->z[i] += alpha * s->p[i];
            s->r[i] -= alpha * s->q[i];
        }
        rho = dot(grid, s->r, s->r);
        for (int i = 0; i < n; i++)
            s->p[i] = s->r[i] + rho / before * s->p[i];
    }
    multiply(s, s->z, s->q);
    for (int i = 0; i < n; i++)
        s->r[i] = s->x[i] - s->q[i];
    return (struct residual){sqrt(dot(grid, s->r, s->r)), sqrt(rho)};
}

/* What is timed: steps of the inverse power method, from a vector of ones on. Gives the estimate
 * of the eigenvalue. */
static double estimate(struct solver *s, int iterations, double shift, struct residual *residual) {
    double zeta = 0.0;
    for (int i = 0; i < s->grid.column_count; i++)
        s->x[i] = 1.0;
    for (int iteration = 0; iteration < iterations; iteration++) {
        *residual = solve(s);
        zeta = shift + 1.0 / dot(&s->grid, s->x, s->z);
        double length = sqrt(dot(&s->grid, s->z, s->z));
        for (int i = 0; i < s->grid.column_count; i++)
            s->x[i] = s->z[i] / length;
    }
    return zeta;
}

static struct solver prepare(const struct npb *npb) {
    int n = CLASSES[npb->place].n, nonzer = CLASSES[npb->place].nonzer;
    double elements = (double)n * (nonzer + 1) * (nonzer + 1);
    refuse_unless_it_fits(npb, 12.0 * elements + all_ranks() * 320.0 * n);
    struct solver solver = {.grid = make_grid(n)};
    const struct grid *grid = &solver.grid;
    solver.matrix =
        make_matrix((uint64_t)npb->seed, n, nonzer, CLASSES[npb->place].shift, grid->first_row,
                    grid->row_count, grid->first_column, grid->column_count);
    double **vectors[] = {&solver.x, &solver.z, &solver.p, &solver.q, &solver.r};
    for (int i = 0; i < 5; i++)
        *vectors[i] = memory_for((size_t)grid->column_count, sizeof(double));
    solver.product = memory_for((size_t)grid->row_count, sizeof(double));
    return solver;
}

/* The published count: for each row, `nonzer` (nonzer + 1) elements are taken to be in it. */
static double operations(int n, int nonzer, int iterations) {
    double in_row = nonzer * (nonzer + 1.0);
    return 2.0 * iterations * n * (3.0 + in_row + INNER * (5.0 + in_row) + 3.0);
}

int main(int argc, char **argv) {
    struct npb npb = begin_npb("CG", "SWABC", 314159265, &argc, &argv);
    refuse_unless_power_of_two(&npb);
    int n = CLASSES[npb.place].n, iterations = CLASSES[npb.place].iterations;
    double shift = CLASSES[npb.place].shift;
    struct residual residual;
    struct solver solver = prepare(&npb);
    char size[96];
    snprintf(size, sizeof size, "%d rows, %d iterations, a grid of %d x %d ranks", n, iterations,
             solver.grid.rows, solver.grid.columns);
    write_about(&npb, size);

    estimate(&solver, 1, shift, &residual); /* a warm-up */
    double began = begin_timing();
    double zeta = estimate(&solver, iterations, shift, &residual);
    struct timed timed = end_timing(began);

    verify_value(&npb, "zeta", zeta, CLASSES[npb.place].zeta, 1e-10);
    verify_at_most(&npb, "the rounding of numbers with 16 digits", "residual", residual.length,
                   ROUNDING);
    verify_at_most(&npb, "measured with this program", "residual_by_iteration",
                   residual.by_iteration, CLASSES[npb.place].residual);
    /* In each outer iteration 25 products with the matrix, and one for the residual. */
    double multiplied = 26.0 * iterations * (double)CLASSES[npb.place].elements;
    return end_npb(&npb, timed, operations(n, CLASSES[npb.place].nonzer, iterations),
                   "elements of the matrix multiplied", multiplied);
}
