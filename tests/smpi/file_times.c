/* SPDX-License-Identifier: LGPL-2.1-only */
/* Prints the time that each rank takes for an access, in seconds. file_times WHAT BYTES: BYTES per rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double start;

static int is(const char* what, const char* name)
{
  return strcmp(what, name) == 0;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  const char* what = argv[1];
  const int bytes  = atoi(argv[2]);
  char* data       = calloc(1, (size_t)bytes);
  int rank, ranks;
  MPI_File file;
  MPI_Datatype type;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  start = MPI_Wtime();
  MPI_File_open(MPI_COMM_WORLD, "out", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  const double opened = MPI_Wtime() - start;
  MPI_File_preallocate(file, (MPI_Offset)ranks * bytes);
  if (strstr(what, "interleaved") || strstr(what, "sieved")) { /* pieces of a quarter, alternating between ranks */
    MPI_Type_vector(4, bytes / 4, bytes / 4 * ranks, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, rank * (bytes / 4), MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_Type_free(&type);
  }
  start = MPI_Wtime();
  if (is(what, "write"))
    MPI_File_write_at(file, (MPI_Offset)rank * bytes, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  else if (is(what, "read"))
    MPI_File_read_at(file, (MPI_Offset)rank * bytes, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  else if (is(what, "write_all"))
    MPI_File_write_at_all(file, (MPI_Offset)rank * bytes, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  else if (is(what, "interleaved_write"))
    MPI_File_write_all(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  else if (is(what, "interleaved_read"))
    MPI_File_read_all(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  else if (is(what, "sieved_write"))
    MPI_File_write(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  else if (is(what, "sieved_read"))
    MPI_File_read(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  else if (is(what, "interleaved_iwrite")) {
    MPI_Request request;
    MPI_File_iwrite_all(file, data, bytes, MPI_BYTE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (is(what, "interleaved_split")) {
    MPI_File_write_all_begin(file, data, bytes, MPI_BYTE);
    MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE);
  } else if (is(what, "shared"))
    MPI_File_write_shared(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
  else if (is(what, "sync"))
    MPI_File_sync(file);
  else if (is(what, "open"))
    start = MPI_Wtime() - opened;
  else if (is(what, "close"))
    MPI_File_close(&file);
  printf("%d %.15g\n", rank, MPI_Wtime() - start);
  if (file != MPI_FILE_NULL)
    MPI_File_close(&file);
  free(data);
  MPI_Finalize();
  return 0;
}
