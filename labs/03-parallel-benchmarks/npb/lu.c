/* LU, lower and upper: what do very many short messages cost, when each waits for the one before?
 *
 * The flow of flow.h is brought to rest with symmetric successive over-relaxation. A step solves
 * for the change of every point in two sweeps through the cube. In the first, a point needs the
 * new changes of its three lower neighbours, in the second those of its three upper ones. So a
 * point cannot be computed before its neighbours, and a rank not before the ranks around it:
 *
 *     rank 0 | plane 1 | plane 2 | plane 3 | plane 4 |
 *     rank 1           | plane 1 | plane 2 | plane 3 | plane 4 |
 *     rank 2           | plane 1 | plane 2 | plane 3 | plane 4 |
 *     rank 3                     | plane 1 | plane 2 | plane 3 | plane 4 |
 *
 * The ranks share out x and y, and each has all z. A wave front runs over them, plane by plane.
 *
 * What is sent: for each plane and sweep, one row of points to the next rank along x and one to
 * the next along y, 40 bytes a point: 1 280 bytes in class A on four ranks, 124 times a step.
 * Latency counts, not bandwidth. Once a step, two layers of each face are exchanged as well.
 *
 *     beowulf run -n 4 lu.c S       12 points along an axis; W 33, A 64, B 102, C 162
 */
#include "flow_operator.h"
#include "lu_classes.h"
#include "lu_surface.h"

enum { TAG_SWEEP = 21 };
#define RELAXATION 1.2

/* The change that a neighbour along an axis brings about at a point: dt times its own change, by
 * the derivative of L with respect to the neighbour's state. `side` is -1 for the lower neighbour.
 * The derivative is a matrix of 5 x 5, which is never written down: applied are its parts. */
static inline void add_neighbour(const struct flow *flow, const double *state, const double *change,
                                 int axis, int side, double *sum) {
    double per_h2 = flow->time_step / (flow->spacing * flow->spacing);
    double per_2h = side * 0.5 * flow->time_step / flow->spacing;
    struct gas gas = gas_of(state);
    double along = gas.velocity[axis], momentum = change[axis + 1], heat = 0.0;
    double pressure = gas.half_square * change[0] + change[ENERGY];
    for (int j = 0; j < AXES; j++)
        pressure -= gas.velocity[j] * change[j + 1];
    pressure *= C2;
    double enthalpy = C1 * gas.energy - C2 * gas.half_square;
    double spread = per_h2 * DIFFUSION[axis];

    sum[0] += per_2h * momentum - spread * change[0];
    for (int j = 0; j < AXES; j++) {
        double velocity = gas.inverse * (change[j + 1] - gas.velocity[j] * change[0]);
        double flows = gas.velocity[j] * (momentum - along * change[0]) + along * change[j + 1] +
                       (j == axis ? pressure : 0.0);
        sum[j + 1] +=
            per_2h * flows - spread * change[j + 1] - per_h2 * friction(j, axis) * velocity;
        heat += (friction(j, axis) - HEAT) * gas.velocity[j] * velocity;
    }
    heat += HEAT * gas.inverse * (change[ENERGY] - gas.energy * change[0]);
    sum[ENERGY] +=
        per_2h * (along * (change[ENERGY] + pressure) + enthalpy * (momentum - along * change[0])) -
        spread * change[ENERGY] - per_h2 * heat;
}

/* Solve for a point itself: D x = right side, in place. D has nothing above its diagonal, because a
 * point's own friction couples momentum to density, and energy to both, but not back. */
static inline void solve_point(const struct flow *flow, const double *state, double *x) {
    double per_h2 = 2.0 * flow->time_step / (flow->spacing * flow->spacing);
    double diagonal = 1.0 + per_h2 * (DIFFUSION[0] + DIFFUSION[1] + DIFFUSION[2]);
    /* Along one of the three axes, each part of the momentum is the one along the flow. */
    double rub = per_h2 * (2.0 + 4.0 / 3.0) * FRICTION, heat = per_h2 * 3.0 * HEAT;
    struct gas gas = gas_of(state);
    double energy = x[ENERGY];
    x[0] /= diagonal;
    energy += heat * gas.inverse * gas.energy * x[0];
    for (int j = 0; j < AXES; j++) {
        double pull = gas.inverse * gas.velocity[j];
        x[j + 1] = (x[j + 1] + rub * pull * x[0]) / (diagonal + rub * gas.inverse);
        energy -= (rub - heat) * (pull * x[j + 1] - pull * gas.velocity[j] * x[0]);
    }
    x[ENERGY] = energy / (diagonal + heat * gas.inverse);
}

/* A row of changes of one plane, at right angles to an axis, to or from a message. */
static int copy_row(const struct block *block, int axis, int place, int z, state *message,
                    int out) {
    long along = block->stride[!axis];
    long start = place * block->stride[axis] + z * block->stride[2];
    for (int i = 0; i < block->count[!axis]; i++) {
        double *point = block->change[start + i * along];
        memcpy(out ? message[i] : point, out ? point : message[i], sizeof(state));
    }
    return block->count[!axis] * PARTS;
}

/* Wait for the two ranks that the front comes from. */
static void receive_front(const struct flow *flow, int side, int z) {
    static state message[MOST_SIDE];
    const struct block *block = &flow->block[0];
    for (int axis = 0; axis < 2; axis++) {
        int from = side < 0 ? flow->below[axis] : flow->above[axis];
        if (from == MPI_PROC_NULL)
            continue;
        check(MPI_Recv(message, MOST_SIDE * PARTS, MPI_DOUBLE, from, TAG_SWEEP, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
        copy_row(block, axis, side < 0 ? -1 : block->count[axis], z, message, 0);
    }
}

/* Let the two ranks begin that the front runs to. */
static void send_front(const struct flow *flow, int side, int z) {
    static state message[MOST_SIDE];
    const struct block *block = &flow->block[0];
    for (int axis = 0; axis < 2; axis++) {
        int to = side < 0 ? flow->above[axis] : flow->below[axis];
        if (to == MPI_PROC_NULL)
            continue;
        int count = copy_row(block, axis, side < 0 ? block->count[axis] - 1 : 0, z, message, 1);
        check(MPI_Send(message, count, MPI_DOUBLE, to, TAG_SWEEP, MPI_COMM_WORLD));
    }
}

/* What the three neighbours on one side of a point bring about. */
static inline void add_neighbours(const struct flow *flow, const struct block *block, long at,
                                  int side, double *sum) {
    for (int axis = 0; axis < AXES; axis++) {
        long neighbour = at + side * block->stride[axis];
        add_neighbour(flow, block->now[neighbour], block->change[neighbour], axis, side, sum);
    }
}

/* Lower sweep of a plane: D x = change - relaxation (neighbours below). */
static void sweep_lower(const struct flow *flow, int z) {
    const struct block *block = &flow->block[0];
    for (int y = inner_from(block, 1); y < inner_to(flow, block, 1); y++)
        for (int x = inner_from(block, 0); x < inner_to(flow, block, 0); x++) {
            long at = point_at(block, x, y, z);
            double sum[PARTS] = {0.0}, *change = block->change[at];
            add_neighbours(flow, block, at, -1, sum);
            for (int part = 0; part < PARTS; part++)
                change[part] -= RELAXATION * sum[part];
            solve_point(flow, block->now[at], change);
            count_work(1);
        }
}

/* Upper sweep of a plane: change -= x, where D x = relaxation (neighbours above). */
static void sweep_upper(const struct flow *flow, int z) {
    const struct block *block = &flow->block[0];
    for (int y = inner_to(flow, block, 1) - 1; y >= inner_from(block, 1); y--)
        for (int x = inner_to(flow, block, 0) - 1; x >= inner_from(block, 0); x--) {
            long at = point_at(block, x, y, z);
            double sum[PARTS] = {0.0};
            add_neighbours(flow, block, at, 1, sum);
            for (int part = 0; part < PARTS; part++)
                sum[part] *= RELAXATION;
            solve_point(flow, block->now[at], sum);
            for (int part = 0; part < PARTS; part++)
                block->change[at][part] -= sum[part];
            count_work(1);
        }
}

/* Multiply all changes of the inner points, and add them to the state or leave them. */
static void scale_changes(const struct flow *flow, double factor, int add) {
    const struct block *block = &flow->block[0];
    for (int z = 1; z < flow->side - 1; z++)
        for (int y = inner_from(block, 1); y < inner_to(flow, block, 1); y++)
            for (int x = inner_from(block, 0); x < inner_to(flow, block, 0); x++) {
                long at = point_at(block, x, y, z);
                for (int part = 0; part < PARTS; part++)
                    if (add)
                        block->now[at][part] += factor * block->change[at][part];
                    else
                        block->change[at][part] *= factor;
            }
}

/* What is timed. The residual is known again after each step. */
static void iterate(const struct flow *flow, int steps, double *residuals) {
    find_changes(flow, 1.0);
    find_norms(flow, 0, residuals);
    for (int step = 0; step < steps; step++) {
        scale_changes(flow, flow->time_step, 0);
        for (int z = 1; z < flow->side - 1; z++) {
            receive_front(flow, -1, z);
            sweep_lower(flow, z);
            send_front(flow, -1, z);
        }
        for (int z = flow->side - 2; z > 0; z--) {
            receive_front(flow, 1, z);
            sweep_upper(flow, z);
            send_front(flow, 1, z);
        }
        scale_changes(flow, 1.0 / (RELAXATION * (2.0 - RELAXATION)), 1);
        find_changes(flow, 1.0);
    }
    find_norms(flow, 0, residuals);
}

/* The ranks as a grid, wider along x when it is no square; each has all of z. */
static struct flow make_flow(const struct npb *npb) {
    int side = CLASSES[npb->place].side, ranks = all_ranks(), rank = my_rank();
    int parts[AXES] = {1, 1, 1};
    while (parts[0] * parts[1] < ranks)
        parts[parts[0] > parts[1]] *= 2;
    if (side / parts[0] < 3)
        refuse("LU class %c has %d points along an axis: too few for %d ranks.", npb->class, side,
               ranks);
    refuse_unless_it_fits(npb, 3.0 * sizeof(state) * pow(side + 4, 2) * (side + 4.0 * ranks));
    int place[AXES] = {rank % parts[0], rank / parts[0], 0};
    struct flow flow = {
        .side = side,
        .spacing = 1.0 / (side - 1),
        .time_step = CLASSES[npb->place].time_step,
        .blocks = 1,
    };
    make_block(&flow.block[0], side, place, parts);
    for (int axis = 0, step = 1; axis < AXES; step *= parts[axis++]) {
        flow.below[axis] = place[axis] > 0 ? rank - step : MPI_PROC_NULL;
        flow.above[axis] = place[axis] + 1 < parts[axis] ? rank + step : MPI_PROC_NULL;
    }
    return flow;
}

static double operations(int side, int steps) {
    return steps * (1984.77 * pow(side, 3) - 10923.3 * pow(side, 2) + 27770.9 * side - 144010.0);
}

int main(int argc, char **argv) {
    double residuals[PARTS], errors[PARTS];
    struct npb npb = begin_npb("LU", "SWABC", 0, &argc, &argv);
    refuse_unless_power_of_two(&npb);
    struct flow flow = make_flow(&npb);
    int steps = CLASSES[npb.place].steps;
    char size[64];
    snprintf(size, sizeof size, "%d points along an axis, %d steps", flow.side, steps);
    write_about(&npb, size);

    begin_flow(&flow);
    iterate(&flow, 1, residuals); /* a warm-up */
    begin_flow(&flow);
    double began = begin_timing();
    iterate(&flow, steps, residuals);
    struct timed timed = end_timing(began);

    find_norms(&flow, 1, errors);
    verify_values(&npb, "residual", residuals, CLASSES[npb.place].residuals, PARTS, 1e-8);
    verify_values(&npb, "error", errors, CLASSES[npb.place].errors, PARTS, 1e-8);
    verify_value(&npb, "surface_integral", surface_integral(&flow), SURFACE_INTEGRALS[npb.place],
                 1e-8);
    return end_npb(&npb, timed, operations(flow.side, steps), "points solved for, in both sweeps",
                   2.0 * steps * pow(flow.side - 2, 3));
}
