/* SPDX-License-Identifier: LGPL-2.1-only */
/* Program of the trace beside it: calls of MPI 2 that DUMPI records, on several communicators.
 *
 * The trace was made from this file on 2026-11-29 with 4 ranks of Open MPI 4.1.4 and libdumpi 13.0.0 (sst-dumpi
 * 05d95634), preloaded; its files were renamed. Polls of MPI_Testall vary. */
#include <mpi.h>

enum { MOST = 8, LONG = 4096 };

static double from[LONG];
static double into[16 * LONG];

static void messages(int rank, int ranks)
{
  const MPI_Comm world = MPI_COMM_WORLD;
  const int next       = (rank + 1) % ranks;
  const int last       = (rank + ranks - 1) % ranks;
  MPI_Request request[2];
  MPI_Status status[2];
  MPI_Isend(from, 512, MPI_DOUBLE, next, 5, world, request);
  MPI_Irecv(into, LONG, MPI_DOUBLE, MPI_ANY_SOURCE, 5, world, request + 1);
  MPI_Waitall(2, request, status);
  if (rank == 0)
    MPI_Send(from, LONG, MPI_DOUBLE, 1, 7, world);
  if (rank == 1)
    MPI_Recv(into, LONG, MPI_DOUBLE, 0, 7, world, MPI_STATUS_IGNORE);
  MPI_Sendrecv(from, 50, MPI_DOUBLE, next, 1, into, 50, MPI_DOUBLE, last, 1, world, status);
  const int above = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  MPI_Sendrecv(from, 50, MPI_DOUBLE, above, 1, into, 50, MPI_DOUBLE, below, 1, world, status);
  MPI_Sendrecv_replace(from, 20, MPI_INT, next, 2, last, 2, world, status);

  MPI_Send_init(from, 5, MPI_DOUBLE, next, 9, world, request);
  MPI_Recv_init(into, 5, MPI_DOUBLE, last, 9, world, request + 1);
  MPI_Startall(2, request);
  int place = 0;
  int ended = 0;
  int places[2];
  MPI_Waitany(2, request, &place, status);
  MPI_Waitsome(2, request, &ended, places, status);
  MPI_Request_free(request);
  MPI_Request_free(request + 1);

  MPI_Isend(from, 5, MPI_DOUBLE, next, 9, world, request);
  MPI_Irecv(into, 5, MPI_DOUBLE, last, 9, world, request + 1);
  int flag = 0;
  while (!flag)
    MPI_Testall(2, request, &flag, status);

  MPI_Datatype blocks;
  MPI_Type_vector(4, 2, 4, MPI_DOUBLE, &blocks);
  MPI_Type_commit(&blocks);
  MPI_Sendrecv(from, 3, blocks, next, 1, into, 3, blocks, last, 1, world, status);
  MPI_Type_free(&blocks);
}

static void collectives(int rank, int ranks)
{
  const MPI_Comm world = MPI_COMM_WORLD;
  int counts[MOST];
  int places[MOST];
  int equal[MOST];
  for (int k = 0; k < ranks; ++k) {
    counts[k] = 10 * (k + 1);
    places[k] = 100 * k;
    equal[k]  = 8;
  }
  const int own = counts[rank];
  MPI_Barrier(world);
  MPI_Allgather(from, 9, MPI_DOUBLE, into, 9, MPI_DOUBLE, world);
  MPI_Allgatherv(from, own, MPI_DOUBLE, into, counts, places, MPI_DOUBLE, world);
  MPI_Gatherv(from, own, MPI_DOUBLE, into, counts, places, MPI_DOUBLE, 2, world);
  MPI_Scatterv(into, counts, places, MPI_DOUBLE, from, own, MPI_DOUBLE, 2, world);
  MPI_Alltoall(from, 100, MPI_DOUBLE, into, 100, MPI_DOUBLE, world);
  MPI_Alltoallv(from, equal, places, MPI_INT, into, equal, places, MPI_INT, world);
  MPI_Gather(from, 10, MPI_DOUBLE, into, 10, MPI_DOUBLE, 0, world);
  MPI_Scatter(into, 10, MPI_DOUBLE, from, 10, MPI_DOUBLE, 0, world);
  MPI_Reduce_scatter(into, from, equal, MPI_DOUBLE, MPI_SUM, world);
  MPI_Scan(from, into, 8, MPI_DOUBLE, MPI_SUM, world);
  MPI_Exscan(from, into, 8, MPI_DOUBLE, MPI_MIN, world);
}

static void communicators(int rank, int ranks)
{
  MPI_Comm row;
  MPI_Comm copy;
  MPI_Comm grid;
  MPI_Comm column;
  MPI_Comm odd;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &row);
  MPI_Comm_dup(row, &copy);
  const int sizes[2]   = {ranks / 2, 2};
  const int periods[2] = {1, 1};
  const int kept[2]    = {1, 0};
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
  MPI_Cart_sub(grid, kept, &column);
  MPI_Group all;
  MPI_Group some;
  const int chosen[2] = {1, 3};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 2, chosen, &some);
  MPI_Comm_create(MPI_COMM_WORLD, some, &odd);
  MPI_Allreduce(from, into, 64, MPI_DOUBLE, MPI_SUM, row);
  MPI_Allreduce(from, into, 63, MPI_INT, MPI_MAX, copy);
  MPI_Bcast(from, 1000, MPI_INT, 0, column);
  MPI_Reduce(from, into, 100, MPI_DOUBLE, MPI_SUM, 1, grid);
  if (odd != MPI_COMM_NULL)
    MPI_Barrier(odd);
  MPI_Comm_free(&row);
}

int main(int argc, char** argv)
{
  int rank  = 0;
  int ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  messages(rank, ranks);
  collectives(rank, ranks);
  communicators(rank, ranks);
  MPI_Finalize();
  return 0;
}
