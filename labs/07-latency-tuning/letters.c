/* The exercise of lab 07: where do forty milliseconds go?
 *
 *     beowulf run -n 2 letters.c
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include letters.c -o letters
 *     mpiexec -n 2 ./letters
 *
 * A letter is a head of 16 bytes and a body. Rank 0 sends it over TCP; rank 1 reads all of it and
 * answers with one byte. The cable needs some ten microseconds for that. The letter takes a
 * thousand times as long: look for whom the body waits, and for whom that one waits.
 * What measures, and checks each byte, is in letters.h. */
#include "letters.h"

/* Head and body separately. It is right, and nothing of it needs to be changed. */
static void apart(int line, const struct letter *letter) {
    send_all(line, letter->head, HEAD_BYTES);
    send_all(line, letter->body, letter->size);
}

/* Without the wait: yours. Two ways, of which one is enough; try both:
 *
 * TODO, first way:
 *   - tell the kernel that small segments of this connection leave at once: set TCP_NODELAY, of
 *     level IPPROTO_TCP, to 1 (measure/socket_pair.h has such a call)
 *   - send head and body as before
 *
 * TODO, second way:
 *   - give the kernel head and body in one call. Copy them into one place, and send that; or put
 *     both places into a `struct iovec`, and call writev. */
static void mine(int line, const struct letter *letter) {
    apart(line, letter); /* in place of this line */
}

int main(int argc, char **argv) { return measure_letters(argc, argv, apart, mine); }
