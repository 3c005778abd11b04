/* SPDX-License-Identifier: LGPL-2.1-only */
/* Times of every collective by size, entered by all ranks together: `timed_collectives BYTES...` prints "collective
 * bytes single row".
 *
 * BYTES is the size of a vector, or of one rank's block. `single` is the time of one call until its last rank has left;
 * `row` is the time of one of ten successive calls, the first of which follows another call of the same kind. In
 * seconds; each begins at a whole second of the simulated clock. Requires --cfg=smpi/wtime:0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROW = 10, ROOT = 1 };
static const char* const NAMES[] = {"allgather",
                                    "allreduce",
                                    "alltoall",
                                    "alltoallv",
                                    "barrier",
                                    "bcast",
                                    "exscan",
                                    "gather",
                                    "gatherv",
                                    "reduce",
                                    "scatter",
                                    "reduce_scatter",
                                    "reduce_scatter_block",
                                    "scan",
                                    "scatterv",
                                    "iallgather",
                                    "iallreduce",
                                    "ialltoall",
                                    "ibarrier",
                                    "ibcast",
                                    "igather",
                                    "ireduce",
                                    "iscatter",
                                    "allgatherv"};
enum { COLLECTIVES = sizeof NAMES / sizeof *NAMES };

struct buffers {
  int *send, *receive, *counts, *places;
};

static void call(int collective, const struct buffers* all, int n)
{
  MPI_Comm c        = MPI_COMM_WORLD;
  MPI_Datatype t    = MPI_INT;
  MPI_Op o          = MPI_SUM;
  MPI_Request wait  = MPI_REQUEST_NULL;
  const int* s      = all->send;
  const int* counts = all->counts;
  const int* places = all->places;
  int* r            = all->receive;
  switch (collective) {
    case 0:
      MPI_Allgather(s, n, t, r, n, t, c);
      break;
    case 1:
      MPI_Allreduce(s, r, n, t, o, c);
      break;
    case 2:
      MPI_Alltoall(s, n, t, r, n, t, c);
      break;
    case 3:
      MPI_Alltoallv(s, counts, places, t, r, counts, places, t, c);
      break;
    case 4:
      MPI_Barrier(c);
      break;
    case 5:
      MPI_Bcast(r, n, t, ROOT, c);
      break;
    case 6:
      MPI_Exscan(s, r, n, t, o, c);
      break;
    case 7:
      MPI_Gather(s, n, t, r, n, t, ROOT, c);
      break;
    case 8:
      MPI_Gatherv(s, n, t, r, counts, places, t, ROOT, c);
      break;
    case 9:
      MPI_Reduce(s, r, n, t, o, ROOT, c);
      break;
    case 10:
      MPI_Scatter(s, n, t, r, n, t, ROOT, c);
      break;
    case 11:
      MPI_Reduce_scatter(s, r, counts, t, o, c);
      break;
    case 12:
      MPI_Reduce_scatter_block(s, r, n, t, o, c);
      break;
    case 13:
      MPI_Scan(s, r, n, t, o, c);
      break;
    case 14:
      MPI_Scatterv(s, counts, places, t, r, n, t, ROOT, c);
      break;
    case 15:
      MPI_Iallgather(s, n, t, r, n, t, c, &wait);
      break;
    case 16:
      MPI_Iallreduce(s, r, n, t, o, c, &wait);
      break;
    case 17:
      MPI_Ialltoall(s, n, t, r, n, t, c, &wait);
      break;
    case 18:
      MPI_Ibarrier(c, &wait);
      break;
    case 19:
      MPI_Ibcast(r, n, t, ROOT, c, &wait);
      break;
    case 20:
      MPI_Igather(s, n, t, r, n, t, ROOT, c, &wait);
      break;
    case 21:
      MPI_Ireduce(s, r, n, t, o, ROOT, c, &wait);
      break;
    case 22:
      MPI_Iscatter(s, n, t, r, n, t, ROOT, c, &wait);
      break;
    default:
      MPI_Allgatherv(s, n, t, r, counts, places, t, c);
  }
  MPI_Wait(&wait, MPI_STATUS_IGNORE);
}

static void wait_until(double second)
{
  double left          = second - MPI_Wtime();
  struct timespec time = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
  nanosleep(&time, NULL);
}

static double timed(int collective, const struct buffers* all, int ints, int calls, double second)
{
  wait_until(second);
  double start = MPI_Wtime(), mine, last;
  for (int repeat = 0; repeat < calls; repeat++)
    call(collective, all, ints);
  mine = MPI_Wtime() - start;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0,
             MPI_COMM_WORLD); // so that the next call does not follow another of its kind
  return last / calls;
}

int main(int argc, char** argv)
{
  int rank, ranks;
  struct buffers all;
  double second = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  all.counts = malloc((size_t)ranks * sizeof(int));
  all.places = malloc((size_t)ranks * sizeof(int));
  for (int argument = 1; argument < argc; argument++) {
    int bytes = atoi(argv[argument]), ints = bytes / (int)sizeof(int);
    all.send    = calloc((size_t)ints * (size_t)ranks, sizeof(int));
    all.receive = calloc((size_t)ints * (size_t)ranks, sizeof(int));
    for (int other = 0; other < ranks; other++) {
      all.counts[other] = ints;
      all.places[other] = ints * other;
    }
    for (int collective = 0; collective < COLLECTIVES; collective++) {
      timed(collective, &all, ints, 1, ++second); // SMPI's first calls set up internal state
      double single = timed(collective, &all, ints, 1, ++second);
      double row    = timed(collective, &all, ints, ROW, ++second);
      if (rank == 0)
        printf("%s %d %.12g %.12g\n", NAMES[collective], bytes, single, row);
    }
    free(all.send);
    free(all.receive);
  }
  free(all.counts);
  free(all.places);
  MPI_Finalize();
  return 0;
}
