/* SPDX-License-Identifier: LGPL-2.1-only */
/* Exchanges over a routed network: `routing alone|permutation|pairs|shift BYTES PATTERNS [BY]`.
 *
 * In each pattern every rank sends BYTES to one other and receives as many: of the next rank of a random cycle, of its
 * partner in random pairs, or BY ranks further on. Alone are the first and the last rank; others do nothing. Rank 0
 * prints for each pattern the mean and the last time of the ranks, in seconds, and the mean of BYTES divided by the
 * ranks' times.
 */
#define _POSIX_C_SOURCE 199309L
#include "patterns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 4)
    MPI_Abort(MPI_COMM_WORLD, 2);
  const char* kind   = argv[1];
  const int bytes    = atoi(argv[2]);
  const int patterns = atoi(argv[3]);
  const int by       = argc > 4 ? atoi(argv[4]) : 1;
  char* out          = malloc((size_t)bytes);
  char* in           = malloc((size_t)bytes);
  int* order         = malloc((size_t)ranks * sizeof *order);
  uint64_t state     = 1;
  for (int pattern = 0; pattern < patterns; ++pattern) {
    shuffle(order, ranks, &state);
    int to   = (rank + by) % ranks;
    int from = (rank + ranks - by % ranks) % ranks;
    for (int at = 0; at < ranks; ++at) {
      if (strcmp(kind, "permutation") == 0 && order[at] == rank) {
        to   = order[(at + 1) % ranks];
        from = order[(at + ranks - 1) % ranks];
      }
      if (strcmp(kind, "alone") == 0)
        to = from = ranks - 1 - rank;
      if (strcmp(kind, "pairs") == 0 && order[at] == rank)
        to = from = order[at % 2 == 0 ? (at + 1) % ranks : at - 1];
    }
    start_together();
    const double begin = MPI_Wtime();
    const int idle     = strcmp(kind, "alone") == 0 && rank > 0 && rank < ranks - 1;
    if (idle)
      to = from = MPI_PROC_NULL;
    MPI_Sendrecv(out, bytes, MPI_BYTE, to, 0, in, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const double time   = MPI_Wtime() - begin;
    const double own[2] = {idle ? 0 : time, idle ? 0 : bytes / time};
    double sums[2];
    double last;
    MPI_Reduce(own, sums, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(own, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    const int active = strcmp(kind, "alone") == 0 ? 2 : ranks;
    if (rank == 0)
      printf("%.9g %.9g %.9g\n", sums[0] / active, last, sums[1] / active);
  }
  free(order);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
