/* SPDX-License-Identifier: LGPL-2.1-only */
/* A thread other than the main thread ends rank 1: `thread_exits HOW`, by MPI_Abort, by exit(3), or after MPI_Finalize
 * by exit(0) or exit(5). All other ranks exchange messages meanwhile and print their number. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char* how;

static void* other(void* argument)
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 1)
    return argument;
  if (strcmp(how, "abort") == 0)
    MPI_Abort(MPI_COMM_WORLD, 4);
  if (strcmp(how, "early") != 0)
    MPI_Finalize();
  exit(strcmp(how, "early") == 0 ? 3 : atoi(how));
}

int main(int argc, char** argv)
{
  int provided, rank, ranks, got = 0;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  how = argv[1];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  pthread_create(&thread, NULL, other, NULL);
  pthread_join(thread, NULL);
  for (int turn = 0; turn < 3 && ranks > 2; turn++)
    MPI_Sendrecv(&rank, 1, MPI_INT, 2 - rank, 0, &got, 1, MPI_INT, 2 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (got == 2 - rank)
    printf("rank %d\n", rank);
  MPI_Finalize();
  return 0;
}
