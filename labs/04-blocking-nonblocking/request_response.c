/* How long do a request and its response take without MPI? What netperf asks (TCP_RR and UDP_RR).
 *
 *     beowulf run -n 2 request_response.c
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include request_response.c -o request_response
 *     mpiexec -n 2 ./request_response
 *
 * Rank 0 sends a few bytes to rank 1, which sends as many back. Each side sleeps in the kernel
 * until something comes, where MPI asks again and again. MPI only starts the two processes.
 *
 * --transport  tcp, udp, or both with a comma; they are measured alternating
 * --sizes      bytes of the request and of the response, with commas
 * --passes, --chunk-us, --seed  how many samples, how long each, in which order
 *
 * TCP sends again what is lost. UDP does not: a sample in which a datagram is lost is not kept.
 */
#define _DEFAULT_SOURCE /* struct timeval of SO_RCVTIMEO; so it comes before any file */

#include "measure.h"
#include "measure/socket_pair.h"

enum transport { TCP, UDP };
static const char *const TRANSPORTS[] = {"tcp", "udp", NULL};
static const char *const KNOWN[] = {"--transport", "--sizes", "--passes",
                                    "--chunk-us",  "--seed",  NULL};
enum { MOST_BYTES = 1024, MOST_SIZES = 16, MOST_PLACES = 32, FIRST_LOOK = 20, MOST_LOST = 3 };
#define WORLD MPI_COMM_WORLD

struct place {
    enum transport transport;
    long size, trips;
};

static unsigned char outgoing[MOST_BYTES], incoming[MOST_BYTES];
static int control, lines[2]; /* sockets: the orders come by the first; TCP and UDP */
static long message;

/* ---- One request and its response ---- */

/* Whether it came; of a datagram not so after a second. */
static int receive_one(enum transport transport, long size) {
    if (transport == TCP)
        return receive_all(lines[TCP], incoming, size, 0);
    ssize_t got = recv(lines[UDP], incoming, sizeof incoming, 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    return must((int)got, "recv") == size;
}

static int trips(enum transport transport, long size, long count) {
    for (long i = 0; i < count; i++) {
        send_all(lines[transport], outgoing, size);
        if (!receive_one(transport, size))
            return 0;
    }
    return 1;
}

/* ---- A chunk ---- */

/* Seconds for so many trips, or -1 where a datagram was lost. */
static double lead(const struct place *p, long count) {
    struct place order = {p->transport, p->size, count};
    fill(outgoing, p->size, 0, ++message);
    send_all(control, &order, sizeof order);
    double began = MPI_Wtime();
    int whole = trips(p->transport, p->size, count);
    double seconds = MPI_Wtime() - began;
    char done;
    receive_all(control, &done, 1, 0);
    if (whole) {
        verify(incoming, p->size, 0, message); /* the other side sends back what it got */
        return seconds;
    }
    while (recv(lines[UDP], incoming, sizeof incoming, MSG_DONTWAIT) >= 0)
        ; /* what came too late is no answer to the next request */
    return -1.0;
}

/* What rank 1 does, until rank 0 closes the line. */
static void answer(void) {
    struct place order;
    while (receive_all(control, &order, sizeof order, 0)) {
        for (long i = 0; i < order.trips && receive_one(order.transport, order.size); i++)
            send_all(lines[order.transport], incoming, order.size);
        send_all(control, "d", 1);
    }
}

/* ---- All places, alternating ---- */

static void write_sample(const struct place *p, long pass, double seconds) {
    begin_line("sample");
    put_text("quantity", "request_response_us");
    put_text("transport", TRANSPORTS[p->transport]);
    put_count("size_bytes", p->size);
    put_count("pass", pass);
    put_count("repetitions", p->trips);
    put_number("seconds", seconds);
    end_line();
}

static void measure(struct place *places, int count, long passes, long seed, double chunk_s) {
    int order[MOST_PLACES], lost = 0;
    for (long pass = -1; pass < passes; pass++) { /* the pass before the first: how many trips */
        shuffle(order, count, seed, pass + 1);
        for (int i = 0; i < count; i++) {
            struct place *p = &places[order[i]];
            double seconds;
            while ((seconds = lead(p, p->trips)) < 0)
                if (++lost > MOST_LOST) {
                    fprintf(stderr, "More than %d datagrams were lost between the nodes.\n",
                            MOST_LOST);
                    leave();
                }
            if (pass < 0)
                p->trips = 1 + (long)(chunk_s * FIRST_LOOK / seconds);
            else
                write_sample(p, pass, seconds);
        }
        flush_lines();
    }
}

/* ---- The sockets ---- */

/* At this address, which is also what the other side sees: only from there it takes datagrams. */
static int datagrams(const char *address, int *port) {
    struct sockaddr_in here = {.sin_family = AF_INET};
    struct timeval second = {.tv_sec = 1};
    socklen_t length = sizeof here;
    int line = must(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");
    inet_pton(AF_INET, address, &here.sin_addr);
    must(bind(line, (struct sockaddr *)&here, length), "bind");
    must(getsockname(line, (struct sockaddr *)&here, &length), "getsockname");
    must(setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second), "setsockopt");
    *port = ntohs(here.sin_port);
    return line;
}

/* Rank 1 listens at its own address; both tell each other where their datagrams come in. */
static void connect_all(int me) {
    char addresses[2][64] = {"", ""};
    int ports[2], tcp_port = 0, listening = -1;
    my_address(addresses[me], sizeof addresses[me]);
    lines[UDP] = datagrams(addresses[me], &ports[me]);
    if (me == 1)
        listening = listen_anywhere(&tcp_port);
    check(MPI_Bcast(&tcp_port, 1, MPI_INT, 1, WORLD));
    for (int rank = 0; rank < 2; rank++) {
        check(MPI_Bcast(&ports[rank], 1, MPI_INT, rank, WORLD));
        check(MPI_Bcast(addresses[rank], sizeof addresses[rank], MPI_CHAR, rank, WORLD));
    }
    if (me == 0) {
        control = connect_to(addresses[1], tcp_port);
        lines[TCP] = connect_to(addresses[1], tcp_port);
    } else {
        control = at_once(must(accept(listening, NULL, NULL), "accept"));
        lines[TCP] = accept_one(listening);
    }
    struct sockaddr_in there = {.sin_family = AF_INET,
                                .sin_port = htons((unsigned short)ports[1 - me])};
    inet_pton(AF_INET, addresses[1 - me], &there.sin_addr);
    must(connect(lines[UDP], (struct sockaddr *)&there, sizeof there), "connect");
}

static void run(int argc, char **argv) {
    int transports[2], count = 0, me = my_rank();
    long sizes[MOST_SIZES];
    struct place places[MOST_PLACES];

    refuse_unknown(argc, argv, KNOWN);
    int n_transports =
        words_argument(argc, argv, "--transport", "tcp,udp", TRANSPORTS, transports, 2);
    int n_sizes = list_argument(argc, argv, "--sizes", "1", 1, MOST_BYTES, sizes, MOST_SIZES);
    long passes = number_argument(argc, argv, "--passes", 10, 1, 1000000);
    long chunk_us = number_argument(argc, argv, "--chunk-us", 2000, 1, 10000000);
    long seed = number_argument(argc, argv, "--seed", 1, 0, LONG_MAX);
    if (all_ranks() != 2)
        refuse("A request and its response are between two ranks: `-n 2`.");

    keep_lines_back();
    connect_all(me);
    for (int i = 0; i < n_sizes; i++)
        for (int j = 0; j < n_transports; j++)
            places[count++] = (struct place){(enum transport)transports[j], sizes[i], FIRST_LOOK};
    begin_about("request_response", clock_resolution(), passes * count);
    if (me == 0) {
        put_text("time", "a request and its response, whole");
        end_line();
    }
    flush_lines();
    if (me == 0) {
        measure(places, count, passes, seed, (double)chunk_us * 1e-6);
        close(control);
        write_end();
    } else {
        answer();
    }
}

int main(int argc, char **argv) {
    start_mpi(&argc, &argv);
    run(argc, argv);
    check(MPI_Finalize());
    return 0;
}
