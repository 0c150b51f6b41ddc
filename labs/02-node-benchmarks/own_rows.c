/* The exercise of lab 02: three rows of your own.
 *
 *     beowulf run -n 1 own_rows.c
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     gcc -std=c11 -O2 -I ../include own_rows.c -o own_rows
 *     ./own_rows
 *
 * A row is a function that does one thing `repetitions` times and returns the seconds that all
 * repetitions took together. It is called many times, and the caller divides. The first row is
 * written; you write the others. own_rows.h has the code that calls them, counts their system
 * calls, and finds errors. */
#include "own_rows.h"

/* An example: ask the kernel for the number of the process that started this one. */
static double null_calls(void *nothing, long repetitions) {
    (void)nothing; /* this row needs no argument */
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        syscall(SYS_getppid);
    return seconds_now() - began;
}

/* TODO 1: read the clock CLOCK_MONOTONIC with the C library, as programs do (`man clock_gettime`).
 * It is right when each repetition reads the clock once. */
static double clock_by_library(void *nothing, long repetitions) {
    (void)nothing, (void)repetitions;
    return NOT_WRITTEN;
}

/* TODO 2: read the same clock with a system call instead (`man syscall`; the call's number is
 * SYS_clock_gettime). It is right when each repetition makes exactly this one system call.
 * Before you run it: will it take longer than the row before, and by how much? */
static double clock_by_system_call(void *nothing, long repetitions) {
    (void)nothing, (void)repetitions;
    return NOT_WRITTEN;
}

/* TODO 3: write a word (an int) into a pipe and read it again, in this one process. The pipe's ends
 * are the descriptors `pipe_in` and `pipe_out` of own_rows.h; `must(…, "read")` ends the program
 * with a message if a call fails. It is right when each repetition writes one word and reads it,
 * and leaves nothing in the pipe. */
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
