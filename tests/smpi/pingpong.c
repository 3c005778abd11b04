/* SPDX-License-Identifier: LGPL-2.1-only */
/* Half the round-trip time of a message between rank 0 and the last rank: `pingpong SIZE,SIZE,...`
 * (bytes).
 *
 * Rank 0 prints "bytes seconds". Requires --cfg=smpi/wtime:0.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void answer(char* data, int bytes)
{
  MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
}

static void ask(char* data, int bytes, int other)
{
  double start = MPI_Wtime();
  MPI_Send(data, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  MPI_Recv(data, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  printf("%d %.17g\n", bytes, (MPI_Wtime() - start) / 2);
}

int main(int argc, char** argv)
{
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* sizes = argv[1];
  while (*sizes != '\0') {
    char* end;
    int bytes  = (int)strtol(sizes, &end, 10);
    char* data = calloc(1, (size_t)bytes);
    if (rank == 0)
      ask(data, bytes, ranks - 1);
    else if (rank == ranks - 1)
      answer(data, bytes);
    free(data);
    sizes = *end == ',' ? end + 1 : end;
  }
  MPI_Finalize();
  return 0;
}
