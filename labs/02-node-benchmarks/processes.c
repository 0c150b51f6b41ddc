/* What does it cost to ask the kernel for something? To get a signal? To start a process?
 *
 *     gcc -std=c11 -O2 -I ../include processes.c -o processes
 *     ./processes --rows "null call,fork proc"
 *
 * The rows are those of paper A's table 1 (processor and processes), in microseconds for one:
 *
 * null call       getppid(), about the least that the kernel can be asked
 * null I/O        the mean of reading a byte from /dev/zero and writing a byte to /dev/null
 * stat            asking for the size, owner and times of a file
 * open/close      opening that file, and closing it
 * select          asking which of the descriptors below number 100 can take data: all can, because
 *                 all are one TCP connection to another process, as in LMBench
 * signal install  saying which function handles a signal
 * signal handle/catch  sending oneself that signal, until the function has run; less `signal 0`
 * fork proc       a child that ends at once, until the parent has seen its end
 * exec proc       the same, with another program in the child: this one, which then does nothing
 * shell proc      the same, with /bin/sh that starts that program
 *
 * and some that the paper does not have, most of which LMBench has:
 *
 * signal 0        asking whether one may send oneself a signal: all of sending but the signal
 * spawn proc      as exec proc, by posix_spawn, which does not copy the parent's page tables first
 * context switch (2 processes)  a word goes to and fro between two processes on one core: for one
 *                 change of process, less what the pipe costs by one process
 * context switch (ring of 4)    the same, from one to the next of four processes
 * TCP connect     a socket and its connection to another process of this node, and its end
 * file create, file delete      a file of 0 bytes (and of 10 KiB: file create 10K, file delete 10K)
 * mmap            mapping a file of 4 MiB, writing a byte in each 16 KiB of its first tenth,
 *                 unmapping it
 * page fault      touching a page of a fresh mapping of that file, in an order nobody foresees; the
 *                 kernel maps up to 16 neighbours with it
 *
 * --folder        where these files are (the temporary folder)
 *
 * rows.h says which arguments there are, and how the time is taken.
 */
#include "rows.h"

#include "connections.h"
#include "files.h"
#include "ring.h"
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define NOTHING "--nothing" /* with this argument the program ends at once */

static char own_path[PATH_MAX];
static int zero_fd, null_fd;

/* ---- The measured loops: asking ---- */

/* syscall(), because a C library may remember the answer of getppid() and not ask again. */
static double null_calls(void *nothing, long repetitions) {
    (void)nothing;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        syscall(SYS_getppid);
    return seconds_now() - began;
}

static double null_transfers(void *nothing, long repetitions) {
    (void)nothing;
    char byte = 0;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++) {
        must(read(zero_fd, &byte, 1), "read");
        must(write(null_fd, &byte, 1), "write");
    }
    return seconds_now() - began;
}

static double stats(void *path, long repetitions) {
    struct stat status;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        must(stat(path, &status), "stat");
    return seconds_now() - began;
}

static double openings(void *path, long repetitions) {
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        close((int)must(open(path, O_RDONLY), "open"));
    return seconds_now() - began;
}

/* ---- The measured loops: getting a signal ---- */

static volatile sig_atomic_t handled;

static void handle(int number) {
    (void)number;
    handled++;
}

static double installations(void *nothing, long repetitions) {
    (void)nothing;
    struct sigaction action = {.sa_handler = handle};
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        must(sigaction(SIGUSR1, &action, NULL), "sigaction");
    return seconds_now() - began;
}

/* Signal number 0 is none: the kernel looks whether it might be sent, and sends nothing. */
static double signals_0(void *nothing, long repetitions) {
    (void)nothing;
    pid_t self = getpid();
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        must(kill(self, 0), "kill");
    return seconds_now() - began;
}

/* A signal that a process sends itself is handled before kill() returns. */
static double signals(void *nothing, long repetitions) {
    (void)nothing;
    pid_t self = getpid();
    handled = 0;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++)
        must(kill(self, SIGUSR1), "kill");
    double seconds = seconds_now() - began;
    if (handled != repetitions)
        refuse("%ld signals were sent and %ld handled.", repetitions, (long)handled);
    return seconds;
}

/* ---- The measured loops: starting ---- */

static void wait_for(pid_t child) {
    int status;
    must(waitpid(child, &status, 0), "waitpid");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        refuse("A process that was started did not do its work: it cannot start %s.", own_path);
}

static double forks(void *nothing, long repetitions) {
    (void)nothing;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++) {
        pid_t child = (pid_t)must(fork(), "fork");
        if (child == 0)
            _exit(0);
        wait_for(child);
    }
    return seconds_now() - began;
}

/* The environment stays behind: it may say that libraries be loaded which make a start longer. */
static char *const NO_ENVIRONMENT[] = {NULL};
static char *const PROGRAM[] = {own_path, NOTHING, NULL};
static char *const SHELL[] = {"sh", "-c", "\"$0\" " NOTHING, own_path, NULL};

static double executions(void *words, long repetitions) {
    char *const *argv = words;
    const char *path = argv == SHELL ? "/bin/sh" : own_path;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++) {
        pid_t child = (pid_t)must(fork(), "fork");
        if (child == 0) {
            execve(path, argv, NO_ENVIRONMENT);
            _exit(1);
        }
        wait_for(child);
    }
    return seconds_now() - began;
}

static double spawnings(void *nothing, long repetitions) {
    (void)nothing;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++) {
        pid_t child;
        if ((errno = posix_spawn(&child, own_path, NULL, NULL, PROGRAM, NO_ENVIRONMENT)) != 0)
            must(-1, "posix_spawn");
        wait_for(child);
    }
    return seconds_now() - began;
}

/* ---- Before: files, a handler ---- */

static void open_devices(void *nothing) {
    (void)nothing;
    zero_fd = (int)must(open("/dev/zero", O_RDONLY), "open /dev/zero");
    null_fd = (int)must(open("/dev/null", O_WRONLY), "open /dev/null");
}

static void install_handler(void *nothing) { installations(nothing, 1); }

static void find_own_path(void) {
    ssize_t length = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
    own_path[must(length, "readlink /proc/self/exe")] = '\0';
}

static struct door lasting = {.keep_open = 1}, passing = {.keep_open = 0};
static size_t empty = 0, ten_kib = 10 * 1024;

static struct row ROWS[] = {
    {.name = "null call", .run = null_calls},
    {.name = "null I/O", .run = null_transfers, .prepare = open_devices, .operations = 2},
    {.name = "stat", .run = stats, .what = own_path},
    {.name = "open/close", .run = openings, .what = own_path},
    {.name = "select", .run = selections, .what = &lasting, .prepare = connect_all},
    {.name = "signal install", .run = installations},
    {.name = "signal 0", .run = signals_0},
    {.name = "signal handle/catch", .run = signals, .prepare = install_handler, .less = "signal 0"},
    {.name = "fork proc", .run = forks},
    {.name = "exec proc", .run = executions, .what = (void *)PROGRAM},
    {.name = "shell proc", .run = executions, .what = (void *)SHELL},
    {.name = "spawn proc", .run = spawnings},
    {.name = "context switch (2 processes)",
     .run = hops,
     .what = &ring_of_two,
     .prepare = start_ring,
     .operations = 2,
     .less = "ring by one process"},
    {.name = "context switch (ring of 4)",
     .run = hops,
     .what = &ring_of_four,
     .prepare = start_ring,
     .operations = 4,
     .less = "ring by one process"},
    {.name = "ring by one process",
     .run = hops,
     .what = &ring_of_one,
     .prepare = start_ring,
     .operations = 4},
    {.name = "TCP connect", .run = connections, .what = &passing, .prepare = open_door},
    {.name = "file create", .run = creations, .what = &empty, .prepare = prepare_files},
    {.name = "file delete", .run = deletions, .what = &empty, .prepare = prepare_files},
    {.name = "file create 10K", .run = creations, .what = &ten_kib, .prepare = prepare_files},
    {.name = "file delete 10K", .run = deletions, .what = &ten_kib, .prepare = prepare_files},
    {.name = "mmap", .run = mappings, .prepare = make_mapped_file},
    {.name = "page fault", .run = page_faults, .prepare = make_mapped_file, .operations = PAGES},
};
static const struct family PROCESSES = {
    "processes", "operation_us", ROWS, sizeof ROWS / sizeof *ROWS, 11, 3, 1000, NULL};
static const char *const KNOWN[] = {"--rows", "--passes", "--chunks", "--chunk-us",
                                    "--seed", "--folder", NULL};

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], NOTHING) == 0)
        return 0;
    refuse_unknown(argc, argv, KNOWN);
    const char *temporary = getenv("TMPDIR");
    files_where = text_argument(argc, argv, "--folder", temporary ? temporary : "/tmp");
    find_own_path();
    measure_family(&PROCESSES, argc, argv);
    end_partners();
    return 0;
}
