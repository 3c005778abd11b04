/* SPDX-License-Identifier: LGPL-2.1-only */
/* Allgathers of BYTES bytes per rank among the first LEAST, LEAST + 1, … ranks of each half of
 * MPI_COMM_WORLD, in sequence, both halves concurrently: each begins EVERY microseconds after the
 * previous one, at the same instant for all of its ranks. A half's first rank prints its half, the
 * number of ranks, and the time of the last rank's end after that instant. Usage:
 * multicast_of_first BYTES EVERY LEAST. Buffers are neither filled nor read, so that a simulator
 * may share their memory among the ranks. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>

static const double FLOPS = 1e9; /* of a host, per second */

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int bytes    = atoi(argv[1]);
  const double every = atof(argv[2]) * 1e-6;
  const int least    = atoi(argv[3]);
  const int half     = 2 * rank / ranks;
  const int number   = rank - half * ranks / 2;
  char* own          = malloc(bytes);
  char* all          = malloc((size_t)ranks / 2 * bytes);
  for (int first = least; first <= ranks / 2; ++first) {
    MPI_Comm some;
    MPI_Comm_split(MPI_COMM_WORLD, number < first ? half : MPI_UNDEFINED, number, &some);
    const double start = (first - least + 1) * every;
    if (MPI_Wtime() > start)
      MPI_Abort(MPI_COMM_WORLD, 1);
    smpi_execute_flops((start - MPI_Wtime()) * FLOPS); /* exact, whereas sleeps are rounded to nanoseconds */
    if (number >= first)
      continue;
    MPI_Allgather(own, bytes, MPI_CHAR, all, bytes, MPI_CHAR, some);
    const double took = MPI_Wtime() - start;
    double last       = 0;
    MPI_Reduce(&took, &last, 1, MPI_DOUBLE, MPI_MAX, 0, some);
    MPI_Comm_free(&some);
    if (number == 0)
      printf("%d %d %.17g\n", half, first, last);
  }
  free(own);
  free(all);
  MPI_Finalize();
  return 0;
}
