/* SPDX-License-Identifier: LGPL-2.1-only */
/* Point-to-point messages and collectives that no switch executes, with the time after each: `traffic`.
 *
 * Each rank prints "rank what bytes seconds", in hexadecimal so that times can be compared bit by bit. Messages of a
 * rank to itself (in MPI_Alltoall) are larger than 4 KiB.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;

static void show(const char* what, int bytes)
{
  printf("%d %s %d %a\n", rank, what, bytes, MPI_Wtime());
}

/* Around the ring, all at once. */
static void shift(char* send, char* receive, int bytes)
{
  MPI_Sendrecv(send, bytes, MPI_BYTE, (rank + 1) % ranks, 0, receive, bytes, MPI_BYTE, (rank + ranks - 1) % ranks, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  show("sendrecv", bytes);
}

/* All ranks send to rank 0, in any order. */
static void collect(char* send, char* receive, int bytes)
{
  if (rank > 0)
    MPI_Send(send, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
  for (int i = 1; rank == 0 && i < ranks; i++)
    MPI_Recv(receive, bytes, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  show("send", bytes);
}

static void exchange(int bytes)
{
  char* send    = calloc((size_t)ranks, (size_t)bytes);
  char* receive = calloc((size_t)ranks, (size_t)bytes);
  shift(send, receive, bytes);
  collect(send, receive, bytes);
  MPI_Bcast(send, bytes, MPI_BYTE, 1, MPI_COMM_WORLD);
  show("bcast", bytes);
  MPI_Gather(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  show("gather", bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  show("barrier", 0);
  if (bytes > 4096) {
    MPI_Alltoall(send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, MPI_COMM_WORLD);
    show("alltoall", bytes);
  }
  free(send);
  free(receive);
}

int main(int argc, char** argv)
{
  static const int SIZES[] = {1, 100, 4096, 5000, 60000, 100000, 1000000};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++)
    exchange(SIZES[i]);
  MPI_Finalize();
  return 0;
}
