/* FT, Fourier transform: how long does it take to turn a cube that is spread over all ranks?
 *
 * A partial differential equation, of heat that spreads in a box, is solved with three-dimensional
 * Fourier transforms. The random initial state is transformed once. For each time step it is
 * multiplied by a factor for each frequency and transformed back, and 1024 of its numbers are
 * summed up, by which the result is verified.
 *
 * A transform in three dimensions is one of all rows along x, then y, then z. A rank has whole
 * planes of x and y, so it can do x and y alone. For z the cube is turned:
 *
 *     [z][y][x], some z on each rank   <->   [y][x][z], some pairs of y and x on each rank
 *
 * What is sent: one MPI_Alltoall in each transform. Everything but its own share leaves each rank:
 * 16 bytes for each of 2^23 points in class A, seven times. These are long messages, so the
 * network's bandwidth counts and hardly its latency; and all of them meet in the switch.
 *
 *     beowulf run -n 4 ft.c S    64x64x64 points; W 128x128x32, A 256x256x128, B 512x256x256,
 *                                C 512x512x512
 */
#include "ft_classes.h"
#include "ft_transform.h"
#include "random.h"

enum { SAMPLES = 1024 };
#define ALPHA 1e-6

struct cube {
    int x, y, z, ranks, rank;
    int planes;                  /* z of this rank while x and y are whole */
    int columns;                 /* pairs of y and x of this rank while z is whole */
    size_t count;                /* points of this rank, either way */
    struct complex *frequencies; /* [y][x][z] */
    struct complex *state;       /* what is being transformed */
    struct complex *result;      /* [z][y][x] */
    double *factors;             /* how much of each frequency is left after a time step */
};

/* Random numbers in the order of the whole cube, x first. */
static void draw_state(const struct cube *cube, uint64_t seed) {
    uint64_t state = jump(seed, 2 * (uint64_t)cube->rank * cube->count);
    for (size_t i = 0; i < cube->count; i++) {
        cube->state[i].re = draw(&state);
        cube->state[i].im = draw(&state);
    }
}

/* Frequencies of more than half the length represent negative ones. */
static int signed_frequency(int k, int n) { return k < n / 2 ? k : k - n; }

static void make_factors(const struct cube *cube) {
    double pi = acos(-1.0), rate = -4.0 * ALPHA * pi * pi;
    for (int i = 0; i < cube->columns; i++) {
        int column = cube->rank * cube->columns + i;
        int x = signed_frequency(column % cube->x, cube->x);
        int y = signed_frequency(column / cube->x, cube->y);
        for (int k = 0; k < cube->z; k++) {
            int z = signed_frequency(k, cube->z);
            cube->factors[(size_t)i * (size_t)cube->z + (size_t)k] =
                exp(rate * (x * x + y * y + z * z));
        }
    }
}

static void transform_xy(const struct cube *cube, struct complex *data, int direction) {
    size_t x = (size_t)cube->x;
    for (int z = 0; z < cube->planes; z++) {
        struct complex *plane = data + (size_t)z * x * (size_t)cube->y;
        for (int y = 0; y < cube->y; y += WIDTH)
            transform_block(plane + (size_t)y * x, cube->x, 1, x, direction);
        for (int i = 0; i < cube->x; i += WIDTH)
            transform_block(plane + i, cube->y, x, 1, direction);
    }
}

static void transform_z(const struct cube *cube, struct complex *data, int direction) {
    size_t z = (size_t)cube->z;
    for (int i = 0; i < cube->columns; i += WIDTH)
        transform_block(data + (size_t)i * z, cube->z, 1, z, direction);
}

/* to[j][i] = from[i][j] for a block whose rows are so far apart in either. A tile at a time, so
 * that the lines of memory that are read and written stay in the cache. */
static void turn_block(const struct complex *from, size_t from_row, struct complex *to,
                       size_t to_row, int rows, int columns) {
    enum { TILE = 16 };
    for (int i = 0; i < rows; i += TILE)
        for (int j = 0; j < columns; j += TILE)
            for (int b = j; b < j + TILE && b < columns; b++)
                for (int a = i; a < i + TILE && a < rows; a++)
                    to[(size_t)b * to_row + (size_t)a] = from[(size_t)a * from_row + (size_t)b];
}

static void exchange_blocks(const struct cube *cube, const struct complex *from,
                            struct complex *to) {
    int numbers = (int)(2 * cube->count / (size_t)cube->ranks);
    check(MPI_Alltoall(from, numbers, MPI_DOUBLE, to, numbers, MPI_DOUBLE, MPI_COMM_WORLD));
}

/* From [z][y][x] in state to [y][x][z] in frequencies. What goes to a rank is turned into one block
 * first; what comes are the blocks of all ranks, each with its own z. */
static void turn_to_z(const struct cube *cube) {
    size_t plane = (size_t)cube->x * (size_t)cube->y, columns = (size_t)cube->columns;
    size_t planes = (size_t)cube->planes, block = columns * planes, z = (size_t)cube->z;
    struct complex *turned = cube->ranks > 1 ? cube->result : cube->frequencies;
    for (size_t to = 0; to < (size_t)cube->ranks; to++)
        turn_block(cube->state + to * columns, plane, turned + to * block, planes, cube->planes,
                   cube->columns);
    if (cube->ranks == 1)
        return;
    exchange_blocks(cube, turned, cube->state);
    for (size_t from = 0; from < (size_t)cube->ranks; from++)
        for (size_t i = 0; i < columns; i++)
            memcpy(cube->frequencies + i * z + from * planes,
                   cube->state + from * block + i * planes, planes * sizeof(struct complex));
}

/* From [y][x][z] in state to [z][y][x] in result, the same way back. */
static void turn_to_xy(const struct cube *cube) {
    size_t plane = (size_t)cube->x * (size_t)cube->y, columns = (size_t)cube->columns;
    size_t planes = (size_t)cube->planes, block = columns * planes, z = (size_t)cube->z;
    if (cube->ranks > 1) {
        for (size_t to = 0; to < (size_t)cube->ranks; to++)
            for (size_t i = 0; i < columns; i++)
                memcpy(cube->result + to * block + i * planes, cube->state + i * z + to * planes,
                       planes * sizeof(struct complex));
        exchange_blocks(cube, cube->result, cube->state);
    }
    for (size_t from = 0; from < (size_t)cube->ranks; from++)
        turn_block(cube->state + from * block, planes, cube->result + from * columns, plane,
                   cube->columns, cube->planes);
}

/* All that is computed once: the state, the factors, the first transform. */
static void begin_state(const struct cube *cube, uint64_t seed) {
    make_roots();
    make_factors(cube);
    draw_state(cube, seed);
    transform_xy(cube, cube->state, -1);
    turn_to_z(cube);
    transform_z(cube, cube->frequencies, -1);
}

/* One step of time: damp each frequency, and transform them all back. */
static void step(const struct cube *cube) {
    for (size_t i = 0; i < cube->count; i++) {
        cube->frequencies[i].re *= cube->factors[i];
        cube->frequencies[i].im *= cube->factors[i];
        cube->state[i] = cube->frequencies[i];
    }
    transform_z(cube, cube->state, 1);
    turn_to_xy(cube);
    transform_xy(cube, cube->result, 1);
}

/* The published sum of 1024 points, on rank 0. */
static void sum_samples(const struct cube *cube, double *checksum) {
    double sum[2] = {0.0, 0.0}, points = (double)cube->x * cube->y * cube->z;
    for (int j = 1; j <= SAMPLES; j++) {
        int x = j % cube->x, y = 3 * j % cube->y, z = 5 * j % cube->z;
        if (z / cube->planes != cube->rank)
            continue;
        size_t plane = (size_t)(z % cube->planes);
        size_t at = (plane * (size_t)cube->y + (size_t)y) * (size_t)cube->x + (size_t)x;
        sum[0] += cube->result[at].re / points;
        sum[1] += cube->result[at].im / points;
    }
    check(MPI_Reduce(sum, checksum, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
}

static struct cube prepare(const struct npb *npb) {
    const int *side = CLASSES[npb->place].side;
    struct cube cube = {
        .x = side[0], .y = side[1], .z = side[2], .ranks = all_ranks(), .rank = my_rank()};
    if (cube.ranks > cube.z)
        refuse("FT class %c takes at most %d ranks, not %d: each has at least one plane.",
               npb->class, cube.z, cube.ranks);
    double points = (double)cube.x * cube.y * cube.z;
    refuse_unless_it_fits(npb, points * (3 * sizeof(struct complex) + sizeof(double)));
    cube.planes = cube.z / cube.ranks;
    cube.columns = cube.x * cube.y / cube.ranks;
    cube.count = (size_t)points / (size_t)cube.ranks;
    cube.frequencies = memory_for(cube.count, sizeof(struct complex));
    cube.state = memory_for(cube.count, sizeof(struct complex));
    cube.result = memory_for(cube.count, sizeof(struct complex));
    cube.factors = memory_for(cube.count, sizeof(double));
    return cube;
}

/* A checksum is a complex number, and so is its error. */
static void verify_checksums(struct npb *npb, double (*checksums)[2], int iterations) {
    check(MPI_Bcast(checksums, 2 * iterations, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    for (int i = 0; i < iterations; i++) {
        const double *published = CLASSES[npb->place].checksums[i], *value = checksums[i];
        char name[64];
        snprintf(name, sizeof name, "checksum_%d", i + 1);
        verify_vector(npb, name, value, published, 2, 1e-12);
    }
}

/* The checksums see 1024 points. By Parseval's theorem the squares of all points of a transform have
 * as large a sum, but for the number of points, as those of what was transformed. */
static void verify_energy(struct npb *npb, const struct cube *cube, double points) {
    double mine[2] = {0.0, 0.0}, all[2];
    for (size_t i = 0; i < cube->count; i++) {
        const struct complex before = cube->frequencies[i], after = cube->result[i];
        mine[0] += before.re * before.re + before.im * before.im;
        mine[1] += (after.re * after.re + after.im * after.im) / points;
    }
    check(MPI_Allreduce(mine, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    verify_as(npb, "the sum before the last transform", "sum_of_squares", &all[1], &all[0], 1,
              1e-10);
}

static double operations(double points, int iterations) {
    return points *
           (14.8157 + 7.19641 * log(points) + (5.23518 + 7.21113 * log(points)) * iterations);
}

int main(int argc, char **argv) {
    double checksums[MOST_ITERATIONS][2];
    struct npb npb = begin_npb("FT", "SWABC", 314159265, &argc, &argv);
    refuse_unless_power_of_two(&npb);
    struct cube cube = prepare(&npb);
    int iterations = CLASSES[npb.place].iterations;
    char size[96];
    snprintf(size, sizeof size, "%d x %d x %d points, %d time steps", cube.x, cube.y, cube.z,
             iterations);
    write_about(&npb, size);

    begin_state(&cube, (uint64_t)npb.seed); /* a warm-up */
    double began = begin_timing();
    begin_state(&cube, (uint64_t)npb.seed);
    for (int i = 0; i < iterations; i++) {
        step(&cube);
        sum_samples(&cube, checksums[i]);
    }
    struct timed timed = end_timing(began);

    double points = (double)cube.x * cube.y * cube.z;
    verify_checksums(&npb, checksums, iterations);
    verify_energy(&npb, &cube, points);
    /* Along x, y and z, once to begin with and once in each time step. */
    return end_npb(&npb, timed, operations(points, iterations), "points transformed",
                   3.0 * points * (iterations + 1));
}
