/* SPDX-License-Identifier: LGPL-2.1-only */
/* crowd MESSAGES BYTES: each rank posts MESSAGES receives and sends of BYTES at once, from and to ranks at
 * pseudo-random distances that are the same for all ranks. Rank 0 prints the microseconds until all ranks have
 * finished. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int count, char** words)
{
  MPI_Init(&count, &words);
  int rank;
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int messages    = atoi(words[1]);
  const int bytes       = atoi(words[2]);
  char* data            = malloc((size_t)bytes + 1);
  MPI_Request* requests = malloc(2 * (size_t)messages * sizeof(MPI_Request));
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  unsigned random    = 12345;
  for (int message = 0; message < messages; ++message) {
    random          = random * 1664525U + 1013904223U;
    const int shift = 1 + (int)((random >> 8) % (unsigned)(ranks - 1));
    MPI_Irecv(data, bytes, MPI_CHAR, (rank - shift + ranks) % ranks, message, MPI_COMM_WORLD, &requests[2 * message]);
    MPI_Isend(data, bytes, MPI_CHAR, (rank + shift) % ranks, message, MPI_COMM_WORLD, &requests[2 * message + 1]);
  }
  MPI_Waitall(2 * messages, requests, MPI_STATUSES_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    printf("%.6f\n", (MPI_Wtime() - begin) * 1e6);
  MPI_Finalize();
  return 0;
}
