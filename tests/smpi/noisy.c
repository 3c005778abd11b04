/* SPDX-License-Identifier: LGPL-2.1-only */
/* Computation phases, each followed by a barrier: noisy FLOPS PHASES. Rank 0 prints the time of each phase. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double flops = atof(argv[1]);
  const int phases   = atoi(argv[2]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int phase = 0; phase < phases; phase++) {
    const double start = MPI_Wtime();
    smpi_execute_flops(flops);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
      printf("%.9f\n", MPI_Wtime() - start);
  }
  MPI_Finalize();
  return 0;
}
