/* SPDX-License-Identifier: LGPL-2.1-only */
/* Put before NAS EP by -include, with -DRATIO=...: each rank computes that part of its own iterations, whatever their
 * spread. The source asks for a quarter of one rank's iterations by all ranks together, or less where they hardly
 * differ. */
#include <smpi/smpi.h>

#undef SMPI_SAMPLE_GLOBAL
#define SMPI_SAMPLE_GLOBAL(begin, condition, step, iterations, threshold)                                              \
  SMPI_SAMPLE_LOCAL(begin, condition, step, (int)(RATIO * np), -1)
