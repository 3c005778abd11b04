/* SPDX-License-Identifier: LGPL-2.1-only */
/* Reads the file "input" by C and by MPI, and creates "out", which must not exist. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  char by_c[6]   = "";
  char by_mpi[6] = "";
  MPI_File file;
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  FILE* input = fopen("input", "r");
  if (!input || !fgets(by_c, sizeof by_c, input))
    MPI_Abort(MPI_COMM_WORLD, 1);
  fclose(input);
  MPI_File_open(MPI_COMM_WORLD, "input", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_File_read_all(file, by_mpi, 5, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  if (strcmp(by_c, by_mpi) != 0)
    MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_write_ordered(file, by_c, 5, MPI_CHAR, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
