/* SPDX-License-Identifier: LGPL-2.1-only */
/* Prints the simulated times, in microseconds, of a program's first and second Bcast. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv)
{
  int rank, value = 1;
  double times[2], longest[2];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 2; i++) {
    double start = MPI_Wtime();
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    times[i] = MPI_Wtime() - start;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Reduce(times, longest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%.3f %.3f\n", longest[0] * 1e6, longest[1] * 1e6);
  MPI_Finalize();
  return 0;
}
