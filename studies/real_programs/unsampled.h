/* SPDX-License-Identifier: LGPL-2.1-only */
/* Put before NAS EP by -include: SimGrid's copy computes only a sample of the numbers (SMPI_SAMPLE_GLOBAL) into memory
 * that all ranks share (SMPI_SHARED_MALLOC), so that its results are wrong and it says so. With these it computes all
 * of them, into memory of its own. */
#include <smpi/smpi.h>
#include <stdlib.h>

#undef SMPI_SAMPLE_GLOBAL
#define SMPI_SAMPLE_GLOBAL(begin, condition, step, iterations, threshold) for (begin; condition; step)
#undef SMPI_SHARED_MALLOC
#define SMPI_SHARED_MALLOC(size) malloc(size)
#undef SMPI_SHARED_FREE
#define SMPI_SHARED_FREE(data) free(data)
