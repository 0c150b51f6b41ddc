/* A second process to talk to, and the cores on which the two of them run. */
#ifndef PARTNER_H
#define PARTNER_H

#include "measure/no_mpi.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PARTNERS = 64 };

static pid_t partners[MOST_PARTNERS];
static int partner_count;
static int partner_core = -1; /* -1: wherever the kernel puts it */

/* --cores: wherever the kernel puts the two processes, both on one core, or each on its own. */
enum cores { FREE, SAME, APART };
static const char *const CORES[] = {"free", "same", "apart", NULL};

/* The number of the `place`-th core that this process may use; refused if there are fewer. */
static inline int core_at(int place) {
    cpu_set_t allowed;
    must(sched_getaffinity(0, sizeof allowed, &allowed), "sched_getaffinity");
    for (int core = 0, seen = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &allowed) && seen++ == place)
            return core;
    refuse("This needs %d cores, and there are fewer for it.", place + 1);
    return -1;
}

static inline void stay_on(int core) {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(core, &only);
    must(sched_setaffinity(0, sizeof only, &only), "sched_setaffinity");
}

/* Go to a core, and have all partners started from now on go to theirs. */
static inline void take_cores(enum cores cores) {
    if (cores == FREE)
        return;
    int mine = core_at(0);
    partner_core = core_at(cores == APART ? 1 : 0);
    stay_on(mine);
}

/* A process that runs `serve(what)` until end_partners(), or until this process is gone. */
static inline void start_partner(void (*serve)(void *what), void *what) {
    if (partner_count == MOST_PARTNERS)
        refuse("At most %d partners can run at once.", MOST_PARTNERS);
    signal(SIGPIPE, SIG_IGN); /* a partner that is gone shall be an error with a sentence */
    pid_t self = getpid(), child = (pid_t)must(fork(), "fork");
    if (child > 0) {
        partners[partner_count++] = child;
        return;
    }
    must(prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
    if (getppid() != self)
        _exit(1);
    if (partner_core >= 0)
        stay_on(partner_core);
    serve(what);
    _exit(0);
}

static inline void end_partners(void) {
    while (partner_count > 0) {
        pid_t partner = partners[--partner_count];
        kill(partner, SIGKILL);
        waitpid(partner, NULL, 0);
    }
}

#endif
