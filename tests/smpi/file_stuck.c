/* SPDX-License-Identifier: LGPL-2.1-only */
/* Only the first rank makes a collective file access. */
#include <mpi.h>

int main(int argc, char** argv)
{
  int rank;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_open(MPI_COMM_WORLD, "stuck", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (rank == 0)
    MPI_File_write_all(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  else
    MPI_Recv(&rank, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
