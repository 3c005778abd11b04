// SPDX-License-Identifier: LGPL-2.1-only
/* Allreduces of rank 0 with rank 1, then with rank 2: prints the partner and the time of each. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int partner = 1; partner <= 2; ++partner) {
    MPI_Comm pair;
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 || rank == partner ? 0 : MPI_UNDEFINED, rank, &pair);
    if (pair == MPI_COMM_NULL)
      continue;
    int one = 1;
    int sum = 0;
    MPI_Barrier(pair);
    const double start = MPI_Wtime();
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, pair);
    if (rank == 0)
      printf("%d %.12g\n", partner, MPI_Wtime() - start);
    MPI_Comm_free(&pair);
  }
  MPI_Finalize();
  return 0;
}
