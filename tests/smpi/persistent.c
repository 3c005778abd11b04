/* SPDX-License-Identifier: LGPL-2.1-only */
/* Persistent collectives, each started several times and compared with the blocking form: `persistent SEED ROUNDS`
 * prints `right` per rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 64, MOST_RANKS = 16, KINDS = 22, SPACE = COUNT * MOST_RANKS };

static int rank, size, numbers[MOST_RANKS], places[MOST_RANKS];
static MPI_Aint offsets[MOST_RANKS];
static int byte_places[MOST_RANKS];
static MPI_Datatype types[MOST_RANKS];
static int sent[KINDS][SPACE], got[KINDS][SPACE], expected[SPACE];

static void make(int kind, MPI_Comm comm, MPI_Comm ring, MPI_Request* request)
{
  int *s = sent[kind], *g = got[kind], root = (kind * 3) % size;
  MPI_Info info = MPI_INFO_NULL;
  switch (kind) {
    case 0:
      MPI_Barrier_init(comm, info, request);
      break;
    case 1:
      MPI_Bcast_init(g, COUNT, MPI_INT, root, comm, info, request);
      break;
    case 2:
      MPI_Allreduce_init(s, g, COUNT, MPI_INT, MPI_SUM, comm, info, request);
      break;
    case 3:
      MPI_Reduce_init(s, g, COUNT, MPI_INT, MPI_MAX, root, comm, info, request);
      break;
    case 4:
      MPI_Scan_init(s, g, COUNT, MPI_INT, MPI_SUM, comm, info, request);
      break;
    case 5:
      MPI_Exscan_init(s, g, COUNT, MPI_INT, MPI_SUM, comm, info, request);
      break;
    case 6:
      MPI_Reduce_scatter_init(s, g, numbers, MPI_INT, MPI_SUM, comm, info, request);
      break;
    case 7:
      MPI_Reduce_scatter_block_init(s, g, 3, MPI_INT, MPI_SUM, comm, info, request);
      break;
    case 8:
      MPI_Allgather_init(s, 5, MPI_INT, g, 5, MPI_INT, comm, info, request);
      break;
    case 9:
      MPI_Allgatherv_init(s, numbers[rank], MPI_INT, g, numbers, places, MPI_INT, comm, info, request);
      break;
    case 10:
      MPI_Gather_init(s, 5, MPI_INT, g, 5, MPI_INT, root, comm, info, request);
      break;
    case 11:
      MPI_Gatherv_init(s, numbers[rank], MPI_INT, g, numbers, places, MPI_INT, root, comm, info, request);
      break;
    case 12:
      MPI_Scatter_init(s, 5, MPI_INT, g, 5, MPI_INT, root, comm, info, request);
      break;
    case 13:
      MPI_Scatterv_init(s, numbers, places, MPI_INT, g, numbers[rank], MPI_INT, root, comm, info, request);
      break;
    case 14:
      MPI_Alltoall_init(s, 5, MPI_INT, g, 5, MPI_INT, comm, info, request);
      break;
    case 15:
      MPI_Alltoallv_init(s, numbers, places, MPI_INT, g, numbers, places, MPI_INT, comm, info, request);
      break;
    case 16:
      MPI_Alltoallw_init(s, numbers, byte_places, types, g, numbers, byte_places, types, comm, info, request);
      break;
    case 17:
      MPI_Neighbor_allgather_init(s, 4, MPI_INT, g, 4, MPI_INT, ring, info, request);
      break;
    case 18:
      MPI_Neighbor_allgatherv_init(s, 4, MPI_INT, g, numbers, places, MPI_INT, ring, info, request);
      break;
    case 19:
      MPI_Neighbor_alltoall_init(s, 4, MPI_INT, g, 4, MPI_INT, ring, info, request);
      break;
    case 20:
      MPI_Neighbor_alltoallv_init(s, numbers, places, MPI_INT, g, numbers, places, MPI_INT, ring, info, request);
      break;
    default:
      MPI_Neighbor_alltoallw_init(s, numbers, offsets, types, g, numbers, offsets, types, ring, info, request);
      break;
  }
}

static void make_old(int kind, MPI_Comm comm, MPI_Comm ring)
{
  int *s = sent[kind], *g = expected, root = (kind * 3) % size;
  switch (kind) {
    case 0:
      MPI_Barrier(comm);
      break;
    case 1:
      MPI_Bcast(g, COUNT, MPI_INT, root, comm);
      break;
    case 2:
      MPI_Allreduce(s, g, COUNT, MPI_INT, MPI_SUM, comm);
      break;
    case 3:
      MPI_Reduce(s, g, COUNT, MPI_INT, MPI_MAX, root, comm);
      break;
    case 4:
      MPI_Scan(s, g, COUNT, MPI_INT, MPI_SUM, comm);
      break;
    case 5:
      MPI_Exscan(s, g, COUNT, MPI_INT, MPI_SUM, comm);
      break;
    case 6:
      MPI_Reduce_scatter(s, g, numbers, MPI_INT, MPI_SUM, comm);
      break;
    case 7:
      MPI_Reduce_scatter_block(s, g, 3, MPI_INT, MPI_SUM, comm);
      break;
    case 8:
      MPI_Allgather(s, 5, MPI_INT, g, 5, MPI_INT, comm);
      break;
    case 9:
      MPI_Allgatherv(s, numbers[rank], MPI_INT, g, numbers, places, MPI_INT, comm);
      break;
    case 10:
      MPI_Gather(s, 5, MPI_INT, g, 5, MPI_INT, root, comm);
      break;
    case 11:
      MPI_Gatherv(s, numbers[rank], MPI_INT, g, numbers, places, MPI_INT, root, comm);
      break;
    case 12:
      MPI_Scatter(s, 5, MPI_INT, g, 5, MPI_INT, root, comm);
      break;
    case 13:
      MPI_Scatterv(s, numbers, places, MPI_INT, g, numbers[rank], MPI_INT, root, comm);
      break;
    case 14:
      MPI_Alltoall(s, 5, MPI_INT, g, 5, MPI_INT, comm);
      break;
    case 15:
      MPI_Alltoallv(s, numbers, places, MPI_INT, g, numbers, places, MPI_INT, comm);
      break;
    case 16:
      MPI_Alltoallw(s, numbers, byte_places, types, g, numbers, byte_places, types, comm);
      break;
    case 17:
      MPI_Neighbor_allgather(s, 4, MPI_INT, g, 4, MPI_INT, ring);
      break;
    case 18:
      MPI_Neighbor_allgatherv(s, 4, MPI_INT, g, numbers, places, MPI_INT, ring);
      break;
    case 19:
      MPI_Neighbor_alltoall(s, 4, MPI_INT, g, 4, MPI_INT, ring);
      break;
    case 20:
      MPI_Neighbor_alltoallv(s, numbers, places, MPI_INT, g, numbers, places, MPI_INT, ring);
      break;
    default:
      MPI_Neighbor_alltoallw(s, numbers, offsets, types, g, numbers, offsets, types, ring);
      break;
  }
}

static void complete(int round, MPI_Request* requests)
{
  int left = KINDS, which, ended, all[KINDS];
  switch (round % 5) {
    case 0:
      MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE);
      break;
    case 1:
      for (int i = 0; i < KINDS; i++)
        MPI_Wait(requests + i, MPI_STATUS_IGNORE);
      break;
    case 2:
      for (; left > 0; left--)
        MPI_Waitany(KINDS, requests, &which, MPI_STATUS_IGNORE);
      break;
    case 3:
      for (int flag = 0; !flag;)
        MPI_Testall(KINDS, requests, &flag, MPI_STATUSES_IGNORE);
      break;
    default:
      for (; left > 0; left -= ended)
        MPI_Waitsome(KINDS, requests, &ended, all, MPI_STATUSES_IGNORE);
      break;
  }
}

int main(int argc, char** argv)
{
  int seed = atoi(argv[1]), rounds = atoi(argv[2]), periodic = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  for (int i = 0; i < MOST_RANKS; i++) {
    numbers[i]     = 4;
    places[i]      = 4 * (MOST_RANKS - 1 - i);
    byte_places[i] = (int)sizeof(int) * places[i];
    offsets[i]     = byte_places[i];
    types[i]       = MPI_INT;
  }
  MPI_Request requests[KINDS];
  for (int kind = 0; kind < KINDS; kind++)
    make(kind, MPI_COMM_WORLD, ring, requests + kind);
  for (int round = 0; round < rounds; round++) {
    for (int kind = 0; kind < KINDS; kind++)
      for (int i = 0; i < SPACE; i++) {
        sent[kind][i] = seed + 7 * round + 13 * kind + 1000 * rank + i;
        got[kind][i]  = kind == 1 ? sent[kind][i] : 0;
      }
    if (round % 2)
      MPI_Startall(KINDS, requests);
    else
      for (int kind = 0; kind < KINDS; kind++)
        MPI_Start(requests + kind);
    complete(round, requests);
    MPI_Waitall(KINDS, requests, MPI_STATUSES_IGNORE); /* inactive: returns immediately */
    for (int kind = 0; kind < KINDS; kind++) {
      for (int i = 0; i < SPACE; i++)
        expected[i] = kind == 1 ? sent[kind][i] : 0;
      make_old(kind, MPI_COMM_WORLD, ring);
      if (kind != 5 || rank > 0)
        if (memcmp(expected, got[kind], sizeof expected) != 0) {
          printf("wrong: call %d, round %d, rank %d\n", kind, round, rank);
          MPI_Abort(MPI_COMM_WORLD, 1);
        }
    }
  }
  for (int kind = 0; kind < KINDS; kind++)
    MPI_Request_free(requests + kind);
  if (requests[0] != MPI_REQUEST_NULL)
    printf("wrong: not freed\n");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int data = 0;
  if (MPI_Allreduce_init(&data, &data + 1, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, requests) !=
          MPI_ERR_COUNT ||
      MPI_Bcast_init(&data, 1, MPI_INT, size, MPI_COMM_WORLD, MPI_INFO_NULL, requests) != MPI_ERR_ROOT)
    printf("wrong: error class\n");
  MPI_Comm_free(&ring);
  printf("right\n");
  MPI_Finalize();
  return 0;
}
