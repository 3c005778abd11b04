/* SPDX-License-Identifier: LGPL-2.1-only */
/* Included before NAS EP by -include. SimGrid's copy computes only a sample of the numbers (SMPI_SAMPLE_GLOBAL), in
 * memory shared by all ranks (SMPI_SHARED_MALLOC), so its verification fails. These definitions make each rank compute
 * all numbers in private memory. */
#include <smpi/smpi.h>
#include <stdlib.h>

#undef SMPI_SAMPLE_GLOBAL
#define SMPI_SAMPLE_GLOBAL(begin, condition, step, iterations, threshold) for (begin; condition; step)
#undef SMPI_SHARED_MALLOC
#define SMPI_SHARED_MALLOC(size) malloc(size)
#undef SMPI_SHARED_FREE
#define SMPI_SHARED_FREE(data) free(data)
