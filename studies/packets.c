/* SPDX-License-Identifier: LGPL-2.1-only */
/* Patterns of communication on flows and on packets: `packets PATTERN BYTES TIMES`.
 *
 * Rank 0 prints the time of a pattern, in seconds, from the first rank's begin to the end of the last rank that is
 * observed: the mean of TIMES. Patterns whose sizes are not said have BYTES in each message.
 *
 *   neighbours   each rank exchanges with the next and the previous one
 *   permutation  each rank sends to the next one of a random cycle
 *   incast       all ranks send to one
 *   beside       a random half of the ranks send to one of it, the others in a cycle; these are observed
 *   alltoall     MPI_Alltoall, BYTES for all ranks together
 *   allreduce, switches (an Allreduce of integers), bcast, allgather
 */
#define _POSIX_C_SOURCE 199309L
#include "patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sends to the next one of a random cycle of the ranks order[0], order[1], ... */
static void cycle(int rank, const int* order, int count, char* out, char* in, int bytes)
{
  for (int at = 0; at < count; ++at)
    if (order[at] == rank)
      MPI_Sendrecv(out, bytes, MPI_BYTE, order[(at + 1) % count], 0, in, bytes, MPI_BYTE,
                   order[(at + count - 1) % count], 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* order[1], order[2], ... send to order[0]. */
static void incast(int rank, const int* order, int count, char* out, char* in, int bytes)
{
  if (rank != order[0]) {
    for (int at = 1; at < count; ++at)
      if (order[at] == rank)
        MPI_Send(out, bytes, MPI_BYTE, order[0], 1, MPI_COMM_WORLD);
    return;
  }
  MPI_Request* requests = malloc((size_t)count * sizeof *requests);
  for (int at = 1; at < count; ++at)
    MPI_Irecv(in + (size_t)at * (size_t)bytes, bytes, MPI_BYTE, order[at], 1, MPI_COMM_WORLD, &requests[at - 1]);
  MPI_Waitall(count - 1, requests, MPI_STATUSES_IGNORE);
  free(requests);
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4)
    MPI_Abort(MPI_COMM_WORLD, 2);
  const char* pattern = argv[1];
  const int bytes     = atoi(argv[2]);
  const int times     = atoi(argv[3]);
  char* out           = calloc((size_t)bytes, (size_t)ranks);
  char* in            = calloc((size_t)bytes, (size_t)ranks);
  int* order          = malloc((size_t)ranks * sizeof *order);
  uint64_t state      = 1;
  double sum          = 0;
  for (int time = 0; time < times; ++time) {
    shuffle(order, ranks, &state);
    start_together();
    const double begin = MPI_Wtime();
    int observed       = 1;
    if (strcmp(pattern, "neighbours") == 0) {
      const int next     = (rank + 1) % ranks;
      const int previous = (rank + ranks - 1) % ranks;
      MPI_Request requests[4];
      MPI_Irecv(in, bytes, MPI_BYTE, previous, 0, MPI_COMM_WORLD, &requests[0]);
      MPI_Irecv(in + bytes, bytes, MPI_BYTE, next, 0, MPI_COMM_WORLD, &requests[1]);
      MPI_Isend(out, bytes, MPI_BYTE, next, 0, MPI_COMM_WORLD, &requests[2]);
      MPI_Isend(out, bytes, MPI_BYTE, previous, 0, MPI_COMM_WORLD, &requests[3]);
      MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    } else if (strcmp(pattern, "permutation") == 0) {
      cycle(rank, order, ranks, out, in, bytes);
    } else if (strcmp(pattern, "incast") == 0) {
      incast(rank, order, ranks, out, in, bytes);
    } else if (strcmp(pattern, "beside") == 0) {
      const int half = ranks / 2;
      for (int at = 0; at < half; ++at)
        if (order[at] == rank)
          observed = 0;
      if (observed)
        cycle(rank, order + half, ranks - half, out, in, bytes);
      else
        incast(rank, order, half, out, in, bytes);
    } else if (strcmp(pattern, "alltoall") == 0) {
      MPI_Alltoall(out, bytes / ranks, MPI_BYTE, in, bytes / ranks, MPI_BYTE, MPI_COMM_WORLD);
    } else if (strcmp(pattern, "switches") == 0) {
      MPI_Allreduce(out, in, bytes / (int)sizeof(int), MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(pattern, "allreduce") == 0) {
      MPI_Allreduce(out, in, bytes / (int)sizeof(double), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(pattern, "bcast") == 0) {
      MPI_Bcast(out, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    } else if (strcmp(pattern, "allgather") == 0) {
      MPI_Allgather(out, bytes / ranks, MPI_BYTE, in, bytes / ranks, MPI_BYTE, MPI_COMM_WORLD);
    } else {
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const double own = observed ? MPI_Wtime() - begin : 0;
    double last;
    MPI_Reduce(&own, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    sum += last / times;
  }
  if (rank == 0)
    printf("%.9g\n", sum);
  free(order);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
