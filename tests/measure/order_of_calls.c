/* roundtrip.c that also writes into the file order-RANK what each rank does, in its order: a call of
 * MPI with its partner, the work of mpptest, or the length of other work. */
#include "measure.h"

static char order[1 << 24] = "";

static int note(const char *what, int partner) {
    static size_t used = 0;
    used += strlen(order + used);
    if (partner < 0)
        snprintf(order + used, sizeof order - used, "%s\n", what);
    else
        snprintf(order + used, sizeof order - used, "%s %d\n", what, partner);
    return 0;
}

static void write_order(void) {
    char name[40];
    snprintf(name, sizeof name, "order-%d", my_rank());
    FILE *file = fopen(name, "w");
    if (!file || fputs(order, file) < 0 || fclose(file))
        give_up(1);
}

/* The name of a macro inside itself is the function. */
#define MPI_Send(a, n, type, to, ...) (note("Send", to), MPI_Send(a, n, type, to, __VA_ARGS__))
#define MPI_Ssend(a, n, type, to, ...) (note("Ssend", to), MPI_Ssend(a, n, type, to, __VA_ARGS__))
#define MPI_Sendrecv(a, n, type, to, ...)                                                          \
    (note("Sendrecv", to), MPI_Sendrecv(a, n, type, to, __VA_ARGS__))
#define MPI_Recv(a, n, type, from, ...)                                                            \
    (note("Recv", from), MPI_Recv(a, n, type, from, __VA_ARGS__))
#define MPI_Isend(a, n, type, to, ...) (note("Isend", to), MPI_Isend(a, n, type, to, __VA_ARGS__))
#define MPI_Irecv(a, n, type, from, ...)                                                           \
    (note("Irecv", from), MPI_Irecv(a, n, type, from, __VA_ARGS__))
#define MPI_Start(...) (note("Start", -1), MPI_Start(__VA_ARGS__))
#define MPI_Startall(...) (note("Startall", -1), MPI_Startall(__VA_ARGS__))
#define MPI_Wait(...) (note("Wait", -1), MPI_Wait(__VA_ARGS__))
#define MPI_Waitall(...) (note("Waitall", -1), MPI_Waitall(__VA_ARGS__))
#define MPI_Barrier(...) (note("Barrier", -1), MPI_Barrier(__VA_ARGS__))
#define MPI_Finalize() (write_order(), MPI_Finalize())
#define compute_us(us, ...) (note("us", (int)(us)), compute_us(us, __VA_ARGS__))
#define work_on_bytes(a, n) (note("bytes", (int)(n)), work_on_bytes(a, n))
#define work_on_products(...) (note("work", -1), work_on_products(__VA_ARGS__))

#include "../../labs/04-blocking-nonblocking/roundtrip.c"
