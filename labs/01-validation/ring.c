/* A token goes round all ranks once. It is a sheet of paper: each rank that gets it adds a line and
 * passes it on, and rank 0 reads the sheet out when it comes home.
 *
 *     mpicc ring.c -o ring && mpiexec -n 4 ./ring
 *
 * Why are the lines on the token and not printed at once? Each node sends what its ranks print to
 * mpiexec on a connection of its own, and nothing orders these connections. The token passes one
 * rank after the other.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_SHEET = 64 * 1024, TOKEN = 1 };

/* End all ranks; mpiexec needs a moment before, to pass on the messages. */
static void give_up(void) {
    sleep(1);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Every MPI call answers with a code. Here, and only here, it is looked at: a run that goes wrong
 * says so and ends. */
static void check(int code) {
    if (code == MPI_SUCCESS)
        return;
    char reason[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, reason, &length);
    fprintf(stderr, "MPI failed: %s\n", reason);
    give_up();
}

static int lines(const char *sheet) {
    int count = 0;
    for (; *sheet; sheet++)
        count += *sheet == '\n';
    return count;
}

static void send_to(int rank, const char *sheet) {
    int length = (int)strlen(sheet) + 1; /* the 0 that ends a text in C travels too */
    check(MPI_Send(sheet, length, MPI_CHAR, rank, TOKEN, MPI_COMM_WORLD));
}

static void receive_from(int rank, char *sheet) {
    check(MPI_Recv(sheet, LONGEST_SHEET, MPI_CHAR, rank, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void sign(char *sheet, int me, int previous) {
    char host[MPI_MAX_PROCESSOR_NAME];
    int length;
    check(MPI_Get_processor_name(host, &length));

    size_t used = strlen(sheet);
    size_t left = LONGEST_SHEET - used;
    int written =
        snprintf(sheet + used, left, "rank %d on %s got the token from rank %d, hops %d\n", me,
                 host, previous, lines(sheet) + 1); /* a line a hop */
    if (written < 0 || (size_t)written >= left) {
        fprintf(stderr, "The token is full after %d hops; start fewer ranks.\n", lines(sheet));
        give_up();
    }
}

static void pass_the_token(int me, int ranks) {
    static char sheet[LONGEST_SHEET]; /* empty at first */
    int next = (me + 1) % ranks;
    int previous = (me + ranks - 1) % ranks;

    if (me == 0) {
        send_to(next, sheet);
        receive_from(previous, sheet);
        sign(sheet, me, previous);
        printf("%sthe token came home after %d hops\n", sheet, lines(sheet));
        fflush(stdout);
    } else {
        receive_from(previous, sheet); /* waits until it comes */
        sign(sheet, me, previous);
        send_to(next, sheet);
    }
}

int main(int argc, char **argv) {
    int me, ranks;
    check(MPI_Init(&argc, &argv));
    /* MPI would end the program by itself at the first error; we want the code, so that check() can
     * explain it. */
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    check(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    check(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    if (ranks >= 2)
        pass_the_token(me, ranks);
    else
        fprintf(stderr, "A ring needs two ranks or more: mpiexec -n 4 ./ring\n");
    check(MPI_Finalize());
    return ranks >= 2 ? 0 : 1;
}
