/* SPDX-License-Identifier: LGPL-2.1-only */
/* Makes one call of a collective and prints when each rank entered and left it.
 *
 *     collectives NAME INTS ROOT [MICROSECONDS]
 *
 * NAME is allreduce, reduce, bcast, barrier, allgather, allgatherv, alltoall, reduce_scatter or reduce_scatter_block,
 * with a leading i for the non-blocking form, which sleeps for MICROSECONDS before it waits. INTS is the length of the
 * vector, of alltoall's blocks, or of rank 0's part: in the v forms and reduce_scatter, rank r has (r + 1) times as
 * many. Each rank prints "rank entered left"; a wrong result ends the program with status 1. Requires
 * --cfg=smpi/wtime:0.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_RANKS = 4096 };

static int rank, ranks, ints, root;
static int counts[MAX_RANKS], places[MAX_RANKS], all;
static int *send, *receive;

static int value(int of, int at)
{
  return (of + 1) * 1000 + at % 997;
}

static int sum(int at)
{
  int total = 0;
  for (int of = 0; of < ranks; of++)
    total += value(of, at);
  return total;
}

static int start(const char* name, MPI_Request* request)
{
  MPI_Comm comm = MPI_COMM_WORLD;
  int own       = counts[rank];
#define IS(what) (strcmp(name, what) == 0)
  if (IS("allreduce"))
    return MPI_Allreduce(send, receive, ints, MPI_INT, MPI_SUM, comm);
  if (IS("iallreduce"))
    return MPI_Iallreduce(send, receive, ints, MPI_INT, MPI_SUM, comm, request);
  if (IS("reduce"))
    return MPI_Reduce(send, receive, ints, MPI_INT, MPI_SUM, root, comm);
  if (IS("ireduce"))
    return MPI_Ireduce(send, receive, ints, MPI_INT, MPI_SUM, root, comm, request);
  if (IS("bcast"))
    return MPI_Bcast(rank == root ? send : receive, ints, MPI_INT, root, comm);
  if (IS("ibcast"))
    return MPI_Ibcast(rank == root ? send : receive, ints, MPI_INT, root, comm, request);
  if (IS("barrier"))
    return MPI_Barrier(comm);
  if (IS("ibarrier"))
    return MPI_Ibarrier(comm, request);
  if (IS("allgather"))
    return MPI_Allgather(send, ints, MPI_INT, receive, ints, MPI_INT, comm);
  if (IS("iallgather"))
    return MPI_Iallgather(send, ints, MPI_INT, receive, ints, MPI_INT, comm, request);
  if (IS("allgatherv"))
    return MPI_Allgatherv(send, own, MPI_INT, receive, counts, places, MPI_INT, comm);
  if (IS("iallgatherv"))
    return MPI_Iallgatherv(send, own, MPI_INT, receive, counts, places, MPI_INT, comm, request);
  if (IS("alltoall"))
    return MPI_Alltoall(send, ints, MPI_INT, receive, ints, MPI_INT, comm);
  if (IS("ialltoall"))
    return MPI_Ialltoall(send, ints, MPI_INT, receive, ints, MPI_INT, comm, request);
  if (IS("reduce_scatter"))
    return MPI_Reduce_scatter(send, receive, counts, MPI_INT, MPI_SUM, comm);
  if (IS("ireduce_scatter"))
    return MPI_Ireduce_scatter(send, receive, counts, MPI_INT, MPI_SUM, comm, request);
  if (IS("reduce_scatter_block"))
    return MPI_Reduce_scatter_block(send, receive, ints, MPI_INT, MPI_SUM, comm);
  if (IS("ireduce_scatter_block"))
    return MPI_Ireduce_scatter_block(send, receive, ints, MPI_INT, MPI_SUM, comm, request);
#undef IS
  fprintf(stderr, "collectives: no such collective: %s\n", name);
  exit(64);
}

static int check(const char* name)
{
  int wrong = 0;
  if (strstr(name, "allreduce") || (strcmp(name + (*name == 'i'), "reduce") == 0 && rank == root))
    for (int i = 0; i < ints; i++)
      wrong |= receive[i] != sum(i);
  else if (strstr(name, "bcast"))
    for (int i = 0; i < ints && rank != root; i++)
      wrong |= receive[i] != value(root, i);
  else if (strstr(name, "allgather"))
    for (int of = 0; of < ranks; of++)
      for (int i = 0; i < counts[of]; i++)
        wrong |= receive[places[of] + i] != value(of, i);
  else if (strstr(name, "alltoall"))
    for (int of = 0; of < ranks; of++)
      for (int i = 0; i < ints; i++)
        wrong |= receive[of * ints + i] != value(of, rank * ints + i);
  else if (strstr(name, "scatter"))
    for (int i = 0; i < counts[rank]; i++)
      wrong |= receive[i] != sum(places[rank] + i);
  else
    for (int i = 0; i < ints; i++)
      wrong |= receive[i] != -1;
  return wrong;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* name    = argv[1];
  ints                = atoi(argv[2]);
  root                = atoi(argv[3]);
  int equal_parts     = strstr(name, "allgatherv") == NULL && strstr(name, "reduce_scatter") == NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  if (strstr(name, "block"))
    equal_parts = 1;
  for (int of = 0; of < ranks; of++) {
    counts[of] = equal_parts ? ints : (of + 1) * ints;
    places[of] = all;
    all += counts[of];
  }
  send    = malloc(sizeof(int) * (size_t)(all + 1));
  receive = malloc(sizeof(int) * (size_t)(all + 1));
  for (int i = 0; i < all; i++)
    send[i] = value(rank, i);
  memset(receive, -1, sizeof(int) * (size_t)(all + 1));

  double entered = MPI_Wtime();
  start(name, &request);
  if (argc > 4)
    usleep((unsigned)atoi(argv[4]));
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("%d %.17g %.17g\n", rank, entered, MPI_Wtime());
  int wrong = check(name);
  free(send);
  free(receive);
  MPI_Finalize();
  return wrong;
}
