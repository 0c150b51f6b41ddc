/* Every rank says which number it has, how many ranks there are, and on which node it runs.
 *
 *     mpicc hello.c -o hello && mpiexec -n 4 ./hello
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

/* Every MPI call answers with a code. Here, and only here, it is looked at: a run that goes wrong
 * says so and ends. */
static void check(int code) {
    if (code == MPI_SUCCESS)
        return;
    char reason[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, reason, &length);
    fprintf(stderr, "MPI failed: %s\n", reason);
    sleep(1); /* mpiexec needs a moment to pass it on, before it ends all ranks */
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void say_hello(void) {
    int rank, ranks, length;
    char host[MPI_MAX_PROCESSOR_NAME];

    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank));  /* my number, counted from 0 */
    check(MPI_Comm_size(MPI_COMM_WORLD, &ranks)); /* how many we are */
    check(MPI_Get_processor_name(host, &length)); /* the node that I run on */

    printf("rank %d of %d on %s\n", rank, ranks, host);
    fflush(stdout);
}

int main(int argc, char **argv) {
    check(MPI_Init(&argc, &argv));
    /* MPI would end the program by itself at the first error; we want the code, so that check() can
     * explain it. */
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    say_hello();
    check(MPI_Finalize());
    return 0;
}
