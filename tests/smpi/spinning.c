/* SPDX-License-Identifier: LGPL-2.1-only */
/* Computes for a number of seconds of this thread's CPU time: `spinning SECONDS`. */
#include <mpi.h>
#include <stdlib.h>
#include <sys/resource.h>

/* SMPI replaces clock_gettime by the simulated clock, but not this one. */
static double used(void)
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  const double end = used() + atof(argv[1]);
  while (used() < end)
    ;
  MPI_Finalize();
  return 0;
}
