/* Lab 05: a step of the heated plate that computes while its ghost rows travel, in C. What measures
 * it, and checks each number, is in run_heat.h; `struct plate` is explained there. */
#include "run_heat.h"

/* Without overlap. It is right, and nothing of it needs to be changed. */
static void one_after_the_other(struct plate *plate) {
    int columns = plate->columns, rows = plate->rows;
    MPI_Request requests[4];
    check(MPI_Irecv(row_of(plate, 0), columns, MPI_DOUBLE, plate->above, TAG, MPI_COMM_WORLD,
                    &requests[0]));
    check(MPI_Irecv(row_of(plate, rows + 1), columns, MPI_DOUBLE, plate->below, TAG, MPI_COMM_WORLD,
                    &requests[1]));
    check(MPI_Isend(row_of(plate, 1), columns, MPI_DOUBLE, plate->above, TAG, MPI_COMM_WORLD,
                    &requests[2]));
    check(MPI_Isend(row_of(plate, rows), columns, MPI_DOUBLE, plate->below, TAG, MPI_COMM_WORLD,
                    &requests[3]));
    check(MPI_Waitall(4, requests, MPI_STATUSES_IGNORE));
    step_rows(plate, 1, rows); /* rows 1 to `rows`, both among them */
}

/* With overlap: yours. Compute what needs no ghost row while the ghost rows travel, and the border
 * rows when they have arrived. A part may have one or two rows only. */
static void overlapped(struct plate *plate) {
    one_after_the_other(plate); /* in place of this line */
}

int main(int argc, char **argv) {
    return measure_overlap(argc, argv, one_after_the_other, overlapped);
}
