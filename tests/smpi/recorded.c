/* SPDX-License-Identifier: LGPL-2.1-only */
/* Calls that weft's traces record and SimGrid's do not, one kind per part: `recorded PART`. For an even number of at
 * least four ranks.
 */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 3000, STEPS = 4 };

static int rank, ranks;
static double out[64 * COUNT], in[64 * COUNT];

static int left(void)
{
  return (rank + ranks - 1) % ranks;
}

static int right(void)
{
  return (rank + 1) % ranks;
}

/* Starts messages of different sizes, which arrive at different times; the last request is null. */
static void open_some(MPI_Request* requests)
{
  for (int i = 0; i < 3; i++) {
    MPI_Irecv(in + i * COUNT, COUNT, MPI_DOUBLE, left(), i, MPI_COMM_WORLD, &requests[i]);
    MPI_Isend(out, COUNT / (i + 1), MPI_DOUBLE, right(), i, MPI_COMM_WORLD, &requests[3 + i]);
  }
  requests[6] = MPI_REQUEST_NULL;
}

static void waitany(void)
{
  MPI_Request requests[7];
  for (int step = 0; step < STEPS; step++) {
    int index = 0;
    open_some(requests);
    while (index != MPI_UNDEFINED) {
      MPI_Waitany(7, requests, &index, MPI_STATUS_IGNORE);
      smpi_execute_benched(1e-6 * (index == MPI_UNDEFINED ? 0 : index + rank));
    }
  }
}

static void waitsome(void)
{
  MPI_Request requests[7];
  int indices[7];
  for (int step = 0; step < STEPS; step++) {
    int count = 0;
    open_some(requests);
    while (count != MPI_UNDEFINED) {
      MPI_Waitsome(7, requests, &count, indices, MPI_STATUSES_IGNORE);
      if (count != MPI_UNDEFINED)
        smpi_execute_benched(1e-6 * (count + rank));
    }
  }
}

static void testall(void)
{
  MPI_Request requests[7];
  for (int step = 0; step < STEPS; step++) {
    int done = 0;
    open_some(requests);
    while (!done) {
      MPI_Testall(7, requests, &done, MPI_STATUSES_IGNORE);
      smpi_execute_benched(1e-6 * rank);
    }
  }
}

static void testany(void)
{
  MPI_Request requests[7];
  for (int step = 0; step < STEPS; step++) {
    int index = 0, done = 0;
    open_some(requests);
    while (!done || index != MPI_UNDEFINED) {
      MPI_Testany(7, requests, &index, &done, MPI_STATUS_IGNORE);
      smpi_execute_benched(1e-6 * rank);
    }
  }
}

static void testsome(void)
{
  MPI_Request requests[7];
  int indices[7];
  for (int step = 0; step < STEPS; step++) {
    int count = 0;
    open_some(requests);
    while (count != MPI_UNDEFINED) {
      MPI_Testsome(7, requests, &count, indices, MPI_STATUSES_IGNORE);
      smpi_execute_benched(1e-6 * rank);
    }
  }
}

static void probes(void)
{
  for (int step = 0; step < STEPS; step++) {
    int there = 0;
    MPI_Status status;
    MPI_Request request;
    smpi_execute_benched(1e-6 * rank);
    MPI_Isend(out, COUNT, MPI_INT, right(), 5, MPI_COMM_WORLD, &request);
    while (!there)
      MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &there,
                 &status); /* the second neighbour's message may arrive first */
    MPI_Recv(in, COUNT, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(out, COUNT, MPI_INT, left(), 6, MPI_COMM_WORLD, &request);
    MPI_Probe(right(), 6, MPI_COMM_WORLD, &status);
    MPI_Recv(in, COUNT, MPI_INT, right(), 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void persistent(void)
{
  MPI_Request requests[3];
  int index;
  MPI_Recv_init(in, COUNT, MPI_INT, left(), 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out, COUNT, MPI_INT, right(), 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Ssend_init(out, COUNT, MPI_INT, right(), 1, MPI_COMM_WORLD, &requests[2]);
  for (int step = 0; step < STEPS; step++) {
    MPI_Startall(2, requests);
    MPI_Start(&requests[2]);
    MPI_Recv(in, COUNT, MPI_INT, left(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < 3; i++)
    MPI_Request_free(&requests[i]);
}

/* Rows and columns of a grid, halves of different sizes, a duplicate; calls on all of them, with roots other than 0. */
static void communicators(void)
{
  MPI_Comm row, column, uneven, copy, host, grid, line, pair;
  MPI_Group all, some;
  int sizes[2] = {2, ranks / 2}, periods[2] = {1, 0}, kept[2] = {0, 1}, first[2] = {1, 0}, size, here;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, -rank, &row);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &column);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 1 ? MPI_UNDEFINED : 3, 0, &uneven);
  MPI_Comm_dup(column, &copy);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &grid);
  MPI_Cart_sub(grid, kept, &line);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 2, first, &some);
  MPI_Comm_create(MPI_COMM_WORLD, some, &pair);
  MPI_Comm_size(column, &size);
  MPI_Comm_rank(column, &here);
  MPI_Allreduce(out, in, COUNT, MPI_INT, MPI_SUM, row);
  MPI_Bcast(out, COUNT, MPI_DOUBLE, size - 1, column);
  MPI_Sendrecv(out, COUNT, MPI_INT, (here + 1) % size, 3, in, COUNT, MPI_INT, (here + size - 1) % size, 3, copy,
               MPI_STATUS_IGNORE);
  MPI_Gather(out, COUNT, MPI_INT, in, COUNT, MPI_INT, 1, copy);
  MPI_Barrier(host);
  MPI_Alltoall(out, COUNT, MPI_INT, in, COUNT, MPI_INT, line);
  MPI_Barrier(MPI_COMM_SELF);
  if (uneven != MPI_COMM_NULL)
    MPI_Allreduce(MPI_IN_PLACE, in, COUNT, MPI_DOUBLE, MPI_MAX, uneven);
  if (pair != MPI_COMM_NULL) {
    MPI_Reduce(out, in, COUNT, MPI_INT, MPI_SUM, 1, pair);
    MPI_Comm_free(&pair);
  }
  MPI_Comm_free(&row);
  MPI_Comm_dup(line, &row);
  MPI_Barrier(row);
}

static void keep_largest(void* given, void* kept, int* count, MPI_Datatype* type)
{
  (void)type;
  for (int i = 0; i < 2 * *count; i++)
    if (((double*)given)[i] > ((double*)kept)[i])
      ((double*)kept)[i] = ((double*)given)[i];
}

/* Every second double, pairs of doubles with a user-defined operation, and types that differ by rank. */
static void derived(void)
{
  MPI_Datatype every_second, pair, types[64];
  MPI_Op largest, in_order;
  int counts[64], offsets[64];
  MPI_Type_vector(COUNT / 2, 1, 2, MPI_DOUBLE, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(keep_largest, 1, &largest);
  MPI_Op_create(keep_largest, 0, &in_order);
  for (int i = 0; i < ranks; i++) {
    types[i]   = i % 2 ? pair : MPI_INT;
    counts[i]  = 10 * (i % 2 == rank % 2);
    offsets[i] = 1000 * i;
  }
  if (rank == 0)
    MPI_Send(out, 1, every_second, 1, 0, MPI_COMM_WORLD);
  else if (rank == 1)
    MPI_Recv(in, COUNT / 2, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Bcast(out, 1, every_second, 1, MPI_COMM_WORLD);
  MPI_Allreduce(out, in, 100, pair, largest, MPI_COMM_WORLD);
  MPI_Allreduce(out, in, 100, pair, in_order, MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++)
    types[i] = pair;
  MPI_Alltoallw(out, counts, offsets, types, in, counts, offsets, types, MPI_COMM_WORLD);
}

/* Arguments significant only at the root, MPI_IN_PLACE, and uneven parts. */
static void collectives(void)
{
  int counts[64], offsets[64];
  for (int i = 0; i < ranks; i++) {
    counts[i]  = 100 * (i + 1);
    offsets[i] = i == 0 ? 0 : offsets[i - 1] + counts[i - 1];
  }
  MPI_Gather(rank == 1 ? MPI_IN_PLACE : out, COUNT, MPI_INT, rank == 1 ? in : NULL, rank == 1 ? COUNT : -1,
             rank == 1 ? MPI_INT : MPI_DATATYPE_NULL, 1, MPI_COMM_WORLD);
  MPI_Scatterv(rank == 2 ? out : NULL, rank == 2 ? counts : NULL, offsets, rank == 2 ? MPI_INT : MPI_DATATYPE_NULL, in,
               counts[rank], MPI_INT, 2, MPI_COMM_WORLD);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, offsets, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 50, MPI_INT, MPI_COMM_WORLD);
  MPI_Reduce(rank == 1 ? MPI_IN_PLACE : out, in, COUNT, MPI_DOUBLE, MPI_MAX, 1, MPI_COMM_WORLD);
  MPI_Reduce_scatter(out, in, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, in, 50, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(out, in, COUNT, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Computation, sleeps and clock reads, in any order, including the end of the program. */
static void between(void)
{
  for (int step = 0; step < STEPS; step++) {
    smpi_execute_benched(1e-5 * (rank + 1));
    usleep(20);
    smpi_execute_flops_benched(1e5);
    for (int i = 0; i < 100; i++)
      MPI_Wtime();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  usleep(100 * rank);
}

/* Fences, locks, post and start; a window allocated by the call. */
static void windows(void)
{
  MPI_Win window, own;
  MPI_Group all, before, after;
  MPI_Request request;
  double *base, one = 1, kept;
  const int next = right(), last = left();
  MPI_Win_create(in, sizeof(in), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_allocate(COUNT * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &own);
  MPI_Win_fence(0, window);
  MPI_Put(out, COUNT, MPI_DOUBLE, next, COUNT, COUNT, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Get(out, COUNT / 2, MPI_DOUBLE, last, 0, COUNT / 2, MPI_DOUBLE, window);
  MPI_Accumulate(out, COUNT / 3, MPI_DOUBLE, next, 5, COUNT / 3, MPI_DOUBLE, MPI_SUM, window);
  MPI_Win_fence(0, window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, own);
  MPI_Fetch_and_op(&one, &kept, MPI_DOUBLE, 0, 0, MPI_SUM, own);
  MPI_Win_unlock(0, own);
  MPI_Win_lock_all(0, own);
  MPI_Rput(out, COUNT, MPI_DOUBLE, next, 0, COUNT, MPI_DOUBLE, own, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Win_flush(next, own);
  MPI_Win_unlock_all(own);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &last, &before);
  MPI_Group_incl(all, 1, &next, &after);
  MPI_Win_post(before, 0, window);
  MPI_Win_start(after, 0, window);
  MPI_Put(out, COUNT, MPI_INT, next, 0, COUNT, MPI_INT, window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  MPI_Win_free(&own);
  MPI_Win_free(&window);
}

/* Dynamic windows: memory is identified by its address, which differs in a replay. */
static void dynamic(void)
{
  MPI_Win window;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_free(&window);
}

int main(int argc, char** argv)
{
  static const struct {
    const char* name;
    void (*run)(void);
  } PARTS[] = {{"waitany", waitany},       {"waitsome", waitsome},
               {"testall", testall},       {"testany", testany},
               {"testsome", testsome},     {"probes", probes},
               {"persistent", persistent}, {"communicators", communicators},
               {"derived", derived},       {"collectives", collectives},
               {"between", between},       {"windows", windows},
               {"dynamic", dynamic}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++)
    if (strcmp(argv[1], PARTS[i].name) == 0)
      PARTS[i].run();
  MPI_Finalize();
  return 0;
}
