/* SPDX-License-Identifier: LGPL-2.1-only */
/* incast BYTES ROUNDS: all ranks send messages of BYTES to rank 0, which checks them; collectives follow. Rank 0 prints
 * the microseconds until it has received all messages of the first round, and "right" if all data was correct. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static char value(int rank, int round, int at)
{
  return (char)(rank * 31 + round * 7 + at);
}

int main(int count, char** words)
{
  MPI_Init(&count, &words);
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int bytes  = atoi(words[1]);
  const int rounds = atoi(words[2]);
  char* data       = malloc((size_t)bytes * (size_t)ranks);
  long long wrong  = 0;
  double first     = 0;
  for (int round = 0; round < rounds; ++round) {
    const double begin = MPI_Wtime();
    if (rank == 0) {
      MPI_Request* requests = malloc((size_t)ranks * sizeof(MPI_Request));
      for (int from = 1; from < ranks; ++from)
        MPI_Irecv(data + (size_t)from * (size_t)bytes, bytes, MPI_CHAR, from, round, MPI_COMM_WORLD,
                  &requests[from - 1]);
      MPI_Waitall(ranks - 1, requests, MPI_STATUSES_IGNORE);
      free(requests);
      if (round == 0)
        first = MPI_Wtime() - begin;
      for (int from = 1; from < ranks; ++from)
        for (int at = 0; at < bytes; ++at)
          wrong += data[(size_t)from * (size_t)bytes + (size_t)at] != value(from, round, at);
    } else {
      for (int at = 0; at < bytes; ++at)
        data[at] = value(rank, round, at);
      MPI_Send(data, bytes, MPI_CHAR, 0, round, MPI_COMM_WORLD);
    }
    int sum        = rank + round;
    const int want = ranks * (ranks - 1) / 2 + ranks * round;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != want;
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%.6f %s\n", first * 1e6, wrong == 0 ? "right" : "wrong");
  free(data);
  MPI_Finalize();
  return 0;
}
