/* What every measuring program of these labs shares. Each part is a small file that can be read by
 * itself; docs/measuring.md says why things are done this way. A program without MPI includes
 * measure/no_mpi.h instead, and then the parts that name no MPI. */
#ifndef MEASURE_H
#define MEASURE_H

#include "measure/check.h" /* every MPI call answers with a code; it comes first */

#include "measure/arguments.h" /* --name value, and a sentence for what cannot be used */
#include "measure/buffers.h"   /* memory for messages, filled and verified */
#include "measure/chunks.h"    /* repetitions, shuffled order */
#include "measure/clock.h"     /* the clock, and the slowest rank */
#include "measure/hosts.h"     /* what is measured, and where */
#include "measure/lines.h"     /* one JSON object a line on rank 0's stdout */
#include "measure/work.h"      /* computing that cannot be optimised away */

#endif
