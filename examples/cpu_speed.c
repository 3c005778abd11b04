/* SPDX-License-Identifier: LGPL-2.1-only */
/* Floating-point performance of one core, in operations per second, from products of two matrices
 * of doubles: `cpu_speed REPETITIONS`.
 *
 * Prints one line per repetition. SMPI measures in the same way for `smpi/host-speed:auto`
 * (smpi_autobench in its smpi_bench.cpp), in fractions of a second. Under `weft run --host-speed`,
 * MPI_Wtime returns the time that the core really takes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 500 };

static double a[SIZE * SIZE], b[SIZE * SIZE], c[SIZE * SIZE];

static void multiply(void)
{
  for (int i = 0; i < SIZE; i++)
    for (int k = 0; k < SIZE; k++)
      for (int j = 0; j < SIZE; j++)
        c[i * SIZE + j] += a[i * SIZE + k] * b[k * SIZE + j];
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  const int repetitions = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < SIZE * SIZE; i++) {
    a[i] = 2.0 * i / (SIZE * SIZE);
    b[i] = -1.0 * i / (SIZE * SIZE);
  }
  multiply(); /* wakes the core and warms the caches */
  for (int i = 0; i < repetitions; i++) {
    const double start = MPI_Wtime();
    multiply();
    const double seconds = MPI_Wtime() - start;
    printf("%.9g\n", 2.0 * SIZE * SIZE * SIZE / seconds);
  }
  /* Uses the result, so that the compiler cannot remove the computation. */
  if (c[SIZE] > 0)
    puts("wrong");
  MPI_Finalize();
  return 0;
}
