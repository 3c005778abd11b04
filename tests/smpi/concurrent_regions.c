/* SPDX-License-Identifier: LGPL-2.1-only */
/* OpenMP threads call MPI concurrently (MPI_THREAD_MULTIPLE), between barriers, in critical sections, loops, tasks and
 * nested regions. Each rank prints its results, and their times. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 5, CHUNKS = 16 };

static int rank, size;

/* Returns the sum of the values that the thread receives. */
static long exchange_in_rounds(int me, int* critical)
{
  long sum = 0;
  for (int round = 0; round < ROUNDS; round++) {
    int got, one = 1;
    const int sent = rank + me;
    MPI_Sendrecv(&sent, 1, MPI_INT, (rank + 1) % size, me, &got, 1, MPI_INT, (rank + size - 1) % size, me,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += got;
#pragma omp barrier
#pragma omp critical
    {
      MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
      *critical += one;
    }
  }
  return sum;
}

static void send_to_self(int tag)
{
  int got;
  MPI_Sendrecv(&tag, 1, MPI_INT, rank, tag, &got, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
  int provided, critical = 0;
  long sum = 0, reduced = 0;
  MPI_Comm comms[THREADS];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < THREADS; i++)
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int region = 0; region < 2; region++)
#pragma omp parallel num_threads(THREADS) reduction(+ : sum)
  {
    const int me = omp_get_thread_num();
    long one     = me;
    sum += exchange_in_rounds(me, &critical);
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_LONG, MPI_SUM, comms[me]);
#pragma omp atomic
    reduced += one;
#pragma omp for schedule(dynamic)
    for (int chunk = 0; chunk < CHUNKS; chunk++)
      send_to_self(100 + chunk);
#pragma omp master
    for (int i = 0; i < THREADS; i++)
#pragma omp task
      send_to_self(50 + i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d level %d sum %ld reduced %ld critical %d at %.9f\n", rank, provided == MPI_THREAD_MULTIPLE, sum,
         reduced, critical, MPI_Wtime());
  MPI_Finalize();
  return 0;
}
