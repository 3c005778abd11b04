/* SPDX-License-Identifier: LGPL-2.1-only */
/* One-way time of a ping-pong between the first and the last rank: `first_and_last BYTES,BYTES,...`. Each output line
 * is a size and the time in seconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv)
{
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* sizes = argv[1];
  while (*sizes != '\0') {
    char* end;
    const int bytes = (int)strtol(sizes, &end, 10);
    char* data      = calloc((size_t)bytes, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    if (rank == 0) {
      MPI_Send(data, bytes, MPI_BYTE, ranks - 1, 0, MPI_COMM_WORLD);
      MPI_Recv(data, bytes, MPI_BYTE, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      printf("%d %.9g\n", bytes, (MPI_Wtime() - start) / 2);
    } else if (rank == ranks - 1) {
      MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    free(data);
    sizes = *end == ',' ? end + 1 : end;
  }
  MPI_Finalize();
  return 0;
}
