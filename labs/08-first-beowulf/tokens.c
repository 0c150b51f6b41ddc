/* Tokens that go to and fro between pairs of ranks, as paper C sends them over its two Ethernets.
 *
 *     beowulf run -n 4 tokens.c --demand 1,2 --sizes 64,1024,8192
 *     beowulf run -n 2 tokens.c --way sockets --networks 2      (beowulf up --nodes 16 --networks 2 --rate 10mbit)
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include tokens.c -o tokens
 *     mpiexec -n 4 ./tokens --demand 1,2
 *
 * Ranks 0 and 1 are the first pair, 2 and 3 the second. A demand of 2 means that two pairs play at the same time. What
 * is counted: the tokens that arrive at either end within --ms, of all pairs together.
 *
 * --way mpi: by MPI_Send and MPI_Recv, on the first network. --way sockets: by connections of TCP, one on each of
 * --networks networks; the pieces of a token, as long as a frame carries, take the networks in turn, and each token begins
 * with the first one. (The kernel of the first Beowulf went on with the next frame of whatever token.)
 *
 * --passes: how often all is measured. --barrier: how long a barrier of all ranks takes, in place of tokens. --lines:
 * results as lines of JSON, for the studies. */
#include "cards.h"

enum { TAG = 8, MOST_SIZES = 32, MOST_DEMANDS = 16, WARM_UPS = 3, PATIENCE_S = 20 };
static const char *const WAYS[] = {"mpi", "sockets", NULL};

static int as_lines;

/* One end of a pair: its partner, and a connection on each network. */
static struct {
    int partner, networks;
    int sockets[NETWORKS];
} end;

/* The odd rank of a pair listens on its address, the even one connects. */
static int connected(int network) {
    struct sockaddr_in address = card_address(network);
    socklen_t length = sizeof address;
    int on = 1, made = socket(AF_INET, SOCK_STREAM, 0);
    if (made < 0)
        fail("There is no socket");
    if (my_rank() % 2) {
        address.sin_port = 0;
        if (bind(made, (struct sockaddr *)&address, length) || listen(made, 1) ||
            getsockname(made, (struct sockaddr *)&address, &length))
            fail("A socket cannot listen");
        check(MPI_Send(&address, sizeof address, MPI_BYTE, end.partner, TAG, MPI_COMM_WORLD));
        int taken = accept(made, NULL, NULL);
        close(made);
        made = taken;
    } else {
        check(MPI_Recv(&address, sizeof address, MPI_BYTE, end.partner, TAG, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
        if (connect(made, (struct sockaddr *)&address, length))
            fail("The partner cannot be reached");
    }
    if (made < 0 || setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on))
        fail("A connection cannot be made");
    set_patience(made, PATIENCE_S);
    return made;
}

/* How many bytes of a piece a call has moved; a sentence where there are none. */
static int moved(ssize_t now) {
    if (now < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        fprintf(stderr,
                "Nothing has moved between ranks %d and %d for %d s. Is a network pulled?\n",
                my_rank(), end.partner, PATIENCE_S);
        give_up(1);
    }
    if (now <= 0)
        fail("A connection has broken");
    return (int)now;
}

static void send_pieces(const unsigned char *token, int size) {
    for (int at = 0, number = 0; at < size; number++) {
        int length = size - at < PIECE ? size - at : PIECE;
        int line = end.sockets[number % end.networks];
        for (int sent = 0; sent < length;)
            sent += moved(send(line, token + at + sent, (size_t)(length - sent), MSG_NOSIGNAL));
        at += length;
    }
}

static void receive_pieces(unsigned char *token, int size) {
    for (int at = 0, number = 0; at < size; number++) {
        int length = size - at < PIECE ? size - at : PIECE;
        int line = end.sockets[number % end.networks];
        for (int got = 0; got < length;)
            got += moved(recv(line, token + at + got, (size_t)(length - got), 0));
        at += length;
    }
}

static void send_token(int way, unsigned char *token, int size) {
    if (way == 1)
        send_pieces(token, size);
    else
        check(MPI_Send(token, size, MPI_BYTE, end.partner, TAG, MPI_COMM_WORLD));
}

static void receive_token(int way, unsigned char *token, int size) {
    if (way == 1)
        receive_pieces(token, size);
    else
        check(MPI_Recv(token, size, MPI_BYTE, end.partner, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Play for so many seconds; the tokens that have arrived at this end. The first byte of a token says whether it is the
 * last one. */
static long play(int way, unsigned char *token, int size, double seconds) {
    long arrived = 0;
    double until = MPI_Wtime() + seconds;
    token[0] = 0;
    if (my_rank() % 2 == 0)
        do {
            token[0] = MPI_Wtime() >= until;
            send_token(way, token, size);
            receive_token(way, token, size);
            arrived++;
        } while (!token[0]);
    else
        do {
            receive_token(way, token, size);
            arrived++;
            send_token(way, token, size);
        } while (!token[0]);
    return arrived;
}

static void write_sample(const char *quantity, double seconds, long repetitions, long pass) {
    begin_line("sample");
    put_text("quantity", quantity);
    put_count("repetitions", repetitions);
    put_number("seconds", seconds);
    put_count("pass", pass);
}

static void tokens(int way, long size, int demand, double seconds, unsigned char *token,
                   long pass) {
    int plays = my_rank() < 2 * demand;
    long mine = 0, all;
    if (plays)
        for (int i = 0; i < WARM_UPS; i++)
            play(way, token, (int)size, 0.0);
    check(MPI_Barrier(MPI_COMM_WORLD));
    double began = MPI_Wtime();
    if (plays)
        mine = play(way, token, (int)size, seconds);
    double took = slowest(plays ? MPI_Wtime() - began : 0.0);
    check(MPI_Reduce(&mine, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
    if (my_rank() == 0 && !as_lines)
        printf("%d pair%s, tokens of %ld bytes: %.3f MB/s, %.0f tokens a second\n", demand,
               demand > 1 ? "s" : "", size, 1e-6 * (double)(all * size) / took, (double)all / took);
    else if (my_rank() == 0) {
        write_sample("token_s", took, all, pass);
        put_count("size_bytes", size);
        put_count("demand", demand);
        put_count("networks", end.networks);
        put_text("way", WAYS[way]);
        end_line();
    }
}

static void barriers(double seconds, long pass) {
    long count = 0;
    check(MPI_Barrier(MPI_COMM_WORLD));
    double began = MPI_Wtime(), took = 0.0;
    while (took < seconds) {
        for (int i = 0; i < 10; i++, count++)
            check(MPI_Barrier(MPI_COMM_WORLD));
        took = slowest(MPI_Wtime() - began);
    }
    if (my_rank() == 0 && !as_lines)
        printf("a barrier of %d ranks: %.1f us\n", all_ranks(), 1e6 * took / (double)count);
    else if (my_rank() == 0) {
        write_sample("barrier_s", took, count, pass);
        end_line();
    }
}

int main(int argc, char **argv) {
    static const char *const KNOWN[] = {"--sizes",  "--demand",  "--networks", "--way", "--ms",
                                        "--passes", "--barrier", "--lines",    NULL};
    long sizes[MOST_SIZES], demands[MOST_DEMANDS];
    start_mpi(&argc, &argv);
    refuse_unknown(argc, argv, KNOWN);
    as_lines = has_argument(argc, argv, "--lines");
    int count =
        list_argument(argc, argv, "--sizes", "4,64,1024,8192", 1, 1 << 24, sizes, MOST_SIZES);
    int several = list_argument(argc, argv, "--demand", "1", 1, 1000, demands, MOST_DEMANDS);
    int way = word_argument(argc, argv, "--way", "mpi", WAYS);
    end.networks = (int)number_argument(argc, argv, "--networks", 1, 1, NETWORKS);
    double seconds = 1e-3 * (double)number_argument(argc, argv, "--ms", 200, 1, 60000);
    long passes = number_argument(argc, argv, "--passes", 1, 1, 1000);
    if (has_argument(argc, argv, "--barrier")) {
        for (long pass = 0; pass < passes; pass++)
            barriers(seconds, pass);
    } else {
        if (all_ranks() % 2)
            refuse("Tokens go between pairs of ranks: an even number of ranks, not %d.",
                   all_ranks());
        for (int i = 0; i < several; i++)
            if (2 * demands[i] > all_ranks())
                refuse("A demand of %ld needs %ld ranks, not %d.", demands[i], 2 * demands[i],
                       all_ranks());
        if (way == 0 && end.networks > 1)
            refuse("MPI uses one network: --way sockets uses both.");
        long most = sizes[0];
        for (int i = 1; i < count; i++)
            most = sizes[i] > most ? sizes[i] : most;
        unsigned char *token = message_buffer(most, 1);
        end.partner = my_rank() ^ 1;
        for (int network = 0; way == 1 && network < end.networks; network++)
            end.sockets[network] = connected(network);
        for (long pass = 0; pass < passes; pass++)
            for (int i = 0; i < several; i++)
                for (int j = 0; j < count; j++)
                    tokens(way, sizes[j], (int)demands[i], seconds, token, pass);
        for (int network = 0; way == 1 && network < end.networks; network++)
            close(end.sockets[network]);
    }
    if (my_rank() == 0 && as_lines)
        write_end();
    check(MPI_Finalize());
    return 0;
}
