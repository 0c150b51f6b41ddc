/* A conversation in which every message is known, so that it can be found again on the wire.
 *
 *     beowulf run -n 4 conversation.c --bytes 2
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include conversation.c -o conversation
 *     mpiexec -n 4 ./conversation --bytes 2
 *
 * The first half of the ranks each have a partner in the second half: rank r and rank r + np/2. All
 * pairs play ping-pong at once. An exchange is one message there and one back.
 *
 * --protocol   blocking (MPI_Send, MPI_Recv), nonblocking (MPI_Isend, MPI_Irecv, MPI_Waitall) or
 *              buffered (MPI_Bsend, which copies the message into a buffer and returns; MPI_Recv)
 * --bytes      of each message
 * --overlap-bytes  bytes of its own on which each rank works, once an exchange. With nonblocking it
 *              does so while its message travels; with blocking it can only do so after the calls.
 * --exchanges  how many, each with two messages of a pair
 * --chunks     the exchanges are timed in so many parts
 * --tag        of these messages. What is not timed has the next tag: the first messages, and one
 *              exchange before each chunk that brings the partners into step.
 *
 * Between the first and the last of these messages there is no other: no barrier, no collective
 * call. At the end each rank tells how many messages it sent, of how many bytes, with which tag.
 */
#include "measure.h"

enum protocol { BLOCKING, NONBLOCKING, BUFFERED };
static const char *const PROTOCOLS[] = {"blocking", "nonblocking", "buffered", NULL};
static const char *const KNOWN[] = {
    "--protocol", "--bytes", "--overlap-bytes", "--exchanges", "--chunks", "--tag", NULL};

enum { TIMED, UNTIMED };  /* the two kinds of messages, and what is added to their tag */
enum { MOST_COPIES = 4 }; /* of messages that MPI_Bsend has copied and not yet sent */
enum { WARM_UP = 10, MOST_CHUNKS = 10000, MOST_RANKS = 1024 };
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

/* What this rank does, and what it did. */
static enum protocol protocol;
static int partner; /* none for the last of an odd number of ranks: it looks on */
static int first;   /* it begins each exchange, and its time counts */
static int size;
static long overlap_bytes;
static unsigned char *outgoing, *incoming, *own;
static int base_tag;
static long sent[2]; /* by kind, counted at each exchange */

/* ---- The exchange: what is measured, and what is on the wire ---- */

static void send_message(int tag) {
    if (protocol == BUFFERED)
        check(MPI_Bsend(outgoing, size, MPI_BYTE, partner, tag, WORLD));
    else
        check(MPI_Send(outgoing, size, MPI_BYTE, partner, tag, WORLD));
}

static void blocking_exchange(int tag) {
    if (first)
        send_message(tag);
    check(MPI_Recv(incoming, size, MPI_BYTE, partner, tag, WORLD, IGNORE));
    if (!first)
        send_message(tag);
    work_on_bytes(own, overlap_bytes);
}

static void nonblocking_exchange(int tag) {
    MPI_Request requests[2];
    check(MPI_Irecv(incoming, size, MPI_BYTE, partner, tag, WORLD, &requests[0]));
    if (!first) /* who answers has to have the question first */
        check(MPI_Wait(&requests[0], IGNORE));
    check(MPI_Isend(outgoing, size, MPI_BYTE, partner, tag, WORLD, &requests[1]));
    work_on_bytes(own, overlap_bytes);
    check(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

static void exchange(int kind, long count) {
    for (long i = 0; i < count; i++) {
        (protocol == NONBLOCKING ? nonblocking_exchange : blocking_exchange)(base_tag + kind);
        sent[kind]++;
    }
}

/* ---- The conversation ---- */

/* Seconds of so many exchanges. Each chunk has data of its own, which are verified afterwards. The
 * untimed exchange waits for a partner that still verifies what came before. */
static double timed_chunk(long number, long exchanges) {
    fill(outgoing, size, my_rank(), number);
    if (size)
        incoming[0] = incoming[size - 1] = 0;
    exchange(UNTIMED, 1);
    double began = MPI_Wtime();
    exchange(TIMED, exchanges);
    double seconds = MPI_Wtime() - began;
    verify(incoming, size, partner, number);
    return seconds;
}

/* The exchanges of chunk `number`, when so many are spread evenly over all chunks. */
static long part(long exchanges, long chunks, long number) {
    return exchanges * (number + 1) / chunks - exchanges * number / chunks;
}

/* The first message of a pair also sets up its connection, and is timed by itself. */
static double converse(long exchanges, long chunks, double *seconds) {
    fill(outgoing, size, my_rank(), chunks);
    double began = MPI_Wtime();
    exchange(UNTIMED, 1);
    double first_s = MPI_Wtime() - began;
    exchange(UNTIMED, WARM_UP);
    for (long c = 0; c < chunks; c++)
        seconds[c] = timed_chunk(c, part(exchanges, chunks, c));
    return first_s;
}

/* ---- What it tells ---- */

static void write_first(double first_s) {
    double all[MOST_RANKS];
    check(MPI_Gather(&first_s, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, WORLD));
    for (int rank = 0; my_rank() == 0 && rank < all_ranks() / 2; rank++) {
        begin_line("first");
        put_count("rank", rank);
        put_number("seconds", all[rank]);
        end_line();
    }
}

/* A chunk lasts as long as that of the slowest pair. */
static void write_samples(double *seconds, long chunks, long exchanges) {
    static double longest[MOST_CHUNKS];
    check(MPI_Reduce(seconds, longest, (int)chunks, MPI_DOUBLE, MPI_MAX, 0, WORLD));
    for (long c = 0; my_rank() == 0 && c < chunks; c++) {
        begin_line("sample");
        put_text("quantity", "half_round_trip_us");
        put_text("protocol", PROTOCOLS[protocol]);
        put_count("message_bytes", size);
        put_count("overlap_bytes", overlap_bytes);
        put_count("repetitions", part(exchanges, chunks, c));
        put_number("seconds", longest[c]);
        end_line();
    }
}

static void write_sent(int kind) {
    long all[MOST_RANKS];
    check(MPI_Gather(&sent[kind], 1, MPI_LONG, all, 1, MPI_LONG, 0, WORLD));
    for (int rank = 0; my_rank() == 0 && rank < all_ranks(); rank++) {
        begin_line("sent");
        put_count("rank", rank);
        put_count("tag", base_tag + kind);
        put_count("messages", all[rank]);
        put_count("bytes", all[rank] * size);
        end_line();
    }
}

static void run(int argc, char **argv) {
    static double seconds[MOST_CHUNKS];

    refuse_unknown(argc, argv, KNOWN);
    protocol = (enum protocol)word_argument(argc, argv, "--protocol", "blocking", PROTOCOLS);
    size = (int)number_argument(argc, argv, "--bytes", 2, 0, LARGEST_MESSAGE);
    overlap_bytes = number_argument(argc, argv, "--overlap-bytes", 0, 0, LARGEST_MESSAGE);
    long exchanges = number_argument(argc, argv, "--exchanges", 300, 1, 10000000);
    long chunks =
        number_argument(argc, argv, "--chunks", exchanges < 30 ? exchanges : 30, 1, MOST_CHUNKS);
    base_tag = (int)number_argument(argc, argv, "--tag", 6, 0, 32766);
    if (all_ranks() < 2 || all_ranks() > MOST_RANKS)
        refuse("This program runs on 2 to %d ranks: mpiexec -n 4.", MOST_RANKS);
    if (chunks > exchanges)
        refuse("%ld exchanges cannot be timed in %ld chunks.", exchanges, chunks);

    int rank = my_rank(), half = all_ranks() / 2, plays = rank < 2 * half;
    partner = (rank + half) % (2 * half);
    first = rank < half;
    outgoing = message_buffer(size, 2);
    incoming = message_buffer(size, 2);
    own = message_buffer(overlap_bytes, 1);
    long copies_bytes = MOST_COPIES * ((long)size + MPI_BSEND_OVERHEAD);
    void *copies = protocol == BUFFERED ? message_buffer(copies_bytes, 1) : NULL;
    if (copies)
        check(MPI_Buffer_attach(copies, (int)copies_bytes));

    keep_lines_back();
    double resolution_s = clock_resolution();
    begin_about("conversation", resolution_s, chunks);
    if (rank == 0) {
        put_text("time", "half round trip, slowest pair");
        put_count("exchanges", exchanges);
        put_count("tag", base_tag);
        put_count("untimed_tag", base_tag + UNTIMED);
        end_line();
    }
    check(MPI_Barrier(WORLD));

    double first_s = plays ? converse(exchanges, chunks, seconds) : 0.0;

    write_first(first_s);
    write_samples(seconds, chunks, exchanges);
    write_sent(TIMED);
    write_sent(UNTIMED);
    if (copies) /* waits until the last copy is on its way */
        check(MPI_Buffer_detach(&copies, &(int){0}));
    if (rank == 0)
        write_end();
}

int main(int argc, char **argv) {
    start_mpi(&argc, &argv);
    run(argc, argv);
    check(MPI_Finalize());
    return 0;
}
