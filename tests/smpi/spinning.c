/* SPDX-License-Identifier: LGPL-2.1-only */
/* Computes for so many seconds of this thread's CPU time: `spinning SECONDS`. */
#include <mpi.h>
#include <stdlib.h>
#include <sys/resource.h>

/* SMPI puts the simulated clock in place of clock_gettime, but leaves this one alone. */
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
