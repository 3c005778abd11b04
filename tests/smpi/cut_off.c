/* SPDX-License-Identifier: LGPL-2.1-only */
/* cut_off FORM: ranks move up to 8 MB in a form that a fault may cut: partitions of a message between two ranks, file
 * accesses, or a gather of three ranks. */
#include <mpi.h>
#include <string.h>

enum { BYTES = 8000000, PARTS = 4 };

static char data[BYTES];

static void send_partitions(int rank)
{
  MPI_Request request;
  if (rank == 0)
    MPI_Psend_init(data, PARTS, BYTES / PARTS, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  else
    MPI_Precv_init(data, PARTS, BYTES / PARTS, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  if (rank == 0)
    MPI_Pready_range(0, PARTS - 1, request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

static void write_file(const char* form, int rank)
{
  MPI_File file;
  MPI_Request request   = MPI_REQUEST_NULL;
  const MPI_Offset from = (MPI_Offset)BYTES * rank;
  MPI_File_open(MPI_COMM_WORLD, "out.bin", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  if (strcmp(form, "write") == 0)
    MPI_File_write_at(file, from, data, BYTES, MPI_CHAR, MPI_STATUS_IGNORE);
  else if (strcmp(form, "iwrite") == 0)
    MPI_File_iwrite_at(file, from, data, BYTES, MPI_CHAR, &request);
  else if (strcmp(form, "shared") == 0)
    MPI_File_write_shared(file, data, BYTES, MPI_CHAR, MPI_STATUS_IGNORE);
  else if (strcmp(form, "all") == 0)
    MPI_File_write_at_all(file, from, data, BYTES, MPI_CHAR, MPI_STATUS_IGNORE);
  else if (strcmp(form, "iall") == 0)
    MPI_File_iwrite_at_all(file, from, data, BYTES, MPI_CHAR, &request);
  else if (strcmp(form, "ordered") == 0)
    MPI_File_write_ordered(file, data, BYTES, MPI_CHAR, MPI_STATUS_IGNORE);
  else {
    MPI_File_write_at_all_begin(file, from, data, BYTES, MPI_CHAR);
    MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

static void gather(int rank)
{
  MPI_Request request;
  MPI_Igather(rank == 0 ? MPI_IN_PLACE : data, BYTES / PARTS, MPI_CHAR, data, BYTES / PARTS, MPI_CHAR, 0,
              MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv)
{
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(argv[1], "partitions") == 0)
    send_partitions(rank);
  else if (strcmp(argv[1], "igather") == 0)
    gather(rank);
  else
    write_file(argv[1], rank);
  MPI_Finalize();
  return 0;
}
