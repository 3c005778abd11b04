/* SPDX-License-Identifier: LGPL-2.1-only */
/* Clock reads: `clock_reads READ MODE COUNT`; READ is mpi, timeofday or gettime.
 *
 * MODE is the activity between two reads. row: none; calls: one MPI call; steps: alternately some microseconds of
 * computation and a call; work: the same with milliseconds, simulated by a real sleep in a call that SMPI does not
 * intercept; wait: reads until a second has passed. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile double sum;

static double from_mpi(void)
{
  return MPI_Wtime();
}

static double from_timeofday(void)
{
  struct timeval time;
  gettimeofday(&time, NULL);
  return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

static double from_gettime(void)
{
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void compute(void)
{
  for (int i = 1; i < 5000; i++)
    sum += 1.0 / i;
}

static void pass_real_time(void)
{
  struct timespec time = {0, 5000000};
  syscall(SYS_nanosleep, &time, NULL);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  const char* mode     = argv[2];
  const long count     = strtol(argv[3], NULL, 10);
  double (*read)(void) = strcmp(argv[1], "mpi") == 0 ? from_mpi : from_gettime;
  if (strcmp(argv[1], "timeofday") == 0)
    read = from_timeofday;
  if (strcmp(mode, "wait") == 0)
    for (const double begin = read(); read() < begin + 1;)
      sum += 1;
  for (long i = 0; i < count; i++) {
    sum += read();
    if (strcmp(mode, "row") == 0)
      continue;
    if (strcmp(mode, "calls") == 0 || i % 2 == 0)
      MPI_Barrier(MPI_COMM_WORLD);
    else if (strcmp(mode, "work") == 0)
      pass_real_time();
    else
      compute();
  }
  MPI_Finalize();
  return 0;
}
