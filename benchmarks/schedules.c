/* SPDX-License-Identifier: LGPL-2.1-only */
/* Calls of one collective and nothing else: `schedules NAME BYTES CALLS`. BYTES is the vector of a reduction, or what a
 * rank has for one other rank. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 64 };

static int call(const char* name, int count, const float* send, float* receive)
{
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Request request;
  if (strcmp(name, "allreduce") == 0)
    return MPI_Allreduce(send, receive, count, MPI_FLOAT, MPI_SUM, comm);
  if (strcmp(name, "alltoall") == 0)
    return MPI_Alltoall(send, count, MPI_FLOAT, receive, count, MPI_FLOAT, comm);
  if (strcmp(name, "iallreduce") == 0) {
    MPI_Iallreduce(send, receive, count, MPI_FLOAT, MPI_SUM, comm, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
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
  const int count    = atoi(argv[2]) / (int)sizeof(float);
  const size_t parts = strcmp(argv[1], "alltoall") == 0 ? (size_t)ranks : 1;
  float* send        = calloc(parts * (size_t)count, sizeof(float));
  float* receive     = calloc(parts * (size_t)count, sizeof(float));
  for (int calls = atoi(argv[3]); calls > 0; calls--)
    call(argv[1], count, send, receive);
  free(send);
  free(receive);
  MPI_Finalize();
  return 0;
}
