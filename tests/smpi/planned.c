/* SPDX-License-Identifier: LGPL-2.1-only */
/* Persistent collectives whose later starts use a plan: different data at each start, MPI_IN_PLACE, user-defined
 * datatypes and operations, communicators that the program frees first, and requests that are never freed. Two requests
 * are active at once, in different orders on different communicators.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { STARTS = 5, COUNT = 3 };

static int wrong;

static void expect(const char* what, int found, int right)
{
  if (found != right) {
    printf("%s: found %d, expected %d\n", what, found, right);
    wrong = 1;
  }
}

static void twice_sum(void* in, void* inout, int* count, MPI_Datatype* type)
{
  int size;
  MPI_Type_size(*type, &size);
  for (int i = 0; i < *count * size / (int)sizeof(int); i++)
    ((int*)inout)[i] += ((int*)in)[i];
}

static int sum_of_ranks(int ranks)
{
  return ranks * (ranks - 1) / 2;
}

int main(int argc, char** argv)
{
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Datatype triple;
  MPI_Type_contiguous(COUNT, MPI_INT, &triple);
  MPI_Type_commit(&triple);
  MPI_Op own;
  MPI_Op_create(twice_sum, 1, &own);

  int data[COUNT], sums[COUNT], in_place[COUNT], typed[COUNT], root_data[COUNT], all[64], blocks[64], sent[64];
  int counts[64], places[64], gathered[64], parts[64], mine;
  for (int i = 0; i < ranks; i++) {
    counts[i] = 1;
    places[i] = i;
  }
  enum { PLAIN, IN_PLACE, TYPED, BCAST, GATHER, GATHERV, ALLTOALL, PARTS, BLOCK, BARRIER, REQUESTS };
  MPI_Request requests[REQUESTS];
  MPI_Allreduce_init(data, sums, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[PLAIN]);
  MPI_Allreduce_init(MPI_IN_PLACE, in_place, COUNT, MPI_INT, MPI_MAX, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &requests[IN_PLACE]);
  MPI_Allreduce_init(data, typed, 1, triple, own, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[TYPED]);
  MPI_Bcast_init(root_data, COUNT, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[BCAST]);
  MPI_Allgather_init(data, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[GATHER]);
  MPI_Allgatherv_init(data, 1, MPI_INT, gathered, counts, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[GATHERV]);
  MPI_Alltoall_init(sent, 1, MPI_INT, blocks, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[ALLTOALL]);
  MPI_Reduce_scatter_init(sent, parts, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[PARTS]);
  MPI_Reduce_scatter_block_init(sent, &mine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[BLOCK]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[BARRIER]);
  MPI_Type_free(&triple); // the request keeps it alive

  for (int start = 0; start < STARTS; start++) {
    for (int i = 0; i < COUNT; i++) {
      data[i]      = rank + start * i;
      in_place[i]  = rank * start + i;
      root_data[i] = rank == 1 ? start + i : -1;
    }
    for (int i = 0; i < ranks; i++)
      sent[i] = rank * ranks + i + start;
    MPI_Startall(REQUESTS, requests);
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < COUNT; i++) {
      expect("Allreduce", sums[i], sum_of_ranks(ranks) + ranks * start * i);
      expect("Allreduce in place", in_place[i], (ranks - 1) * start + i);
      expect("Allreduce of own type", typed[i], sums[i]);
      expect("Bcast", root_data[i], start + i);
    }
    for (int i = 0; i < ranks; i++) {
      expect("Allgather", all[i], i);
      expect("Allgatherv", gathered[i], i);
      expect("Alltoall", blocks[i], i * ranks + rank + start);
    }
    expect("Reduce_scatter", parts[0], ranks * sum_of_ranks(ranks) + ranks * (rank + start));
    expect("Reduce_scatter_block", mine, parts[0]);
  }
  for (int i = 0; i < REQUESTS; i++)
    MPI_Request_free(&requests[i]);

  // Two active requests, on two communicators in different orders.
  int one = 0, two = 0;
  MPI_Request pair[2];
  MPI_Allreduce_init(data, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &pair[0]);
  MPI_Allreduce_init(data, &two, 1, MPI_INT, MPI_MAX, copy, MPI_INFO_NULL, &pair[1]);
  for (int start = 0; start < STARTS; start++) {
    data[0] = rank + start;
    MPI_Start(&pair[(rank + start) % 2]);
    MPI_Start(&pair[(rank + start + 1) % 2]);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    expect("first of a pair", one, sum_of_ranks(ranks) + ranks * start);
    expect("second of a pair", two, ranks - 1 + start);
  }
  MPI_Comm_free(&copy); // the requests of the pair are not freed

  if (!wrong)
    printf("rank %d is right\n", rank);
  MPI_Op_free(&own);
  MPI_Finalize();
  return wrong;
}
