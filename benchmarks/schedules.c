/* SPDX-License-Identifier: LGPL-2.1-only */
/* Executes calls of one collective only: `schedules NAME BYTES CALLS`. BYTES is the size of the vector of a reduction
 * or Bcast, or of the block that a rank has for one other rank. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 64 };

static int is_one_of(const char* name, const char* const* names)
{
  while (*names && strcmp(name, *names) != 0)
    names++;
  return *names != NULL;
}

static int reduction(const char* name, int count, const float* send, float* receive)
{
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Request request;
  if (strcmp(name, "allreduce") == 0)
    return MPI_Allreduce(send, receive, count, MPI_FLOAT, MPI_SUM, comm);
  if (strcmp(name, "reduce") == 0)
    return MPI_Reduce(send, receive, count, MPI_FLOAT, MPI_SUM, 0, comm);
  if (strcmp(name, "scan") == 0)
    return MPI_Scan(send, receive, count, MPI_FLOAT, MPI_SUM, comm);
  if (strcmp(name, "exscan") == 0)
    return MPI_Exscan(send, receive, count, MPI_FLOAT, MPI_SUM, comm);
  if (strcmp(name, "reduce_scatter_block") == 0)
    return MPI_Reduce_scatter_block(send, receive, count, MPI_FLOAT, MPI_SUM, comm);
  if (strcmp(name, "iallreduce") == 0) {
    MPI_Iallreduce(send, receive, count, MPI_FLOAT, MPI_SUM, comm, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  exit(EXIT_USAGE);
}

static int call(const char* name, int count, float* send, float* receive)
{
  MPI_Comm comm = MPI_COMM_WORLD;
  if (strcmp(name, "barrier") == 0)
    return MPI_Barrier(comm);
  if (strcmp(name, "bcast") == 0)
    return MPI_Bcast(send, count, MPI_FLOAT, 0, comm);
  if (strcmp(name, "allgather") == 0)
    return MPI_Allgather(send, count, MPI_FLOAT, receive, count, MPI_FLOAT, comm);
  if (strcmp(name, "alltoall") == 0)
    return MPI_Alltoall(send, count, MPI_FLOAT, receive, count, MPI_FLOAT, comm);
  if (strcmp(name, "gather") == 0)
    return MPI_Gather(send, count, MPI_FLOAT, receive, count, MPI_FLOAT, 0, comm);
  if (strcmp(name, "scatter") == 0)
    return MPI_Scatter(send, count, MPI_FLOAT, receive, count, MPI_FLOAT, 0, comm);
  return reduction(name, count, send, receive);
}

/* Allocates a block per rank, or a single one. */
static float* blocks(int for_each, int ranks, int count)
{
  return calloc((for_each ? (size_t)ranks : 1) * (size_t)count + 1, sizeof(float));
}

int main(int argc, char** argv)
{
  static const char* const SENDS[]      = {"alltoall", "reduce_scatter_block", NULL};
  static const char* const RECEIVES[]   = {"alltoall", "allgather", NULL};
  static const char* const ROOT_SENDS[] = {"scatter", NULL};
  static const char* const ROOT_GETS[]  = {"gather", NULL};
  int ranks;
  int rank;
  if (argc != 4)
    return EXIT_USAGE;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* name = argv[1];
  const int count  = atoi(argv[2]) / (int)sizeof(float);
  float* send      = blocks(is_one_of(name, SENDS) || (rank == 0 && is_one_of(name, ROOT_SENDS)), ranks, count);
  float* receive   = blocks(is_one_of(name, RECEIVES) || (rank == 0 && is_one_of(name, ROOT_GETS)), ranks, count);
  for (int calls = atoi(argv[3]); calls > 0; calls--)
    call(name, count, send, receive);
  free(send);
  free(receive);
  MPI_Finalize();
  return 0;
}
