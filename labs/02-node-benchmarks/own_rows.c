/* The exercise of lab 02: three rows of your own.
 *
 *     beowulf run -n 1 own_rows.c
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     gcc -std=c11 -O2 -I ../include own_rows.c -o own_rows
 *     ./own_rows
 *
 * A row is a function that does one thing `repetitions` times and gives the seconds that all of
 * them took together. It is called again and again, and its caller divides. The first row is
 * written; the others are yours. What calls them, counts their system calls, and finds out when one
 * goes wrong, is in own_rows.h. */
#include "own_rows.h"

/* Written, as an example: ask the kernel for the number of the process that started this one. */
static double null_calls(void *nothing, long repetitions) {
    (void)nothing; /* this row needs no argument */
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        syscall(SYS_getppid);
    return seconds_now() - began;
}

/* TODO 1: read the clock CLOCK_MONOTONIC as programs do, by the C library (`man clock_gettime`).
 * It is right when the clock is read once in each repetition. */
static double clock_by_library(void *nothing, long repetitions) {
    (void)nothing, (void)repetitions;
    return NOT_WRITTEN;
}

/* TODO 2: read the same clock by a system call, past the library (`man syscall`; the call's number
 * is SYS_clock_gettime). It is right when each repetition makes exactly this one system call.
 * Before you run it: will it take longer than the row before, and by how much? */
static double clock_by_system_call(void *nothing, long repetitions) {
    (void)nothing, (void)repetitions;
    return NOT_WRITTEN;
}

/* TODO 3: put a word (an int) into a pipe, and take it out again, all in this process: its ends are
 * the descriptors `pipe_in` and `pipe_out` of own_rows.h, and `must(…, "read")` ends the program
 * with a sentence when a call fails. It is right when each repetition writes one word and reads it,
 * and nothing is left in the pipe. */
static double pipe_to_oneself(void *nothing, long repetitions) {
    (void)nothing, (void)repetitions;
    return NOT_WRITTEN;
}

static struct row ROWS[] = {
    {.name = "null call", .run = null_calls},
    {.name = "clock, library", .run = clock_by_library},
    {.name = "clock, system call", .run = clock_by_system_call},
    {.name = "pipe to oneself", .run = pipe_to_oneself},
};

int main(int argc, char **argv) {
    return measure_own_rows(ROWS, sizeof ROWS / sizeof *ROWS, argc, argv);
}
