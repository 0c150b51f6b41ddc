/* BT, block tridiagonal: what do long messages cost that everybody sends at the same time?
 *
 * The flow of flow.h is brought to rest by an alternating direction implicit scheme. A time step
 * solves for the change of all points along x, then y, then z. Along an axis each line of points
 * is a system of equations of its own: every point is coupled to the one before and the one after,
 * by matrices of 5 x 5. It is solved by running along the line and eliminating, and then back.
 *
 *     | m0 h1        |      A line goes through several cells. So a cell needs what its
 *     | l0 m1 h2     |      predecessor has eliminated last: a matrix and a vector, 240 bytes a
 *     |    l1 m2 h3  |      line. On the way back it is the five numbers of its successor, 40
 *     |       l2 m3  |      bytes a line.
 *
 * The cells are dealt out so that all ranks have one in each layer (see flow_cells.h).
 *
 * What is sent: in each time step, six messages to the neighbours with two layers of all cells'
 * faces, 80 KiB each in class A on four ranks; and for each axis q - 1 messages forward, 225 KiB
 * each, and as many back, 38 KiB each.
 *
 *     beowulf run -n 4 bt.c S       12 points along an axis; W 24, A 64, B 102, C 162
 */
#include "bt_classes.h"
#include "bt_matrix.h"

/* What the state of each point of a line brings to the equations of the point after it, of itself
 * and of the point before it. */
struct derivatives {
    matrix for_next, for_itself, for_last;
};

static inline void derive_point(const struct flow *flow, const lanes *states, int axis,
                                struct derivatives *point) {
    double per_h2 = flow->time_step / (flow->spacing * flow->spacing);
    double per_2h = 0.5 * flow->time_step / flow->spacing;
    struct gases gas = gases_of(states);
    matrix flows, spreads;
    derive_flows(&gas, axis, flows);
    derive_spreads(&gas, axis, spreads);
    for (int i = 0; i < PARTS; i++)
        for (int j = 0; j < PARTS; j++) {
            lanes f = per_2h * flows[i][j], g = per_h2 * spreads[i][j];
            point->for_next[i][j] = -f - g;
            point->for_itself[i][j] = 2.0 * g + (i == j ? 1.0 : 0.0);
            point->for_last[i][j] = f - g;
        }
}

/* Eliminate at one point. What is left of it: its change is the vector less the matrix times the
 * change of the next point. `left[-1]` is what is left of the point before. */
static inline void eliminate_point(struct derivatives *before, const struct derivatives *here,
                                   const struct derivatives *after, const lanes *change,
                                   wide_matrix *left) {
    wide_matrix itself;
    for (int row = 0; row < PARTS; row++) {
        memcpy(itself[row], here->for_itself[row], sizeof(matrix) / PARTS);
        itself[row][PARTS] = change[row];
    }
    subtract_product(itself, before->for_next, left[-1]);
    for (int row = 0; row < PARTS; row++) {
        memcpy(left[0][row], after->for_last[row], sizeof(matrix) / PARTS);
        left[0][row][PARTS] = itself[row][PARTS];
    }
    solve_matrix(itself, left[0]);
}

/* Eliminate along lines. */
static inline void eliminate_along(const struct flow *flow, const struct lines *lines, int axis,
                                   wide_matrix *left) {
    struct derivatives room[3], *before = &room[0], *here = &room[1], *after = &room[2];
    int from = lines->from, points = lines->to - from;
    lanes numbers[PARTS];
    gather(lines, lines->block->now, from - 1, numbers);
    derive_point(flow, numbers, axis, before);
    gather(lines, lines->block->now, from, numbers);
    derive_point(flow, numbers, axis, here);
    for (int i = 0; i < points; i++) {
        gather(lines, lines->block->now, from + i + 1, numbers);
        derive_point(flow, numbers, axis, after);
        gather(lines, lines->block->change, from + i, numbers);
        eliminate_point(before, here, after, numbers, &left[i]);
        struct derivatives *free_again = before;
        before = here;
        here = after;
        after = free_again;
    }
}

/* An axis that is known when this is compiled leaves out what is 0 along it. */
static void eliminate(const struct flow *flow, const struct lines *lines, lanes *left) {
    if (lines->axis == 0)
        eliminate_along(flow, lines, 0, (wide_matrix *)left);
    else if (lines->axis == 1)
        eliminate_along(flow, lines, 1, (wide_matrix *)left);
    else
        eliminate_along(flow, lines, 2, (wide_matrix *)left);
}

/* And back: from each change, what the next one brings with it is taken away. */
static void substitute(const struct lines *lines, lanes *numbers, lanes *after) {
    wide_matrix *left = (wide_matrix *)numbers;
    lanes change[PARTS];
    for (int i = lines->to - lines->from - 1; i >= 0; i--) {
        for (int row = 0; row < PARTS; row++) {
            change[row] = left[i][row][PARTS];
            for (int k = 0; k < PARTS; k++)
                change[row] -= left[i][row][k] * after[k];
        }
        memcpy(after, change, sizeof change);
        put_solution(lines, lines->from + i, change);
    }
}

static const struct scheme BLOCKS = {1, PARTS * (PARTS + 1), eliminate, substitute};

static double operations(int side, int steps) {
    return steps * (3478.8 * pow(side, 3) - 17655.7 * pow(side, 2) + 28023.7 * side);
}

int main(int argc, char **argv) {
    struct npb npb = begin_npb("BT", "SWABC", 0, &argc, &argv);
    const struct flow_class *class = &CLASSES[npb.place];
    return run_scheme(&npb, class, &BLOCKS, operations(class->side, class->steps));
}
