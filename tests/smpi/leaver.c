/* SPDX-License-Identifier: LGPL-2.1-only */
/* Rank 0 broadcasts on a communicator, frees it and ends; all other ranks join much later, one at a time. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv)
{
  int rank, number;
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  number = rank == 0 ? 42 : 0;
  usleep(1000 * (unsigned)rank);
  MPI_Bcast(&number, 1, MPI_INT, 0, comm);
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Comm_free(&comm);
  printf("rank %d: %d\n", rank, number);
  MPI_Finalize();
  return 0;
}
