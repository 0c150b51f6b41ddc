/* How long is a word on its way to another process of the same node, and back?
 *
 *     gcc -std=c11 -O2 -I ../include -I /usr/include/tirpc latencies.c -o latencies -ltirpc
 *     ./latencies --rows pipe,TCP --cores apart
 *
 * The rows are those of paper A's table 2 (local communication). Each is a FULL ROUND TRIP in
 * microseconds, there and back, as LMBench reports it; MPI latencies are usually half of that.
 *
 * pipe, AF UNIX   two pipes; a pair of sockets that never leave the kernel
 * fifo            two pipes with names in a folder (the paper does not have it)
 * semaphore       no word at all: each process raises the semaphore that the other one waits for
 *                 (the paper does not have it; LMBench prints half of the round trip here)
 * UDP, TCP        sockets over the loopback 127.0.0.1, through all of the protocol
 * RPC/UDP, RPC/TCP  the same with remote procedure calls on top (rpc_echo.h)
 *
 * Most of the time is not spent on moving the word, but on waking the other process. So it matters
 * where the two of them run:
 *
 * --cores     free    wherever the kernel puts them (as LMBench does)
 *             same    both on one core: each waits until the other has left
 *             apart   each on a core of its own: no one leaves, but another core has to be woken
 *
 * rows.h says which other arguments there are, and how the time is taken.
 */
#include "rows.h"

#include "loopback.h"
#include "rpc_echo.h"
#include <fcntl.h>
#include <sys/sem.h>
#include <sys/stat.h>

/* Two ends: what is written to `to` comes back at `from`. */
struct ends {
    int type; /* SOCK_DGRAM, SOCK_STREAM; 0 for a pipe or AF_UNIX */
    int from, to;
    int server_from, server_to;
};

static enum cores cores;

/* ---- The measured loop ---- */

static double round_trips(void *what, long repetitions) {
    const struct ends *ends = what;
    double began = seconds_now();
    for (int i = 0; i < repetitions; i++) {
        int back = -1;
        must(write(ends->to, &i, sizeof i), "write");
        must(read(ends->from, &back, sizeof back), "read");
        if (back != i)
            refuse("The word that came back is %d, not %d.", back, i);
    }
    return seconds_now() - began;
}

static void echo(void *what) {
    const struct ends *ends = what;
    int word;
    while (must(read(ends->server_from, &word, sizeof word), "read") == sizeof word)
        must(write(ends->server_to, &word, sizeof word), "write");
}

/* Two semaphores of the kernel: one for each direction. */
enum { THERE, BACK, SEMAPHORES };

static void change_semaphore(int set, unsigned short which, short by) {
    struct sembuf change = {.sem_num = which, .sem_op = by};
    must(semop(set, &change, 1), "semop");
}

static double semaphore_trips(void *what, long repetitions) {
    int set = *(int *)what;
    double began = seconds_now();
    for (long i = 0; i < repetitions; i++) {
        change_semaphore(set, THERE, 1);
        change_semaphore(set, BACK, -1);
    }
    double seconds = seconds_now() - began;
    for (int which = 0; which < SEMAPHORES; which++)
        if (must(semctl(set, which, GETVAL), "semctl") != 0)
            refuse("A semaphore was raised and nobody waited for it.");
    return seconds;
}

/* The kernel keeps a set of semaphores until a program removes it: this program at its end, or the
 * partner if the program was ended by force. */
static int semaphores = -1;

static void remove_semaphores(void) { semctl(semaphores, 0, IPC_RMID); }

static void remove_and_end(int number) {
    (void)number;
    remove_semaphores();
    _exit(0);
}

static void answer_semaphores(void *what) {
    static const int ENDS[] = {SIGTERM, SIGINT, SIGHUP};
    for (size_t i = 0; i < sizeof ENDS / sizeof *ENDS; i++)
        signal(ENDS[i], remove_and_end);
    must(prctl(PR_SET_PDEATHSIG, SIGTERM), "prctl");
    for (;;) {
        change_semaphore(*(int *)what, THERE, -1);
        change_semaphore(*(int *)what, BACK, 1);
    }
}

/* ---- Before: two ends for each ---- */

static void start_pipes(void *what) {
    struct ends *ends = what;
    int there[2], back[2];
    must(pipe(there), "pipe");
    must(pipe(back), "pipe");
    *ends = (struct ends){0, back[0], there[1], there[0], back[1]};
    start_partner(echo, ends);
}

/* The names are gone as soon as both processes have the pipes open. */
static void start_fifos(void *what) {
    struct ends *ends = what;
    char folder[] = "/tmp/node-benchmark-XXXXXX", path[2][64];
    int fds[2];
    if (!mkdtemp(folder))
        must(-1, "mkdtemp");
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "%s/%d", folder, i);
        must(mkfifo(path[i], 0600), "mkfifo");
        fds[i] = (int)must(open(path[i], O_RDWR), "open");
        unlink(path[i]);
    }
    rmdir(folder);
    *ends = (struct ends){0, fds[1], fds[0], fds[0], fds[1]};
    start_partner(echo, ends);
}

static void start_semaphores(void *what) {
    int *set = what;
    *set = (int)must(semget(IPC_PRIVATE, SEMAPHORES, 0600), "semget");
    start_partner(answer_semaphores, set);
    atexit(remove_semaphores);
}

static void start_unix(void *what) {
    struct ends *ends = what;
    int pair[2];
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
    *ends = (struct ends){0, pair[0], pair[0], pair[1], pair[1]};
    start_partner(echo, ends);
}

static void start_inet(void *what) {
    struct ends *ends = what;
    int mine, other;
    connect_pair(ends->type, &mine, &other);
    *ends = (struct ends){ends->type, mine, mine, other, other};
    start_partner(echo, ends);
}

static struct ends pipes, fifos, sockets, udp = {.type = SOCK_DGRAM}, tcp = {.type = SOCK_STREAM};
static struct rpc rpc_udp = {.type = SOCK_DGRAM}, rpc_tcp = {.type = SOCK_STREAM};

static struct row ROWS[] = {
    {.name = "pipe", .run = round_trips, .what = &pipes, .prepare = start_pipes},
    {.name = "AF UNIX", .run = round_trips, .what = &sockets, .prepare = start_unix},
    {.name = "UDP", .run = round_trips, .what = &udp, .prepare = start_inet},
    {.name = "RPC/UDP",
     .run = rpc_round_trips,
     .what = &rpc_udp,
     .prepare = start_rpc,
     .missing = rpc_missing},
    {.name = "TCP", .run = round_trips, .what = &tcp, .prepare = start_inet},
    {.name = "RPC/TCP",
     .run = rpc_round_trips,
     .what = &rpc_tcp,
     .prepare = start_rpc,
     .missing = rpc_missing},
    {.name = "fifo", .run = round_trips, .what = &fifos, .prepare = start_fifos},
    {.name = "semaphore", .run = semaphore_trips, .what = &semaphores, .prepare = start_semaphores},
};

static void about_cores(void) { put_text("cores", CORES[cores]); }

static const struct family LATENCIES = {
    "latencies", "full_round_trip_us", ROWS, sizeof ROWS / sizeof *ROWS, 11, 3, 1000, about_cores};
static const char *const KNOWN[] = {"--rows", "--passes", "--chunks", "--chunk-us",
                                    "--seed", "--cores",  NULL};

int main(int argc, char **argv) {
    refuse_unknown(argc, argv, KNOWN);
    cores = (enum cores)word_argument(argc, argv, "--cores", "free", CORES);
    take_cores(cores);
    measure_family(&LATENCIES, argc, argv);
    end_partners();
    return 0;
}
