/* SPDX-License-Identifier: LGPL-2.1-only */
/* Times of each collective by size, over all ranks: `one_call BYTES...` prints "collective bytes single row".
 *
 * BYTES is the size of the whole vector, or of all parts together. `single` is the time of one call, from its start to
 * the end of the last rank; `row` is the time per call of ten consecutive calls. Times are in seconds. Each measurement
 * starts at a whole second of the simulated clock, after a warm-up call, because SMPI's first calls set something up.
 * Requires --cfg=smpi/wtime:0.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ALLREDUCE, REDUCE, BCAST, BARRIER, ALLGATHER, REDUCE_SCATTER, COLLECTIVES };
static const char* const NAMES[COLLECTIVES] = {"allreduce", "reduce",    "bcast",
                                               "barrier",   "allgather", "reduce_scatter"};

static void call(int collective, const int* send, int* receive, int ints, const int* parts)
{
  MPI_Comm comm = MPI_COMM_WORLD;
  switch (collective) {
    case ALLREDUCE:
      MPI_Allreduce(send, receive, ints, MPI_INT, MPI_SUM, comm);
      break;
    case REDUCE:
      MPI_Reduce(send, receive, ints, MPI_INT, MPI_SUM, 0, comm);
      break;
    case BCAST:
      MPI_Bcast(receive, ints, MPI_INT, 0, comm);
      break;
    case BARRIER:
      MPI_Barrier(comm);
      break;
    case ALLGATHER:
      MPI_Allgather(send, parts[0], MPI_INT, receive, parts[0], MPI_INT, comm);
      break;
    default:
      MPI_Reduce_scatter(send, receive, parts, MPI_INT, MPI_SUM, comm);
  }
}

static void wait_until(double second)
{
  double left          = second - MPI_Wtime();
  struct timespec time = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
  nanosleep(&time, NULL);
}

enum { WARM_UP = 1, SINGLE = 1, ROW = 10, TIMES = 3 };
static const int CALLS[TIMES] = {WARM_UP, SINGLE, ROW};

int main(int argc, char** argv)
{
  int rank, ranks;
  double second = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int* parts = malloc((size_t)ranks * sizeof(int));
  for (int argument = 1; argument < argc; argument++) {
    int bytes = atoi(argv[argument]), ints = bytes / (int)sizeof(int);
    int *send = calloc((size_t)ints, sizeof(int)), *receive = calloc((size_t)ints, sizeof(int));
    for (int part = 0; part < ranks; part++)
      parts[part] = ints / ranks;
    for (int collective = 0; collective < COLLECTIVES; collective++) {
      double took[TIMES], last[TIMES];
      if ((collective == ALLGATHER || collective == REDUCE_SCATTER) && ints < ranks)
        continue;
      for (int time = 0; time < TIMES; time++) {
        MPI_Barrier(MPI_COMM_WORLD); // separates a single call from others like it
        wait_until(++second);
        took[time] = -MPI_Wtime();
        for (int repeat = 0; repeat < CALLS[time]; repeat++)
          call(collective, send, receive, ints, parts);
        took[time] += MPI_Wtime();
      }
      MPI_Reduce(took, last, TIMES, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      if (rank == 0)
        printf("%s %d %.12g %.12g\n", NAMES[collective], bytes, last[1], last[2] / ROW);
    }
    free(send);
    free(receive);
  }
  free(parts);
  MPI_Finalize();
  return 0;
}
