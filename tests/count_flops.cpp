/* Counts the floating-point operations of ppm.h by running it with numbers that count: what a zone more takes in a sweep.
 * The test that compiles it puts COUNTED in the place of every `double` but the constant GAMMA. */
#include <cmath>
#include <cstdio>

static long operations;

struct counted {
    double value;
    counted(double value = 0.0) : value(value) {}
    friend counted operator+(counted a, counted b) { return operations++, a.value + b.value; }
    friend counted operator-(counted a, counted b) { return operations++, a.value - b.value; }
    friend counted operator*(counted a, counted b) { return operations++, a.value * b.value; }
    friend counted operator/(counted a, counted b) { return operations++, a.value / b.value; }
    counted &operator+=(counted b) { return *this = *this + b; }
    counted &operator-=(counted b) { return *this = *this - b; }
    friend bool operator<(counted a, counted b) { return a.value < b.value; }
    friend bool operator>(counted a, counted b) { return a.value > b.value; }
    friend bool operator<=(counted a, counted b) { return a.value <= b.value; }
    friend bool operator>=(counted a, counted b) { return a.value >= b.value; }
    friend bool operator==(counted a, counted b) { return a.value == b.value; }
};

static counted sqrt(counted a) { return operations++, std::sqrt(a.value); }
static counted fabs(counted a) { return std::fabs(a.value); }
static counted copysign(counted a, counted b) { return std::copysign(a.value, b.value); }

#include "ppm_counted.h"

/* Sweeps so many zones and adds what that takes, `times` times. */
static bool sweep(int zones, long times, long *sum) {
    static line line;
    line.zones = zones;
    for (int i = 0; i < zones + 2 * GHOSTS;
         i++) { /* smooth, slower than sound, and it expands to the right */
        double density = 1.0 + 0.001 * i, speed = 0.3, pressure = 2.0 - 0.0005 * i;
        line.conserved[MASS][i] = density;
        line.conserved[MOMENTUM][i] = density * speed;
        line.conserved[MOMENTUM_ACROSS][i] = density * 0.0001 * i;
        line.conserved[ENERGY][i] = pressure / 0.4 + 0.5 * density * speed * speed;
    }
    operations = 0;
    bool is_gas = sweep_line(&line, 0.1) < 0;
    *sum += times * operations;
    return is_gas;
}

int main() {
    long sum = 0;
    if (!sweep(300, 1, &sum) || !sweep(200, -1, &sum))
        return 1;
    std::printf("%ld %d\n", sum / 100, SWEEP_FLOPS);
    return 0;
}
