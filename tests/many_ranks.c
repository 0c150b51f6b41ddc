/* Loaded before MPI: a program that is alone takes itself for one of as many ranks as RANKS says.
 */
#include <mpi.h>
#include <stdlib.h>

int MPI_Comm_size(MPI_Comm comm, int *size) {
    (void)comm;
    *size = atoi(getenv("RANKS"));
    return MPI_SUCCESS;
}
