/* SPDX-License-Identifier: LGPL-2.1-only */
/* Executes calls of one collective only: `in_network NAME CALLS BYTES`. BYTES is the size of every rank's vector, or of
 * all parts together: with 16 KiB (4 bytes per rank at 4,096 ranks), all collectives move about the same amount of data
 * in memory.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 64 };

static int call(const char* name, int ints, int part, int* data, int* counts, int* places, MPI_Request* persistent)
{
  int *send = data, *receive = data + ints;

  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Request request;
  if (strcmp(name, "allreduce") == 0)
    return MPI_Allreduce(send, receive, ints, MPI_INT, MPI_SUM, comm);
  if (strcmp(name, "reduce") == 0)
    return MPI_Reduce(send, receive, ints, MPI_INT, MPI_SUM, 1, comm);
  if (strcmp(name, "bcast") == 0)
    return MPI_Bcast(send, ints, MPI_INT, 1, comm);
  if (strcmp(name, "barrier") == 0)
    return MPI_Barrier(comm);
  if (strcmp(name, "allgather") == 0)
    return MPI_Allgather(send, part, MPI_INT, receive, part, MPI_INT, comm);
  if (strcmp(name, "allgatherv") == 0)
    return MPI_Allgatherv(send, part, MPI_INT, receive, counts, places, MPI_INT, comm);
  if (strcmp(name, "reduce_scatter") == 0)
    return MPI_Reduce_scatter(send, receive, counts, MPI_INT, MPI_SUM, comm);
  if (strcmp(name, "ibarrier") == 0) {
    MPI_Ibarrier(comm, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (strcmp(name, "iallreduce") == 0) {
    MPI_Iallreduce(send, receive, ints, MPI_INT, MPI_SUM, comm, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (strcmp(name, "persistent allreduce") == 0) {
    if (*persistent == MPI_REQUEST_NULL)
      MPI_Allreduce_init(send, receive, ints, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, persistent);
    MPI_Start(persistent);
    return MPI_Wait(persistent, MPI_STATUS_IGNORE);
  }
  exit(EXIT_USAGE);
}

int main(int argc, char** argv)
{
  int ranks;
  if (argc != 4)
    return EXIT_USAGE;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int ints = atoi(argv[3]) / (int)sizeof(int);
  int* data      = calloc(2 * (ints + ranks), sizeof(int)); // per rank: the ranks are not privatized
  int *counts = data + 2 * ints, *places = counts + ranks;
  for (int rank = 0; rank < ranks; rank++) {
    counts[rank] = ints / ranks;
    places[rank] = rank * (ints / ranks);
  }
  MPI_Request persistent = MPI_REQUEST_NULL;
  for (int calls = atoi(argv[2]); calls > 0; calls--)
    call(argv[1], ints, ints / ranks, data, counts, places, &persistent);
  if (persistent != MPI_REQUEST_NULL)
    MPI_Request_free(&persistent);
  free(data);
  MPI_Finalize();
  return 0;
}
