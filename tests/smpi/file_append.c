// SPDX-License-Identifier: LGPL-2.1-only
/* Ranks append to a file one after another; the initial position is the same on all of them. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  if (rank == 0)
    MPI_File_write(file, "head", 4, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &file);
  MPI_Offset position;
  MPI_Offset shared;
  MPI_File_get_position(file, &position);
  MPI_File_get_position_shared(file, &shared);
  char digit = (char)('0' + rank);
  MPI_File_seek(file, position + rank, MPI_SEEK_SET);
  MPI_File_write(file, &digit, 1, MPI_CHAR, MPI_STATUS_IGNORE);
  printf("%lld %lld\n", (long long)position, (long long)shared);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
