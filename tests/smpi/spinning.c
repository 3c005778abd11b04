/* SPDX-License-Identifier: LGPL-2.1-only */
/* Computes for a number of seconds of this thread's CPU time: `spinning SECONDS`. */
#include <mpi.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Makes the system call directly, since the functions of the C library show simulated time. */
static double used(void)
{
  struct timespec time;
  syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
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
