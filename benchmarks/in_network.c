/* SPDX-License-Identifier: LGPL-2.1-only */
/* Calls of one collective and nothing else: `in_network NAME CALLS`. Every rank's vector, or all parts of it together,
 * has 16 KiB (4 bytes a rank at 4,096 ranks), so that the data that move in memory are about the same for all of them.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { INTS = 4096, EXIT_USAGE = 64 };

static int call(const char* name, int part, int* data)
{
  int *send = data, *receive = data + INTS, *counts = data + 2 * INTS, *places = data + 3 * INTS;

  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Request request;
  if (strcmp(name, "allreduce") == 0)
    return MPI_Allreduce(send, receive, INTS, MPI_INT, MPI_SUM, comm);
  if (strcmp(name, "reduce") == 0)
    return MPI_Reduce(send, receive, INTS, MPI_INT, MPI_SUM, 1, comm);
  if (strcmp(name, "bcast") == 0)
    return MPI_Bcast(send, INTS, MPI_INT, 1, comm);
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
    MPI_Iallreduce(send, receive, INTS, MPI_INT, MPI_SUM, comm, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  exit(EXIT_USAGE);
}

int main(int argc, char** argv)
{
  int ranks;
  if (argc != 3)
    return EXIT_USAGE;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int* data = calloc(4 * INTS, sizeof(int)); // a rank's own: the ranks are not privatized
  for (int rank = 0; rank < ranks; rank++) {
    data[2 * INTS + rank] = INTS / ranks;
    data[3 * INTS + rank] = rank * (INTS / ranks);
  }
  for (int calls = atoi(argv[2]); calls > 0; calls--)
    call(argv[1], INTS / ranks, data);
  free(data);
  MPI_Finalize();
  return 0;
}
