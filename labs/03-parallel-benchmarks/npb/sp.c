/* SP, scalar pentadiagonal: BT's way of sending with less to compute in between.
 *
 * The flow of flow.h is brought to rest by an alternating direction implicit scheme. A time step
 * solves for the change of all points along x, then y, then z. Before each, the changes are seen as
 * waves (see sp_waves.h), of which each can be solved for by itself. So a line of points is five
 * systems of equations with single numbers in them, not matrices as in BT; a point is coupled to
 * two before it and two after it. A system is solved by running along the line and eliminating,
 * and then back.
 *
 * The cells are dealt out so that all ranks have one in each layer (see flow_cells.h).
 *
 * What is sent: in each time step, six messages to the neighbours with two layers of all cells'
 * faces, 80 KiB each in class A on four ranks; and for each axis q - 1 messages forward with the
 * last two eliminated points of each line, 176 bytes a line, and as many back with the first two
 * changes, 80 bytes a line.
 *
 *     beowulf run -n 4 sp.c S       12 points along an axis; W 36, A 64, B 102, C 162
 */
#include "sp_classes.h"
#include "sp_waves.h"

enum { CARRIED, SOUND_WITH, SOUND_AGAINST, WAVES };

/* Which wave each of the five numbers of a point belongs to. */
static const int WAVE_OF[PARTS] = {CARRIED, CARRIED, CARRIED, SOUND_WITH, SOUND_AGAINST};

/* What is left of the equations of a point once all before it are eliminated:
 * x[i] = change - next x[i + 1] - second x[i + 2]. */
struct left {
    lanes next[WAVES], second[WAVES], change[PARTS];
};

/* What is known of a point: how fast the waves are, and how much spreads. */
struct speeds {
    lanes speed[WAVES], spread;
};

static inline void find_speeds(const lanes *states, int axis, struct speeds *point) {
    struct gases gas = gases_of(states);
    lanes along = gas.inverse * states[axis + 1], sound = sound_of(&gas);
    point->speed[CARRIED] = along;
    point->speed[SOUND_WITH] = along + sound;
    point->speed[SOUND_AGAINST] = along - sound;
    point->spread = DIFFUSION[axis] + HEAT * gas.inverse;
}

/* The five factors of the dissipation at a point that is so far from the walls. */
static inline const double *dissipation_at(int place, int side) {
    static const double FACTORS[5][5] = {{0.0, 0.0, 5.0, -4.0, 1.0},
                                         {0.0, -4.0, 6.0, -4.0, 1.0},
                                         {1.0, -4.0, 6.0, -4.0, 1.0},
                                         {1.0, -4.0, 6.0, -4.0, 0.0},
                                         {1.0, -4.0, 5.0, 0.0, 0.0}};
    int from_end = side - 1 - place;
    return FACTORS[place <= 2 ? place - 1 : from_end <= 2 ? 5 - from_end : 2];
}

/* Eliminate at one point: take away what the point before it (left[-1]) and the one before that
 * (left[-2]) bring, for each wave. */
static inline void eliminate_point(const struct flow *flow, const struct speeds *points,
                                   const double *dissipation, struct left *left) {
    double per_h2 = flow->time_step / (flow->spacing * flow->spacing);
    double per_2h = 0.5 * flow->time_step / flow->spacing, scale = flow->time_step * DISSIPATION;
    double low2 = scale * dissipation[0], high2 = scale * dissipation[4];
    lanes low = scale * dissipation[1] - per_h2 * points[-1].spread;
    lanes middle = scale * dissipation[2] + 1.0 + 2.0 * per_h2 * points[0].spread;
    lanes high = scale * dissipation[3] - per_h2 * points[1].spread, inverse[WAVES], last[WAVES];
    for (int wave = 0; wave < WAVES; wave++) {
        last[wave] = low - per_2h * points[-1].speed[wave] - low2 * left[-2].next[wave];
        inverse[wave] =
            1.0 / (middle - low2 * left[-2].second[wave] - last[wave] * left[-1].next[wave]);
        lanes next = high + per_2h * points[1].speed[wave];
        left->next[wave] = inverse[wave] * (next - last[wave] * left[-1].second[wave]);
        left->second[wave] = inverse[wave] * high2;
    }
    for (int part = 0; part < PARTS; part++) {
        int wave = WAVE_OF[part];
        left->change[part] = inverse[wave] * (left->change[part] - low2 * left[-2].change[part] -
                                              last[wave] * left[-1].change[part]);
    }
}

/* Eliminate along lines. Before, their changes are seen as waves along the axis. */
static void eliminate(const struct flow *flow, const struct lines *lines, lanes *numbers) {
    static lanes states[MOST_SIDE + 2][PARTS];
    static struct speeds speeds[MOST_SIDE + 2];
    struct left *left = (struct left *)numbers;
    int from = lines->from, points = lines->to - from, axis = lines->axis;
    for (int i = -1; i <= points; i++)
        gather(lines, lines->block->now, from + i, states[i + 1]);
    for (int i = 0; i < points; i++)
        gather(lines, lines->block->change, from + i, left[i].change);
    for (int i = -1; i <= points; i++)
        find_speeds(states[i + 1], axis, &speeds[i + 1]);
    for (int i = 0; i < points; i++)
        if (axis == 0)
            to_waves_x(states[i + 1], left[i].change);
        else if (axis == 1)
            from_x_to_y(left[i].change);
        else
            from_y_to_z(left[i].change);
    for (int i = 0; i < points; i++)
        eliminate_point(flow, &speeds[i + 1],
                        dissipation_at(lines->block->first[axis] + from + i, flow->side), &left[i]);
}

/* And back: from each change, what the next two bring with them is taken away. After z, the waves
 * are seen as changes again. */
static void substitute(const struct lines *lines, lanes *numbers, lanes *after) {
    struct left *left = (struct left *)numbers;
    int from = lines->from, points = lines->to - from;
    for (int i = points - 1; i >= 0; i--)
        for (int part = 0; part < PARTS; part++) {
            int wave = WAVE_OF[part];
            lanes next = after[part], second = after[PARTS + part];
            left[i].change[part] -= left[i].next[wave] * next + left[i].second[wave] * second;
            after[PARTS + part] = next;
            after[part] = left[i].change[part];
        }
    for (int i = 0; i < points; i++) {
        if (lines->axis == 2) {
            lanes states[PARTS];
            gather(lines, lines->block->now, from + i, states);
            from_waves_z(states, left[i].change);
        }
        put_solution(lines, from + i, left[i].change);
    }
}

static const struct scheme SCALAR = {2, sizeof(struct left) / sizeof(lanes), eliminate, substitute};

static double operations(int side, int steps) {
    return steps * (881.174 * pow(side, 3) - 4683.91 * pow(side, 2) + 11484.5 * side - 19272.4);
}

int main(int argc, char **argv) {
    struct npb npb = begin_npb("SP", "SWABC", 0, &argc, &argv);
    const struct flow_class *class = &CLASSES[npb.place];
    return run_scheme(&npb, class, &SCALAR, operations(class->side, class->steps));
}
