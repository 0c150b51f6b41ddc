/* What SimGrid 3.32 lacks of MPI: it ends a program that marks a part of itself. Included in each program that is
 * simulated. */
#include <mpi.h>
static inline int simulated_mark(int level, ...) { return level & 0; }
#define MPI_Pcontrol simulated_mark
