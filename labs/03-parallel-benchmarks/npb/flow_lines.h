/* How SP and BT solve along an axis: line by line through the cells, and back.
 *
 * Each line of points is a system of equations of its own, in which a point is coupled to its
 * nearest neighbours: `reach` of them on each side. Running along the line, they are eliminated:
 * what is left of a point's equations couples it only to the points after it. At the end of the
 * line the last point is known, and on the way back each one from those after it.
 *
 * A line goes through several cells. On the way there a cell hands on what is left of the last
 * `reach` points of each line, on the way back their changes. In the last cell a line turns round
 * at once.
 *
 * LANES lines that lie beside each other go through together. The same number of each is in one
 * `lanes`, which adds, multiplies... all of its numbers at once, as a processor's own instructions
 * do. This is an extension of C that gcc and clang have. */
#ifndef NPB_FLOW_LINES_H
#define NPB_FLOW_LINES_H

#include "flow_cells.h"

enum { LANES = 2, TAG_SOLVE = 31 };

typedef double lanes __attribute__((vector_size(LANES * sizeof(double))));

struct lines {
    const struct block *block;
    int axis, from, to; /* the inner points along the axis: from `from` to before `to` */
    long start[LANES];  /* where point 0 of each line is in the block */
    long stride;
};

/* What SP and BT do differently. `left` is what is left of all points of some lines, `numbers`
 * for each; before the first point is what the cell before has handed on. `after` are the
 * changes of the points after the last one, the nearest first. */
struct scheme {
    int reach, numbers;
    void (*eliminate)(const struct flow *flow, const struct lines *lines, lanes *left);
    void (*substitute)(const struct lines *lines, lanes *left, lanes *after);
};

struct solver {
    struct cells cells;
    const struct scheme *scheme;
    lanes *left[MOST_BLOCKS];   /* of each cell */
    lanes *there, *back, *sent; /* what is handed on, of each line of a cell */
    int most_groups;            /* of LANES lines, in a cell */
};

/* How many lines of inner points along an axis a block has. */
static int lines_of(const struct flow *flow, const struct block *block, int axis) {
    int lines = 1;
    for (int other = 0; other < AXES; other++)
        if (other != axis)
            lines *= inner_to(flow, block, other) - inner_from(block, other);
    return lines;
}

static int groups_of(const struct flow *flow, const struct block *block, int axis) {
    return (lines_of(flow, block, axis) + LANES - 1) / LANES;
}

/* LANES lines of a block. In the last group the last line may occur several times. */
static struct lines lines_at(const struct flow *flow, const struct block *block, int axis,
                             int group) {
    int inner = axis == 0 ? 1 : 0, outer = axis == 2 ? 1 : 2;
    int wide = inner_to(flow, block, inner) - inner_from(block, inner);
    int last = lines_of(flow, block, axis) - 1;
    struct lines lines = {
        .block = block,
        .axis = axis,
        .from = inner_from(block, axis),
        .to = inner_to(flow, block, axis),
        .stride = block->stride[axis],
    };
    for (int lane = 0; lane < LANES; lane++) {
        int line = group * LANES + lane < last ? group * LANES + lane : last;
        lines.start[lane] = (inner_from(block, outer) + line / wide) * block->stride[outer] +
                            (inner_from(block, inner) + line % wide) * block->stride[inner];
    }
    return lines;
}

/* The five numbers of a point of each line, from a field of the block. */
static inline void gather(const struct lines *lines, const state *field, int place, lanes *values) {
    const double *first = field[lines->start[0] + place * lines->stride];
    const double *second = field[lines->start[1] + place * lines->stride];
    for (int part = 0; part < PARTS; part++)
        values[part] = (lanes){first[part], second[part]};
}

static inline void scatter(const struct lines *lines, state *field, int place,
                           const lanes *values) {
    double *first = field[lines->start[0] + place * lines->stride];
    double *second = field[lines->start[1] + place * lines->stride];
    for (int part = 0; part < PARTS; part++) {
        first[part] = values[part][0];
        second[part] = values[part][1];
    }
}

/* The solution at a point of each line. Along z it is what the state changes by, and the time step
 * is over for this point. */
static inline void put_solution(const struct lines *lines, int place, const lanes *solution) {
    lanes states[PARTS];
    if (lines->axis < 2) {
        scatter(lines, lines->block->change, place, solution);
        return;
    }
    gather(lines, lines->block->now, place, states);
    for (int part = 0; part < PARTS; part++)
        states[part] += solution[part];
    scatter(lines, lines->block->now, place, states);
}

/* What follows from the states of a point of each line. */
struct gases {
    lanes inverse;        /* 1 / density */
    lanes velocity[AXES]; /* momentum / density */
    lanes half_square;    /* of the velocity */
    lanes energy;         /* for each unit of mass */
};

static inline struct gases gases_of(const lanes *states) {
    struct gases gas = {.inverse = 1.0 / states[0]};
    for (int axis = 0; axis < AXES; axis++) {
        gas.velocity[axis] = gas.inverse * states[axis + 1];
        gas.half_square += 0.5 * gas.velocity[axis] * gas.velocity[axis];
    }
    gas.energy = gas.inverse * states[ENERGY];
    return gas;
}

/* All lines of a cell along an axis: there, back, or both. */
static void solve_cell(const struct solver *solver, int cell, int axis, int there, int back) {
    const struct scheme *scheme = solver->scheme;
    const struct flow *flow = &solver->cells.flow;
    const struct block *block = &flow->block[cell];
    int carried = scheme->reach * scheme->numbers;
    for (int group = 0; group < groups_of(flow, block, axis); group++) {
        struct lines lines = lines_at(flow, block, axis, group);
        int numbers = (lines.to - lines.from) * scheme->numbers;
        lanes *left = solver->left[cell] + (there && back ? 0 : group * (carried + numbers));
        lanes *handed_on = solver->there + group * carried;
        if (there) {
            memcpy(left, handed_on, (size_t)carried * sizeof *left);
            scheme->eliminate(flow, &lines, left + carried);
            memcpy(handed_on, left + numbers, (size_t)carried * sizeof *left);
        }
        if (back)
            scheme->substitute(&lines, left + carried,
                               solver->back + group * scheme->reach * PARTS);
        int doubled = LANES - (lines_of(flow, block, axis) - group * LANES);
        count_work((there + back) * (LANES - (doubled > 0 ? doubled : 0)) *
                   (lines.to - lines.from));
    }
}

/* From a layer of cells to the next one along an axis, or back if `step` is -1: `each` numbers of
 * each group of lines go to the rank that has the cell behind, and those of the cell that is this
 * rank's in the next layer come. All ranks do so at once. At the last layer there is nobody. */
static void pass_on(const struct solver *solver, int axis, int layer, int step, lanes *numbers,
                    int each) {
    const struct cells *cells = &solver->cells;
    const struct flow *flow = &cells->flow;
    int next = layer + step, to = step > 0 ? flow->above[axis] : flow->below[axis];
    int from = step > 0 ? flow->below[axis] : flow->above[axis];
    if (next < 0 || next >= cells->across)
        return;
    int sent = each * groups_of(flow, &flow->block[cells->in_layer[axis][layer]], axis);
    int wanted = each * groups_of(flow, &flow->block[cells->in_layer[axis][next]], axis);
    memcpy(solver->sent, numbers, (size_t)sent * sizeof *numbers);
    check(MPI_Sendrecv(solver->sent, sent * LANES, MPI_DOUBLE, to, TAG_SOLVE, numbers,
                       wanted * LANES, MPI_DOUBLE, from, TAG_SOLVE, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
}

/* Solve along one axis, through all layers of cells and back. Before the first point of a line and
 * after its last one is a wall, where nothing changes. */
static void solve_axis(const struct solver *solver, int axis) {
    const struct cells *cells = &solver->cells;
    int there = solver->scheme->reach * solver->scheme->numbers;
    int back = solver->scheme->reach * PARTS, last = cells->across - 1;
    memset(solver->there, 0, (size_t)(solver->most_groups * there) * sizeof(lanes));
    memset(solver->back, 0, (size_t)(solver->most_groups * back) * sizeof(lanes));
    for (int layer = 0; layer <= last; layer++) {
        solve_cell(solver, cells->in_layer[axis][layer], axis, 1, layer == last);
        pass_on(solver, axis, layer, 1, solver->there, there);
    }
    for (int layer = last; layer >= 0; layer--) {
        if (layer < last)
            solve_cell(solver, cells->in_layer[axis][layer], axis, 0, 1);
        pass_on(solver, axis, layer, -1, solver->back, back);
    }
}

/* One rank alone needs room for one group of lines, because its only cell is the last one. */
static struct solver make_solver(const struct npb *npb, const struct flow_class *class,
                                 const struct scheme *scheme) {
    struct solver solver = {.cells = make_cells(npb, class), .scheme = scheme};
    int across = solver.cells.across, wide = class->side / across + 1;
    int there = scheme->reach * scheme->numbers, whole = there + wide * scheme->numbers;
    solver.most_groups = (wide * wide + LANES - 1) / LANES;
    for (int cell = 0; cell < across; cell++)
        solver.left[cell] = memory_for(
            (size_t)whole * (size_t)(across > 1 ? solver.most_groups : 1), sizeof(lanes));
    solver.there = memory_for((size_t)(solver.most_groups * there), sizeof(lanes));
    solver.sent = memory_for((size_t)(solver.most_groups * there), sizeof(lanes));
    solver.back = memory_for((size_t)(solver.most_groups * scheme->reach * PARTS), sizeof(lanes));
    return solver;
}

/* What is timed. */
static void iterate(const struct solver *solver, int steps) {
    const struct flow *flow = &solver->cells.flow;
    for (int step = 0; step < steps; step++) {
        find_changes(flow, flow->time_step);
        for (int axis = 0; axis < AXES; axis++)
            solve_axis(solver, axis);
    }
}

/* All of SP or BT, up to the exit code. */
static int run_scheme(struct npb *npb, const struct flow_class *class, const struct scheme *scheme,
                      double operations) {
    double residuals[PARTS], errors[PARTS];
    struct solver solver = make_solver(npb, class, scheme);
    const struct flow *flow = &solver.cells.flow;
    char size[64];
    snprintf(size, sizeof size, "%d points along an axis, %d steps", class->side, class->steps);
    write_about(npb, size);

    begin_flow(flow);
    iterate(&solver, 1); /* a warm-up */
    begin_flow(flow);
    double began = begin_timing();
    iterate(&solver, class->steps);
    struct timed timed = end_timing(began);

    find_norms(flow, 1, errors);
    find_changes(flow, 1.0);
    find_norms(flow, 0, residuals);
    verify_values(npb, "residual", residuals, class->residuals, PARTS, 1e-8);
    verify_values(npb, "error", errors, class->errors, PARTS, 1e-8);
    return end_npb(npb, timed, operations, "points solved for, there and back along three axes",
                   6.0 * class->steps * pow(class->side - 2, 3));
}

#endif
