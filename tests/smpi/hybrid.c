/* SPDX-License-Identifier: LGPL-2.1-only */
/* MPI and OpenMP: each rank sums in several threads; the rank's main thread makes the MPI calls in between. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

enum { N = 1000, ROUNDS = 20 };
static double values[N];

int main(int argc, char** argv)
{
  int provided, rank, threads = 0;
  double sum = 0, total = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < ROUNDS; round++) {
#pragma omp parallel
    {
#pragma omp single
      threads = omp_get_num_threads();
#pragma omp for reduction(+ : sum)
      for (int i = 0; i < N; i++) {
        values[i] = rank + i;
        sum += values[i];
      }
    }
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0)
    printf("threads %d sum %.0f\n", threads, total);
  MPI_Finalize();
  return 0;
}
