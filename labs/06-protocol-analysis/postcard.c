/* Rank 0 writes a postcard to rank 1, who thanks for it with an empty message.
 *
 *     beowulf run -n 2 postcard.c "Greetings from node00"
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include postcard.c -o postcard
 *     mpiexec -n 2 ./postcard "Greetings from node00"
 *
 * A postcard is not sealed: anyone on its way can read it. Numbers after the text are sizes
 * in bytes: then there is one card of each size, on which the text is repeated until the
 * card is full.
 *
 *     beowulf run -n 2 postcard.c "Greetings from node00" 1024 8192
 *
 * The first card has tag 1, the second tag 2, and so on; the thanks for a card have its tag as
 * well.
 */
#include "measure.h"

enum { WRITER, READER, MOST_CARDS = 1000 };

static void write_text(unsigned char *card, long size, const char *text) {
    size_t length = strlen(text);
    for (long i = 0; i < size; i++)
        card[i] = (unsigned char)text[(size_t)i % length];
}

static void send_card(unsigned char *card, long size, const char *text, int tag) {
    write_text(card, size, text);
    check(MPI_Send(card, (int)size, MPI_BYTE, READER, tag, MPI_COMM_WORLD));
    check(MPI_Recv(NULL, 0, MPI_BYTE, READER, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void receive_card(unsigned char *card, long size, int tag) {
    check(MPI_Recv(card, (int)size, MPI_BYTE, WRITER, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check(MPI_Send(NULL, 0, MPI_BYTE, WRITER, tag, MPI_COMM_WORLD));
    /* "%.*s" prints at most so many letters: a long card is not read out to its end. */
    printf("rank 1 got card %d of %ld bytes: %.*s\n", tag, size, size < 60 ? (int)size : 60,
           (const char *)card);
}

static long size_of(int argc, char **argv, int number) {
    if (number >= argc)
        return (long)strlen(argv[1]);
    const char *text = argv[number];
    long size = parse_number("A card's size", &text, 0, LARGEST_MESSAGE);
    if (*text)
        refuse("A card's size is a whole number, not '%s'.", argv[number]);
    return size;
}

static void run(int argc, char **argv) {
    if (argc < 2 || !*argv[1])
        refuse("What is on the card? postcard.c \"Greetings from node00\"");
    if (all_ranks() != 2)
        refuse("A postcard has a writer and a reader: two ranks, `-n 2`.");
    int cards = argc > 2 ? argc - 2 : 1;
    if (cards > MOST_CARDS)
        refuse("Those are %d cards; at most %d can be sent at once.", cards, MOST_CARDS);

    for (int tag = 1; tag <= cards; tag++) {
        long size = size_of(argc, argv, tag + 1);
        unsigned char *card = message_buffer(size, 1);
        if (my_rank() == WRITER)
            send_card(card, size, argv[1], tag);
        else
            receive_card(card, size, tag);
        free(card);
    }
}

int main(int argc, char **argv) {
    start_mpi(&argc, &argv);
    run(argc, argv);
    check(MPI_Finalize());
    return 0;
}
