/* SPDX-License-Identifier: LGPL-2.1-only */
/* Rank 0 looks for a message with MPI_Iprobe ("probe") or MPI_Test ("test") that rank 1 sends after 5 ms. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv)
{
  int rank, flag = 0, value = 1;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    if (argc > 1 && !strcmp(argv[1], "probe")) {
      while (!flag)
        MPI_Iprobe(1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Irecv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
      while (!flag)
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
  } else if (rank == 1) {
    usleep(5000);
    MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
