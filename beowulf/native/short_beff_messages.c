/* Brief rings: the long messages of b_eff, cut short.
 *
 * hpcc runs all of its tests, whatever is asked for. One of them, b_eff, sends messages of
 * 2,000,000 bytes round many rings: almost two minutes at 100 Mbit/s, the same for a problem of any
 * size. Who wants HPL alone, or a quick look, need not wait for that.
 *
 * Loaded before the MPI library (LD_PRELOAD), this file takes the place of the calls with which
 * b_eff sends and receives. Of a message of 2,000,000 times MPI_BYTE only the first and the last
 * four bytes are passed on, as one element of a data type of our own; every other message stays as
 * it is: no other test of hpcc sends bytes of that number. b_eff looks at the first and the last
 * byte of what it gets, and finds them right. The bandwidth that it prints never was, so
 * beowulf/suites/hpcc.py does not report it.
 *
 * The library is Open MPI, with which Debian's hpcc is linked: a data type is a pointer there, and
 * that of MPI_BYTE is the address of ompi_mpi_byte. Its headers are not needed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { LONG_BYTES = 2000000, END_BYTES = 4 };

typedef void *Handle; /* of a data type, a communicator or a request */

extern char ompi_mpi_byte[] __attribute__((weak));

/* The library's own function of that name. */
static void *own(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "refused: short_beff_messages.so finds no %s to pass a call on to\n", name);
        exit(1);
    }
    return function;
}

/* The first and the last bytes of a long message, as one element. */
static Handle ends(void) {
    static Handle type;
    int lengths[] = {END_BYTES, END_BYTES}, places[] = {0, LONG_BYTES - END_BYTES};
    int (*indexed)(int, const int *, const int *, Handle, Handle *);
    int (*commit)(Handle *);
    if (type)
        return type;
    *(void **)&indexed = own("MPI_Type_indexed");
    *(void **)&commit = own("MPI_Type_commit");
    indexed(2, lengths, places, ompi_mpi_byte, &type);
    commit(&type);
    return type;
}

static void make_brief(int *count, Handle *type) {
    if (*count != LONG_BYTES || *type != (Handle)ompi_mpi_byte)
        return;
    *count = 1;
    *type = ends();
}

int MPI_Send(const void *from, int count, Handle type, int to, int tag, Handle ranks) {
    static int (*send)(const void *, int, Handle, int, int, Handle);
    if (!send)
        *(void **)&send = own("MPI_Send");
    make_brief(&count, &type);
    return send(from, count, type, to, tag, ranks);
}

int MPI_Recv(void *into, int count, Handle type, int from, int tag, Handle ranks, void *status) {
    static int (*receive)(void *, int, Handle, int, int, Handle, void *);
    if (!receive)
        *(void **)&receive = own("MPI_Recv");
    make_brief(&count, &type);
    return receive(into, count, type, from, tag, ranks, status);
}

int MPI_Isend(const void *from, int count, Handle type, int to, int tag, Handle ranks,
              Handle *request) {
    static int (*send)(const void *, int, Handle, int, int, Handle, Handle *);
    if (!send)
        *(void **)&send = own("MPI_Isend");
    make_brief(&count, &type);
    return send(from, count, type, to, tag, ranks, request);
}

int MPI_Irecv(void *into, int count, Handle type, int from, int tag, Handle ranks,
              Handle *request) {
    static int (*receive)(void *, int, Handle, int, int, Handle, Handle *);
    if (!receive)
        *(void **)&receive = own("MPI_Irecv");
    make_brief(&count, &type);
    return receive(into, count, type, from, tag, ranks, request);
}

int MPI_Sendrecv(const void *out, int out_count, Handle out_type, int to, int out_tag, void *in,
                 int in_count, Handle in_type, int from, int in_tag, Handle ranks, void *status) {
    static int (*exchange)(const void *, int, Handle, int, int, void *, int, Handle, int, int,
                           Handle, void *);
    if (!exchange)
        *(void **)&exchange = own("MPI_Sendrecv");
    make_brief(&out_count, &out_type);
    make_brief(&in_count, &in_type);
    return exchange(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag,
                    ranks, status);
}
