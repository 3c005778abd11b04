/* SPDX-License-Identifier: LGPL-2.1-only */
/* Floating-point operations a second of one core, as the product of two matrices of doubles: `cpu_speed REPETITIONS`.
 *
 * A line is one repetition. That is what SMPI does for `smpi/host-speed:auto` (smpi_autobench in its smpi_bench.cpp),
 * in fractions of a second. Under `weft run --host-speed`, MPI_Wtime sees the time that the core really spends.
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
  multiply(); /* wakes the core and fills the caches */
  for (int i = 0; i < repetitions; i++) {
    const double start = MPI_Wtime();
    multiply();
    const double seconds = MPI_Wtime() - start;
    printf("%.9g\n", 2.0 * SIZE * SIZE * SIZE / seconds);
  }
  /* The compiler may not leave out what is used. */
  if (c[SIZE] > 0)
    puts("wrong");
  MPI_Finalize();
  return 0;
}
