/* SPDX-License-Identifier: LGPL-2.1-only */
/* Included before NAS EP by -include, with -DRATIO=...: each rank computes this fraction of its own iterations,
 * regardless of their variance. The original samples a quarter of one rank's iterations over all ranks together, or
 * fewer if they hardly vary. */
#include <smpi/smpi.h>

#undef SMPI_SAMPLE_GLOBAL
#define SMPI_SAMPLE_GLOBAL(begin, condition, step, iterations, threshold)                                              \
  SMPI_SAMPLE_LOCAL(begin, condition, step, (int)(RATIO * np), -1)
