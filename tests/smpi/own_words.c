// SPDX-License-Identifier: LGPL-2.1-only
/* Names of C library functions that SMPI replaces by macros, used as a program's own identifiers;
 * compiled by `weft cc`. With an argument: memory that ranks share by call site, as the program requests. */
#include <getopt.h>
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct pool {
  void* (*malloc)(size_t);
  void (*free)(void*);
  int exit, sleep;
  int (*getopt)(int, int, int);
};

#define CALL(function, argument) function(argument)

static int sum(int a, int b, int c)
{
  return a + b + c;
}

static void take(void* (*calloc)(size_t, size_t))
{
  free(calloc(2, 3));
}

static int next(int usleep)
{
  return usleep + 1;
}

/* Replaces the system's function of the same name. */
long random(void)
{
  return 42;
}

/* The C library has a function of this name. */
int err = 3;

static char* ask(void)
{
  return malloc(1 << 20);
}

static void share(void)
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char *first = ask(), *second = malloc(1 << 20), *small = malloc(100);
  *first = *second = *small = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    *first = 1;
    *small = 1;
  }
  if (rank == 1)
    *second = 2;
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d %d %d\n", *first, *second, *small);
  MPI_Barrier(MPI_COMM_WORLD);
  free(first);
  free(second);
  free(small);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  if (argc > 1) {
    share();
    MPI_Finalize();
    return 0;
  }
  struct pool pool = {malloc, free, 1, 2, sum};
  pool.free(pool.malloc(10));
  CALL(free, realloc(malloc(3), 30));
  (free)(calloc(3, 3));
  take(calloc);
  const double before = MPI_Wtime();
  usleep(1000);
  sleep(1);
  struct timespec time = {2, 0}, clock;
  nanosleep(&time, NULL);
  struct timeval day;
  gettimeofday(&day, NULL);
  clock_gettime(CLOCK_REALTIME, &clock);
  err += 4;
  printf("%d %d %d %ld %d; %.3f %ld %ld\n", pool.getopt(1, 2, 3), pool.exit + pool.sleep, next(4), random(), err,
         MPI_Wtime() - before, (long)day.tv_sec, (long)clock.tv_sec);
  MPI_Finalize();
  exit(0);
}
