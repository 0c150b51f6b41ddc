/* The changes of a point as waves. Along an axis a gas has five: three that the flow carries along
 * and two of sound, one with the flow and one against it. Seen as waves, the five numbers of a
 * point do not mix, and each can be solved for by itself. These are the published changes of
 * basis: into waves along x, from there to y, from there to z, and back. Each is done for
 * the points of LANES lines at once. */
#ifndef NPB_SP_WAVES_H
#define NPB_SP_WAVES_H

#include "flow_lines.h"

#define HALF_ROOT 0.70710678118654752440 /* sqrt(1/2) */

static inline lanes sound_of(const struct gases *gas) {
    lanes square = C1 * C2 * (gas->energy - gas->half_square), sound;
    for (int lane = 0; lane < LANES; lane++)
        sound[lane] = sqrt(square[lane]);
    return sound;
}

static inline void to_waves_x(const lanes *states, lanes *r) {
    struct gases gas = gases_of(states);
    const lanes *v = gas.velocity, sound = sound_of(&gas);
    lanes pressure = C2 / (sound * sound) *
                     (gas.half_square * r[0] - v[0] * r[1] - v[1] * r[2] - v[2] * r[3] + r[4]);
    lanes flow = HALF_ROOT * gas.inverse * (v[0] * r[0] - r[1]);
    lanes carried = HALF_ROOT * gas.inverse * sound * pressure;
    lanes turn_y = gas.inverse * (v[1] * r[0] - r[2]), turn_z = gas.inverse * (v[2] * r[0] - r[3]);
    r[0] -= pressure;
    r[1] = -turn_z;
    r[2] = turn_y;
    r[3] = carried - flow;
    r[4] = carried + flow;
}

static inline void from_x_to_y(lanes *r) {
    lanes first = r[0], half = HALF_ROOT * r[2], mean = 0.5 * (r[3] + r[4]);
    r[0] = -r[1];
    r[1] = first;
    r[2] = HALF_ROOT * (r[3] - r[4]);
    r[3] = mean - half;
    r[4] = mean + half;
}

static inline void from_y_to_z(lanes *r) {
    lanes second = r[1], half = HALF_ROOT * r[0], mean = 0.5 * (r[3] + r[4]);
    r[0] = HALF_ROOT * (r[3] - r[4]);
    r[1] = -r[2];
    r[2] = second;
    r[3] = mean - half;
    r[4] = mean + half;
}

static inline void from_waves_z(const lanes *states, lanes *r) {
    struct gases gas = gases_of(states);
    const lanes *v = gas.velocity, sound = sound_of(&gas), half = HALF_ROOT * states[0];
    lanes pressure = half / sound * (r[3] + r[4]), density = r[2] + pressure;
    lanes flow = half * (r[3] - r[4]), turn_x = states[0] * r[1], turn_y = states[0] * r[0];
    r[0] = density;
    r[1] = v[0] * density - turn_x;
    r[2] = v[1] * density + turn_y;
    r[3] = v[2] * density + flow;
    r[4] = gas.half_square * density + sound * sound / C2 * pressure - v[0] * turn_x +
           v[1] * turn_y + v[2] * flow;
}

#endif
