/* How long is a word on its way to another process of the same node, and back?
 *
 *     gcc -std=c11 -O2 -I ../include -I /usr/include/tirpc latencies.c -o latencies -ltirpc
 *     ./latencies --rows pipe,TCP --cores apart
 *
 * The rows are those of paper A's table 2 (local communication). Each is a FULL ROUND TRIP in
 * microseconds, there and back, as LMBench reports it; MPI latencies are usually half of that.
 *
 * pipe, AF UNIX   two pipes; a pair of sockets that never leave the kernel
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

/* ---- Before: two ends for each ---- */

static void start_pipes(void *what) {
    struct ends *ends = what;
    int there[2], back[2];
    must(pipe(there), "pipe");
    must(pipe(back), "pipe");
    *ends = (struct ends){0, back[0], there[1], there[0], back[1]};
    start_partner(echo, ends);
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

static struct ends pipes, sockets, udp = {.type = SOCK_DGRAM}, tcp = {.type = SOCK_STREAM};
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
