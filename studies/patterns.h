/* SPDX-License-Identifier: LGPL-2.1-only */
/* Random orders of ranks and common starts, for the studies' patterns of communication.
 *
 * A program defines _POSIX_C_SOURCE as 199309L or later before its first header.
 */
#ifndef STUDIES_PATTERNS_H
#define STUDIES_PATTERNS_H

#include <mpi.h>
#include <stdint.h>
#include <time.h>

/* Knuth's 64-bit generator. */
static int below(uint64_t* state, int limit)
{
  *state = *state * 6364136223846793005U + 1442695040888963407U;
  return (int)((*state >> 33U) % (uint64_t)limit);
}

/* Writes 0 to count - 1 in a random order. */
static void shuffle(int* order, int count, uint64_t* state)
{
  for (int at = 0; at < count; ++at)
    order[at] = at;
  for (int at = count - 1; at > 0; --at) {
    const int other  = below(state, at + 1);
    const int number = order[at];
    order[at]        = order[other];
    order[other]     = number;
  }
}

/* Returns on all ranks at the same time, to within a nanosecond. */
static void start_together(void)
{
  const double own = MPI_Wtime();
  double last;
  MPI_Allreduce(&own, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const long wait             = (long)((last + 1e-3 - MPI_Wtime()) * 1e9);
  const struct timespec until = {0, wait};
  nanosleep(&until, NULL);
}

#endif
