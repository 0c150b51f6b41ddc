/* One stream of bytes from a node to another, over one network or over two.
 *
 *     beowulf run -n 2 stripes.c                     (beowulf up --networks 2 --rate 10mbit)
 *     beowulf run -n 2 stripes.c --way turns
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include stripes.c -o stripes
 *     mpiexec -n 2 ./stripes --way multipath
 *
 * Rank 0 sends --kb KB in pieces as long as a frame carries, rank 1 answers with one byte when all have arrived. Each of
 * --passes streams has connections of its own.
 *
 * --way one: one connection of TCP, to the address on the first network. Which network carries its packets is the
 *   kernel's business: study C3 lets it use both.
 * --way turns: a connection on each network; the pieces take them in turn.
 * --way multipath: one connection of multipath TCP; the kernel shares its bytes out to the networks that it knows of.
 *
 * --beside (four ranks): ranks 2 and 3 keep the second network busy meanwhile with a stream of their own.
 *
 * --receiver ADDRESS,ADDRESS: the receiver's addresses, where the second card is not eth1.
 *
 * A stream that stands still for --patience seconds, or takes longer than --longest, ends with a sentence. */
#define _DEFAULT_SOURCE /* struct tcp_info */
#include "cards.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif
#ifndef SOL_MPTCP
#define SOL_MPTCP 284
#endif
#ifndef MPTCP_TCPINFO
#define MPTCP_TCPINFO 2
#endif

enum { TAG = 9, BESIDE_BUFFER = 16384 };
enum { ONE, TURNS, MULTIPATH };
static const char *const WAYS[] = {"one", "turns", "multipath", NULL};

static struct {
    int way, connections;
    int sockets[NETWORKS];
    in_port_t port;
    const char *receiver[NETWORKS]; /* its addresses, where they are given */
    long bytes, arrived[NETWORKS];
    int buffer, patience_s, longest_s;
    double began;
} stream;

/* What is wrong with a stream that does not come to its end: the sentence for a person. */
static void stuck(const char *why) {
    long all = stream.arrived[0] + stream.arrived[1];
    fprintf(stderr, "The stream %s: %ld of %ld bytes had %s", why, all, stream.bytes,
            my_rank() ? "arrived" : "been sent");
    if (stream.connections > 1)
        fprintf(stderr, ", %ld on the first network and %ld on the second", stream.arrived[0],
                stream.arrived[1]);
    fprintf(stderr, ". Is a network pulled?\n");
    give_up(1);
}

/* The address of this node on its first or second network: as given, or that of its card. */
static struct sockaddr_in own_address(int network) {
    struct sockaddr_in given = {.sin_family = AF_INET};
    if (!stream.receiver[network])
        return card_address(network);
    if (inet_pton(AF_INET, stream.receiver[network], &given.sin_addr) != 1)
        refuse_here("%s is no address.", stream.receiver[network]);
    return given;
}

static int new_socket(void) {
    int made = socket(AF_INET, SOCK_STREAM, stream.way == MULTIPATH ? IPPROTO_MPTCP : 0);
    int on = 1;
    if (made < 0 && stream.way == MULTIPATH)
        refuse_here("this kernel has no multipath TCP.");
    /* The buffers before the connection is made: the window is agreed on there. */
    if (made < 0 || setsockopt(made, SOL_SOCKET, SO_SNDBUF, &stream.buffer, sizeof stream.buffer) ||
        setsockopt(made, SOL_SOCKET, SO_RCVBUF, &stream.buffer, sizeof stream.buffer) ||
        setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on))
        fail("A socket cannot be made");
    set_patience(made, stream.patience_s);
    return made;
}

/* The odd rank of a pair listens, the even one connects. */
static int connected(int network) {
    struct sockaddr_in address = {0}, anywhere;
    socklen_t length = sizeof address;
    int made = new_socket(), partner = my_rank() ^ 1, listening = made;
    if (my_rank() % 2 == 0) {
        check(MPI_Recv(&address, sizeof address, MPI_BYTE, partner, TAG, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
        if (connect(made, (struct sockaddr *)&address, length))
            stuck("was not opened");
        return made;
    }
    /* It stays open: a second path may come later, and no other stream of this run gets its port. */
    address = anywhere = own_address(network);
    if (stream.way == MULTIPATH) /* and to another address of this node */
        anywhere.sin_addr.s_addr = INADDR_ANY;
    if (stream.way == TURNS) /* on both the same port: a capture shows what belongs together */
        anywhere.sin_port = stream.port;
    if (bind(listening, (struct sockaddr *)&anywhere, length) || listen(listening, 1) ||
        getsockname(listening, (struct sockaddr *)&anywhere, &length))
        fail("A socket cannot listen");
    address.sin_port = stream.port = anywhere.sin_port;
    check(MPI_Send(&address, sizeof address, MPI_BYTE, partner, TAG, MPI_COMM_WORLD));
    made = accept(listening, NULL, NULL);
    if (made < 0)
        stuck("was not opened");
    set_patience(made, stream.patience_s);
    return made;
}

/* Whether this call has moved bytes; a sentence where it is the last one. */
static long moved(ssize_t now) {
    if (now < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINPROGRESS))
        stuck("stands still");
    if (now <= 0)
        stuck("has broken");
    if (MPI_Wtime() - stream.began > stream.longest_s)
        stuck("takes too long");
    return (long)now;
}

static void send_stream(const unsigned char *bytes) {
    unsigned char all_there;
    for (long at = 0, number = 0; at < stream.bytes; number++) {
        int network = (int)(number % stream.connections);
        long end = at + PIECE < stream.bytes ? at + PIECE : stream.bytes;
        /* MSG_EOR: the kernel leaves a piece as it is, and hands each frame down by itself. */
        for (long now; at < end; at += now, stream.arrived[network] += now)
            now = moved(send(stream.sockets[network], bytes + at, (size_t)(end - at),
                             MSG_NOSIGNAL | MSG_EOR));
    }
    moved(recv(stream.sockets[0], &all_there, 1, 0));
}

static void receive_stream(unsigned char *bytes) {
    for (long at = 0, number = 0; at < stream.bytes; number++) {
        int network = (int)(number % stream.connections);
        long end = at + PIECE < stream.bytes ? at + PIECE : stream.bytes;
        for (long now; at < end; at += now, stream.arrived[network] += now)
            now = moved(recv(stream.sockets[network], bytes + at, (size_t)(end - at), 0));
    }
    moved(send(stream.sockets[0], "", 1, MSG_NOSIGNAL));
}

/* How many segments the kernel has sent once more on the connections of this stream, and over how many paths. */
static long retransmitted(int *paths) {
    struct {
        /* As linux/mptcp.h has it, which not every system has. */
        uint32_t its_size, paths, kernels_size, size;
        struct tcp_info of[8];
    } all = {.its_size = 4 * sizeof(uint32_t), .size = sizeof(struct tcp_info)};
    socklen_t length = sizeof all;
    long again = 0;
    if (stream.way == MULTIPATH) {
        if (getsockopt(stream.sockets[0], SOL_MPTCP, MPTCP_TCPINFO, &all, &length))
            fail("Multipath TCP does not say what it retransmitted");
    } else
        for (all.paths = 0; (int)all.paths < stream.connections; all.paths++) {
            length = sizeof all.of[0];
            if (getsockopt(stream.sockets[all.paths], IPPROTO_TCP, TCP_INFO, &all.of[all.paths],
                           &length))
                fail("TCP does not say what it retransmitted");
        }
    for (uint32_t i = 0; i < all.paths && i < 8; i++)
        again += all.of[i].tcpi_total_retrans;
    *paths = (int)all.paths;
    return again;
}

/* Ranks 2 and 3: a stream on the second network, until ranks 0 and 1 are at the barrier, too. */
static void keep_busy(unsigned char *bytes) {
    MPI_Request over;
    int is_over = 0, line = connected(NETWORKS - 1);
    check(MPI_Barrier(MPI_COMM_WORLD));
    check(MPI_Ibarrier(MPI_COMM_WORLD, &over));
    stream.began = MPI_Wtime();
    while (my_rank() == 2 && !is_over) {
        moved(send(line, bytes, PIECE, MSG_NOSIGNAL));
        check(MPI_Test(&over, &is_over, MPI_STATUS_IGNORE));
    }
    shutdown(line, SHUT_WR);
    /* MPI takes part in a barrier only while it is called. */
    while (my_rank() == 3 && recv(line, bytes, PIECE, 0) > 0)
        check(MPI_Test(&over, &is_over, MPI_STATUS_IGNORE));
    check(MPI_Wait(&over, MPI_STATUS_IGNORE));
    close(line);
}

static void one_pass(unsigned char *bytes, long pass) {
    memset(stream.arrived, 0, sizeof stream.arrived);
    stream.port = 0;
    if (my_rank() > 1) {
        stream.way = ONE;
        stream.buffer = BESIDE_BUFFER; /* so that it fills no queue so far that packets are lost */
        keep_busy(bytes);
        return;
    }
    for (int i = 0; i < stream.connections; i++)
        stream.sockets[i] = connected(i);
    if (my_rank() == 0)
        fill(bytes, stream.bytes, 0, pass);
    else
        memset(bytes, 0, (size_t)stream.bytes);
    check(MPI_Barrier(MPI_COMM_WORLD));
    stream.began = MPI_Wtime();
    if (my_rank() == 0)
        send_stream(bytes);
    else
        receive_stream(bytes);
    double took = MPI_Wtime() - stream.began;
    MPI_Request over; /* as the stream beside waits for it */
    check(MPI_Ibarrier(MPI_COMM_WORLD, &over));
    check(MPI_Wait(&over, MPI_STATUS_IGNORE));
    if (my_rank() == 1)
        verify(bytes, stream.bytes, 0, pass);
    int paths;
    long again = retransmitted(&paths);
    for (int i = 0; i < stream.connections; i++)
        close(stream.sockets[i]);
    if (my_rank() == 0) {
        begin_line("sample");
        put_text("quantity", all_ranks() > 2 ? "stream_beside_s" : "stream_s");
        put_text("way", WAYS[stream.way]);
        put_count("size_bytes", stream.bytes);
        put_count("repetitions", 1);
        put_number("seconds", took);
        put_count("pass", pass);
        end_line();
        begin_line("sent");
        put_count("pass", pass);
        put_count("retransmitted", again);
        put_count("paths", paths);
        end_line();
        flush_lines();
    }
}

int main(int argc, char **argv) {
    static const char *const KNOWN[] = {"--way",    "--kb",       "--passes",
                                        "--buffer", "--patience", "--longest",
                                        "--beside", "--receiver", NULL};
    start_mpi(&argc, &argv);
    refuse_unknown(argc, argv, KNOWN);
    stream.way = word_argument(argc, argv, "--way", "one", WAYS);
    stream.bytes = 1024 * number_argument(argc, argv, "--kb", 1024, 1, 1 << 20);
    stream.buffer = (int)number_argument(argc, argv, "--buffer", 65536, 4096, 1 << 24);
    stream.patience_s = (int)number_argument(argc, argv, "--patience", 4, 1, 3600);
    stream.longest_s = (int)number_argument(argc, argv, "--longest", 30, 1, 3600);
    long passes = number_argument(argc, argv, "--passes", 3, 1, 400);
    stream.receiver[0] = text_argument(argc, argv, "--receiver", NULL);
    if (stream.receiver[0]) {
        static char addresses[64];
        snprintf(addresses, sizeof addresses, "%s", stream.receiver[0]);
        stream.receiver[0] = strtok(addresses, ",");
        stream.receiver[1] = strtok(NULL, ",");
    }
    stream.connections = stream.way == TURNS ? NETWORKS : 1;
    int ranks = has_argument(argc, argv, "--beside") ? 4 : 2;
    if (all_ranks() != ranks)
        refuse("A stream has a sender and a receiver, and so has one beside it: %d ranks, not %d.",
               ranks, all_ranks());
    unsigned char *bytes = message_buffer(stream.bytes, 1);
    for (long pass = 0; pass < passes; pass++)
        one_pass(bytes, pass);
    if (my_rank() == 0)
        write_end();
    check(MPI_Finalize());
    return 0;
}
