/* The exercise of lab 03 in C: how long are the messages of MG?
 *
 *     beowulf run -n 4 sizes.c S
 *
 * or by hand, in the shell of a node (`beowulf ssh node00`):
 *
 *     mpicc -O2 -I ../include sizes.c -o sizes -lm
 *     mpiexec -n 4 ./sizes S
 *
 * This is the whole benchmark, npb/mg.c, with two functions between it and MPI, as in profile.c.
 * Every function of MPI has two names. MG now calls the MPI_Send below, which calls the library's
 * function by its other name, PMPI_Send. */
#include "npb/mg.c"

/* The room for a message in one packet: 1448 bytes, less the 80 of MPICH's header. */
enum { ONE_PACKET = 1368 };

/* Of this rank: messages that fit into one packet, those that do not, and the bytes of all. */
static struct {
    double one_packet, several_packets, bytes;
} sent;

/* TODO: count in `sent` the messages of this rank that fit into ONE_PACKET bytes (exactly as many
 * bytes fit), those that do not, and the bytes of all. MPI_Type_size says how long an element of
 * `type` is. Pass the message on unchanged. */
int MPI_Send(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    return PMPI_Send(data, count, type, to, tag, comm);
}

/* At the end, the sums over all ranks. You need not change this. */
int MPI_Finalize(void) {
    double mine[] = {sent.one_packet, sent.several_packets, sent.bytes}, all[3];
    PMPI_Reduce(mine, all, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (my_rank() == 0)
        printf("{\"kind\": \"sizes\", \"one_packet\": %.0f, \"several_packets\": %.0f, "
               "\"bytes\": %.0f}\n",
               all[0], all[1], all[2]);
    fflush(stdout);
    return PMPI_Finalize();
}
