/* Which system calls a row makes: a second process runs it, and stops at each of them for this one
 * to look, as a debugger does. It is slow, so nothing is timed meanwhile. */
#ifndef SYSTEM_CALLS_H
#define SYSTEM_CALLS_H

#include "rows.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { MOST_NUMBERS = 1024 };

/* How often each system call was made, by its number. */
struct system_calls {
    long times[MOST_NUMBERS];
};

/* Whether the child stopped because it enters a system call. It stops again when it leaves it. */
static inline int count_one(pid_t child, struct system_calls *calls) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof info, &info) <= 0 ||
        info.op != PTRACE_SYSCALL_INFO_ENTRY)
        return 0;
    if (info.entry.nr < MOST_NUMBERS)
        calls->times[info.entry.nr]++;
    return 1;
}

/* Count the system calls of `repetitions` of a row; 0 where the machine does not let us look. */
static inline int count_system_calls(const struct row *row, long repetitions,
                                     struct system_calls *calls) {
    int status;
    memset(calls, 0, sizeof *calls);
    pid_t child = (pid_t)must(fork(), "fork");
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(1);
        raise(SIGSTOP);
        row->run(row->what, repetitions);
        _exit(0);
    }
    must(waitpid(child, &status, 0), "waitpid");
    /* From now on a stop at a system call has a signal of its own. */
    ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    int seen = 0;
    while (WIFSTOPPED(status)) {
        int signal_number = WSTOPSIG(status);
        int at_call = signal_number == (SIGTRAP | 0x80);
        if (at_call)
            seen |= count_one(child, calls);
        long passed_on = at_call || signal_number == SIGSTOP ? 0 : signal_number;
        ptrace(PTRACE_SYSCALL, child, NULL, (void *)passed_on);
        must(waitpid(child, &status, 0), "waitpid");
    }
    /* A row that ended the program has printed its own sentence. */
    if (seen && WIFEXITED(status) && WEXITSTATUS(status) != 0)
        exit(WEXITSTATUS(status));
    return seen;
}

#endif
