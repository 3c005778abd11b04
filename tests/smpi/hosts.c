/* SPDX-License-Identifier: LGPL-2.1-only */
/* Prints each rank's number and its host. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv)
{
  char name[MPI_MAX_PROCESSOR_NAME];
  int length, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Get_processor_name(name, &length);
  printf("%d %s\n", rank, name);
  MPI_Finalize();
  return 0;
}
