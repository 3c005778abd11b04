/* SPDX-License-Identifier: LGPL-2.1-only */
/* Each rank writes 1 MiB to a file with MPI I/O and reads it back; prints both times in seconds. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv)
{
  enum { BYTES = 1 << 20 };
  static char data[BYTES];
  MPI_File file;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  const double start = MPI_Wtime();
  MPI_File_write_at(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
  const double written = MPI_Wtime();
  MPI_File_read_at(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
  printf("%d %.9f %.9f\n", rank, written - start, MPI_Wtime() - written);
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
