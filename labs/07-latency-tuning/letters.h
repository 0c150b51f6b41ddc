/* What measures the letters of letters.c, and finds out when one goes wrong. This file need not be
 * changed.
 *
 * Each of the two ways of sending has a connection of its own from rank 0 to rank 1, as the kernel
 * makes one: with Nagle's algorithm. They are measured in turns. */
#ifndef LETTERS_H
#define LETTERS_H

#include "measure.h"
#include "measure/socket_pair.h"

#include <poll.h>
#include <sys/uio.h>

enum { HEAD_BYTES = 16, MOST_BYTES = 1400, MOST_PASSES = 1000, WARM_UPS = 10 };
/* Rank 1 is the first to lose its patience, because it can say what is missing. */
enum { PATIENCE_MS = 8000, MORE_PATIENCE_MS = 16000 };
enum { GIVEN, YOURS, WAYS };
static const char *const WAY_NAMES[] = {"given", "yours"};

/* A letter: a head of HEAD_BYTES, and a body of `size` bytes, which lie in different places. */
struct letter {
    unsigned char *head, *body;
    long size;
};

/* Send a letter on its way, the bytes of the head before those of the body. */
typedef void (*way)(int line, const struct letter *letter);

static inline void spoilt(const char *way, const char *why) {
    fprintf(stderr, "wrong: %s: %s\n", way, why);
    give_up(3);
}

/* Bytes that come within a while, which is long for a letter; else the letter is spoilt. */
static inline void expect(int line, void *into, long size, const char *way, const char *lacking) {
    int patience_ms = my_rank() == 1 ? PATIENCE_MS : MORE_PATIENCE_MS;
    for (char *next = into; size > 0;) {
        struct pollfd look = {.fd = line, .events = POLLIN};
        if (must(poll(&look, 1, patience_ms), "poll") == 0)
            spoilt(way, lacking);
        long got = must((int)recv(line, next, (size_t)size, 0), "recv");
        if (got == 0)
            spoilt(way, "the connection was closed.");
        next += got;
        size -= got;
    }
}

/* Rank 0: from the first byte of a letter to the answer, in seconds. */
static inline double send_letter(int line, way send_it, const struct letter *letter,
                                 const char *name) {
    char answer;
    double began = MPI_Wtime();
    send_it(line, letter);
    expect(line, &answer, 1, name, "no answer came: rank 1 has not got the whole letter.");
    return MPI_Wtime() - began;
}

/* Rank 1: read a whole letter, answer with one byte, and verify what was read. */
static inline void answer_letter(int line, struct letter *letter, const char *name, long number) {
    expect(line, letter->head, HEAD_BYTES, name, "no head came.");
    expect(line, letter->body, letter->size, name, "a body is not whole.");
    send_all(line, "!", 1);
    verify(letter->head, HEAD_BYTES, 0, 2 * number);
    verify(letter->body, letter->size, 0, 2 * number + 1);
}

/* One letter on its way and answered; rank 0's seconds. */
static inline double one_letter(int line, way send_it, struct letter *letter, const char *name) {
    static long number;
    number++;
    if (my_rank() == 1) {
        answer_letter(line, letter, name, number);
        return 0.0;
    }
    fill(letter->head, HEAD_BYTES, 0, 2 * number);
    fill(letter->body, letter->size, 0, 2 * number + 1);
    return send_letter(line, send_it, letter, name);
}

/* A connection between the ranks, as the kernel makes one: small segments wait (Nagle). */
static inline int plain_connection(void) {
    char address[64] = "";
    int port = 0, listening = -1, no = 0;
    if (my_rank() == 1) {
        listening = listen_anywhere(&port);
        my_address(address, sizeof address);
    }
    check(MPI_Bcast(&port, 1, MPI_INT, 1, MPI_COMM_WORLD));
    check(MPI_Bcast(address, sizeof address, MPI_CHAR, 1, MPI_COMM_WORLD));
    int line = my_rank() == 1 ? accept_one(listening) : connect_to(address, port);
    must(setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &no, sizeof no), "setsockopt");
    return line;
}

static inline int compare_times(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static inline double median_ms(double *times, long count) {
    qsort(times, (size_t)count, sizeof(double), compare_times);
    return (times[(count - 1) / 2] + times[count / 2]) / 2 * 1e3;
}

/* For people: the median of each way. */
static inline void report(double times[WAYS][MOST_PASSES], long passes, long size) {
    double given = median_ms(times[GIVEN], passes), yours = median_ms(times[YOURS], passes);
    printf("a head of %d bytes, a body of %ld, %ld letters each way, medians\n", HEAD_BYTES, size,
           passes);
    printf("  head and body separate %9.3f ms until the answer\n", given);
    printf("  yours                  %9.3f ms, %.1f times as fast\n", yours, given / yours);
}

static inline void write_letter(const char *way, long pass, long size, double seconds) {
    begin_line("sample");
    put_text("quantity", "letter_ms");
    put_text("way", way);
    put_count("body_bytes", size);
    put_count("pass", pass);
    put_count("repetitions", 1);
    put_number("seconds", seconds);
    end_line();
}

/* --bytes 100: of the body. --passes 20: letters each way. --lines: samples instead of a report */
static inline int measure_letters(int argc, char **argv, way given, way yours) {
    static const char *const KNOWN[] = {"--bytes", "--passes", "--lines", NULL};
    static double times[WAYS][MOST_PASSES];
    const way ways[WAYS] = {given, yours};

    start_mpi(&argc, &argv);
    refuse_unknown(argc, argv, KNOWN);
    if (all_ranks() != 2)
        refuse("A letter goes from one rank to another: `-n 2`.");
    int me = my_rank(), lines = has_argument(argc, argv, "--lines");
    long passes = number_argument(argc, argv, "--passes", 20, 1, MOST_PASSES);
    long size = number_argument(argc, argv, "--bytes", 100, 1, MOST_BYTES);
    struct letter letter = {message_buffer(HEAD_BYTES, 2), message_buffer(size, 2), size};
    int connections[WAYS] = {plain_connection(), plain_connection()};

    keep_lines_back();
    if (lines) {
        begin_about("letters", clock_resolution(), passes * WAYS);
        if (me == 0) {
            put_text("time", "from the first byte sent to the answer");
            end_line();
        }
    }
    for (long pass = -WARM_UPS; pass < passes; pass++) {
        int order[WAYS];
        shuffle(order, WAYS, 1, pass + WARM_UPS);
        for (int i = 0; i < WAYS; i++) {
            int way = order[i];
            double seconds = one_letter(connections[way], ways[way], &letter, WAY_NAMES[way]);
            if (pass < 0)
                continue;
            times[way][pass] = seconds;
            if (me == 0 && lines)
                write_letter(WAY_NAMES[way], pass, size, seconds);
        }
    }
    if (me == 0 && lines)
        write_end();
    else if (me == 0)
        report(times, passes, size);
    check(MPI_Finalize());
    return 0;
}

#endif
