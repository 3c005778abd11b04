/* SPDX-License-Identifier: LGPL-2.1-only */
/* Time that rank 0 takes to send one message to every other rank at once, or to receive one from each: `fan out|in
 * BYTES`.
 *
 * Rank 0 prints "bytes seconds" for the second repetition. Requires --cfg=smpi/wtime:0.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double fan(int out, char* data, int bytes, int rank, int ranks)
{
  MPI_Request* requests = malloc((size_t)ranks * sizeof *requests);
  int posted            = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime();
  for (int other = rank == 0 ? 1 : 0; other < (rank == 0 ? ranks : 1); ++other)
    if (out == (rank == 0))
      MPI_Isend(data, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[posted++]);
    else
      MPI_Irecv(data, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[posted++]);
  MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
  free(requests);
  return MPI_Wtime() - start;
}

int main(int argc, char** argv)
{
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int out   = strcmp(argv[1], "out") == 0;
  const int bytes = atoi(argv[2]);
  char* data      = calloc(1, (size_t)bytes);
  fan(out, data, bytes, rank, ranks);
  const double time = fan(out, data, bytes, rank, ranks);
  if (rank == 0)
    printf("%d %.17g\n", bytes, time);
  free(data);
  MPI_Finalize();
  return 0;
}
