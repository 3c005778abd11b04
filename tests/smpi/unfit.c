/* SPDX-License-Identifier: LGPL-2.1-only */
/* Programs whose traces cannot be replayed faithfully or reliably, one per part: `unfit PART`. The part `status` can be
 * replayed, and ends with status 3. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static int out[64], in[64];

static void split(void)
{
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Allreduce(out, in, 8, MPI_INT, MPI_SUM, half);
  MPI_Comm_free(&half);
}

static void exchange(MPI_Request* requests)
{
  MPI_Irecv(in, 8, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, 8, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &requests[1]);
}

static void waitany(void)
{
  MPI_Request requests[2];
  int index;
  exchange(requests);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

static void waitsome(void)
{
  MPI_Request requests[2];
  int indices[2];
  int done = 0;
  exchange(requests);
  for (int count = 0; done < 2; done += count)
    MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
}

static void waitpart(void)
{
  MPI_Request requests[2];
  MPI_Ibcast(out, 8, MPI_INT, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibcast(in, 8, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(1, requests, MPI_STATUSES_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

/* A PMPI call bypasses weft's tracing of MPI_Waitall. */
static void profiled(void)
{
  MPI_Request requests[2];
  exchange(requests);
  PMPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void derived(void)
{
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Bcast(out, 4, pair, 0, MPI_COMM_WORLD);
  MPI_Type_free(&pair);
}

/* SMPI does not trace an MPI_Sendrecv to or from MPI_PROC_NULL. */
static void sendrecv(void)
{
  MPI_Sendrecv(out, 8, MPI_INT, rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL, 0, in, 8, MPI_INT,
               rank > 0 ? rank - 1 : MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void window(void)
{
  MPI_Win memory;
  MPI_Win_create(in, sizeof(in), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory);
  MPI_Win_fence(0, memory);
  MPI_Put(out, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, memory);
  MPI_Win_fence(0, memory);
  MPI_Win_free(&memory);
}

static void persistent(void)
{
  MPI_Request requests[2];
  MPI_Recv_init(in, 8, MPI_INT, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(out, 8, MPI_INT, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void nonblocking(void)
{
  MPI_Request request;
  int done = 0;
  MPI_Ibcast(out, 8, MPI_INT, 0, MPI_COMM_WORLD, &request);
  while (!done)
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

/* The trace contains the polls, but not their results. */
static void poll(void)
{
  MPI_Request requests[2];
  int done = 0;
  exchange(requests);
  while (!done)
    MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

/* A switch that only adds integers executes the first call but not the second. */
static void operations(void)
{
  MPI_Allreduce(out, in, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(out, in, 8, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
}

/* The messages of a communicator's creation are not traced, and this part makes no other calls. */
static void communicators(void)
{
  MPI_Comm same;
  for (int i = 0; i < 20; i++) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &same);
    MPI_Comm_free(&same);
  }
}

static void clocks(void)
{
  for (int i = 0; i < 100; i++)
    MPI_Wtime();
}

static void failing(void)
{
  MPI_Barrier(MPI_COMM_WORLD);
  exit(3);
}

static void crashing(void)
{
  abort();
}

int main(int argc, char** argv)
{
  static const struct {
    const char* name;
    void (*run)(void);
  } PARTS[] = {{"split", split},
               {"waitany", waitany},
               {"waitsome", waitsome},
               {"waitpart", waitpart},
               {"profiled", profiled},
               {"derived", derived},
               {"sendrecv", sendrecv},
               {"window", window},
               {"persistent", persistent},
               {"nonblocking", nonblocking},
               {"poll", poll},
               {"operations", operations},
               {"communicators", communicators},
               {"clocks", clocks},
               {"failing", failing},
               {"crashing", crashing}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++)
    if (strcmp(argv[1], PARTS[i].name) == 0)
      PARTS[i].run();
  MPI_Finalize();
  return strcmp(argv[1], "status") == 0 ? 3 : 0;
}
