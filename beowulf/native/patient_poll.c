/* Patient polling.
 *
 * An MPI rank that waits for a message asks the kernel again and again, with a time-out of zero,
 * whether anything has arrived. With a core to itself that is the fastest way to wait. With more
 * ranks than cores it is the slowest: the rank that asks keeps the core from the rank that would
 * answer, for a whole time slice of some milliseconds.
 *
 * Loaded before the C library (LD_PRELOAD), this file takes the place of poll() and epoll_wait(). A
 * call with time-out zero that finds nothing ready waits up to one millisecond for something to
 * arrive; the core is free meanwhile, and the call returns the moment that there is something.
 * Every other call is passed on as it is.
 *
 * BEOWULF_PATIENT: "always", "never", or "auto": only when ranks outnumber the cores that they
 * share. Nodes that are machines of their own share none: the ranks of this node (MPI_LOCALNRANKS)
 * have the cores on which the node's processes may run. Nodes on one machine share its cores, and
 * BEOWULF_SHARED_CORES says how many: all ranks (PMI_SIZE) have those. Runs of different numbers of
 * ranks that are compared have to wait alike: the largest number, BEOWULF_COMPARED_RANKS, decides.
 *
 * BEOWULF_POLLING is what was decided, for the program to tell: "patient" or "spinning". */
#define _GNU_SOURCE
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 1 };

static int patience_ms = 0;

/* A whole number from the environment, 0 where there is none. */
static long setting(const char *name) {
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

/* The cores of this node. mpiexec may have bound this rank to one of them (-bind-to), but not what
 * has started the rank. */
static long cores_here(void) {
    cpu_set_t cores;
    if (sched_getaffinity(getppid(), sizeof cores, &cores) == 0)
        return CPU_COUNT(&cores);
    return sysconf(_SC_NPROCESSORS_ONLN);
}

static int crowded(void) {
    long shared = setting("BEOWULF_SHARED_CORES");
    if (shared > 0)
        return setting("PMI_SIZE") > shared || setting("BEOWULF_COMPARED_RANKS") > shared;
    return setting("MPI_LOCALNRANKS") > cores_here();
}

__attribute__((constructor)) static void choose_patience(void) {
    const char *wish = getenv("BEOWULF_PATIENT");
    int always = wish && strcmp(wish, "always") == 0;
    int automatic = wish && strcmp(wish, "auto") == 0;
    patience_ms = always || (automatic && crowded()) ? PATIENCE_MS : 0;
    setenv("BEOWULF_POLLING", patience_ms ? "patient" : "spinning", 1);
}

static int wait_ms(int asked_ms) { return asked_ms == 0 ? patience_ms : asked_ms; }

/* ppoll and epoll_pwait are the system calls that every kind of processor has. */
int poll(struct pollfd *descriptors, nfds_t count, int timeout_ms) {
    int wait = wait_ms(timeout_ms);
    struct timespec limit = {wait / 1000, wait % 1000 * 1000000L};
    return (int)syscall(SYS_ppoll, descriptors, count, wait < 0 ? NULL : &limit, NULL, 0);
}

int epoll_wait(int epoll, struct epoll_event *events, int most, int timeout_ms) {
    return (int)syscall(SYS_epoll_pwait, epoll, events, most, wait_ms(timeout_ms), NULL, 0);
}
