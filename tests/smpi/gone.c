/* SPDX-License-Identifier: LGPL-2.1-only */
/* Rank 1 receives a message and ends. Rank 0 sends it another message a millisecond later. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv)
{
  int rank, number = 42;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1)
    MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) {
    MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    usleep(1000);
    MPI_Send(&number, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
