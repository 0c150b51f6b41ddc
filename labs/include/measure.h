/* What every measuring program of these labs shares. Each part is a small file that can be read by
 * itself; docs/measuring.md says why things are done this way. */
#ifndef MEASURE_H
#define MEASURE_H

#include "measure/arguments.h" /* --name value, and a sentence for what cannot be used */
#include "measure/buffers.h"   /* memory for messages, filled and verified */
#include "measure/check.h"     /* every MPI call answers with a code */
#include "measure/chunks.h"    /* the clock, repetitions, shuffled order */
#include "measure/lines.h"     /* one JSON object a line on rank 0's stdout */
#include "measure/work.h"      /* computing that cannot be optimised away */

#endif
