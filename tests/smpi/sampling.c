/* SPDX-License-Identifier: LGPL-2.1-only */
/* SMPI's ways to reduce computation and memory: `sampling PART`. Each rank prints its result. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { ITERATIONS = 40, BYTES = 1 << 22 };

static int rank, computed;
static volatile double sum;

static void compute(void)
{
  computed++;
  for (int i = 1; i < 2000000; i++)
    sum += 1.0 / i;
}

/* Times three iterations per rank. */
static void local(void)
{
  int i;
  SMPI_SAMPLE_LOCAL(i = 0, i < ITERATIONS, i++, 3, -1)
  {
    compute();
  }
  printf("%d computed %d\n", rank, computed);
}

/* Times three iterations over all ranks. */
static void global(void)
{
  int i;
  SMPI_SAMPLE_GLOBAL(i = 0, i < ITERATIONS, i++, 3, -1)
  {
    compute();
  }
  printf("%d computed %d\n", rank, computed);
}

static void all(void)
{
  for (int i = 0; i < ITERATIONS; i++)
    compute();
  printf("%d computed %d\n", rank, computed);
}

static void delay(void)
{
  SMPI_SAMPLE_DELAY(0.25)
  {
    compute();
  }
  printf("%d computed %d\n", rank, computed);
}

/* Clocks may be read inside a sample; only SMPI's own clock advances with the computation there. */
static void clocks(void)
{
  int i;
  double read = 0;
  SMPI_SAMPLE_LOCAL(i = 0, i < ITERATIONS, i++, 3, -1)
  {
    struct timeval time;
    const double begin = MPI_Wtime();
    compute();
    read += MPI_Wtime() - begin;
    gettimeofday(&time, NULL);
  }
  printf("%d computed %d\n", rank, read == 0 ? computed : -1);
}

/* Data written by one rank is read by all others. */
static void shared(void)
{
  int* data = SMPI_SHARED_MALLOC(BYTES);
  if (rank == 0)
    data[0] = 17;
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d reads %d\n", rank, data[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(data, BYTES / (int)sizeof(int), MPI_INT, 0, MPI_COMM_WORLD);
  SMPI_SHARED_FREE(data);
}

static void own(void)
{
  int* data = calloc(1, BYTES);
  if (rank == 0)
    data[0] = 17;
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d reads %d\n", rank, data[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Bcast(data, BYTES / (int)sizeof(int), MPI_INT, 0, MPI_COMM_WORLD);
  free(data);
}

int main(int argc, char** argv)
{
  static const struct {
    const char* name;
    void (*run)(void);
  } PARTS[] = {{"local", local},   {"global", global}, {"all", all}, {"delay", delay},
               {"clocks", clocks}, {"shared", shared}, {"own", own}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++)
    if (strcmp(argv[1], PARTS[i].name) == 0)
      PARTS[i].run();
  MPI_Finalize();
  return 0;
}
