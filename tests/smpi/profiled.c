/* SPDX-License-Identifier: LGPL-2.1-only */
/* Spends time in calls of every kind, with a duration given by the argument and different work per rank. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv)
{
  int rank, size, flag = 0, box = 0, sum;
  char* data = calloc(1, 1 << 20);
  MPI_Request request;
  MPI_Comm comm;
  MPI_Win window;
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  usleep(100 * (unsigned)rank); /* 0, 100, 200, … us outside MPI */
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (rank == 0)
    MPI_Send(data, 1 << 20, MPI_CHAR, 1, 0, comm);
  else if (rank == 1)
    MPI_Recv(data, 1 << 20, MPI_CHAR, 0, 0, comm, MPI_STATUS_IGNORE);
  MPI_Irecv(data, 1000, MPI_CHAR, (rank + size - 1) % size, 1, comm, &request);
  MPI_Send(data + 1000, 1000, MPI_CHAR, (rank + 1) % size, 1, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Iprobe(MPI_ANY_SOURCE, 5, comm, &flag, MPI_STATUS_IGNORE);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Win_create(&box, sizeof box, 1, MPI_INFO_NULL, comm, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  if (argc > 1) {
    MPI_File_open(comm, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
  }
  MPI_Comm_free(&comm);
  if (rank == size - 1)
    usleep(1000); /* all other ranks end before this one */
  MPI_Finalize();
  free(data);
  return 0;
}
