/* SPDX-License-Identifier: LGPL-2.1-only */
/* file_open NAME [N]: all ranks create one file, or each rank N files that are open at once. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  const int mode = MPI_MODE_CREATE | MPI_MODE_WRONLY;
  int rank;
  MPI_File file;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
  if (argc == 2) {
    MPI_File_open(MPI_COMM_WORLD, argv[1], mode, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
  }
  const int count = argc == 2 ? 0 : atoi(argv[2]);
  MPI_File* files = malloc((size_t)(count + 1) * sizeof *files);
  for (int each = 0; each < count; ++each) {
    char name[64];
    snprintf(name, sizeof name, "%s-%d-%d", argv[1], rank, each);
    MPI_File_open(MPI_COMM_SELF, name, mode, MPI_INFO_NULL, &files[each]);
  }
  for (int each = 0; each < count; ++each)
    MPI_File_close(&files[each]);
  free(files);
  MPI_Finalize();
  return 0;
}
