/* SPDX-License-Identifier: LGPL-2.1-only */
/* One collective that the last rank enters late: `late COLLECTIVE BYTES MICROSECONDS`.
 *
 * Each rank prints "rank entered left"; a call that does not block has left once MPI_Wait returns. Requires
 * --cfg=smpi/wtime:0. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* collective;
static MPI_Comm comm;

static int is(const char* name)
{
  return strcmp(collective, name) == 0;
}

static void make_communicator(int rank, int ranks)
{
  const int periodic = 1;
  comm               = MPI_COMM_WORLD;
  if (is("neighbor_allgather"))
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &comm);
  if (is("between")) {
    const int side = rank >= ranks / 2;
    MPI_Comm local;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, side ? 0 : ranks / 2, 1, &comm);
  }
}

static void call(int* send, int* receive, int n, MPI_Request* request)
{
  if (is("allreduce") || is("between"))
    MPI_Allreduce(send, receive, n, MPI_INT, MPI_SUM, comm);
  else if (is("barrier"))
    MPI_Barrier(comm);
  else if (is("allgather"))
    MPI_Allgather(send, n, MPI_INT, receive, n, MPI_INT, comm);
  else if (is("alltoall"))
    MPI_Alltoall(send, n, MPI_INT, receive, n, MPI_INT, comm);
  else if (is("bcast"))
    MPI_Bcast(send, n, MPI_INT, 0, comm);
  else if (is("reduce"))
    MPI_Reduce(send, receive, n, MPI_INT, MPI_SUM, 0, comm);
  else if (is("gather"))
    MPI_Gather(send, n, MPI_INT, receive, n, MPI_INT, 0, comm);
  else if (is("scatter"))
    MPI_Scatter(send, n, MPI_INT, receive, n, MPI_INT, 0, comm);
  else if (is("scan"))
    MPI_Scan(send, receive, n, MPI_INT, MPI_SUM, comm);
  else if (is("neighbor_allgather"))
    MPI_Neighbor_allgather(send, n, MPI_INT, receive, n, MPI_INT, comm);
  else if (is("iallreduce"))
    MPI_Iallreduce(send, receive, n, MPI_INT, MPI_SUM, comm, request);
  else
    MPI_Start(request);
}

int main(int argc, char** argv)
{
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  collective  = argv[1];
  const int n = atoi(argv[2]) / (int)sizeof(int);
  make_communicator(rank, ranks);
  int* send           = calloc((size_t)(n * ranks), sizeof(int));
  int* receive        = calloc((size_t)(n * ranks), sizeof(int));
  MPI_Request request = MPI_REQUEST_NULL;
  if (is("persistent"))
    MPI_Allreduce_init(send, receive, n, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request);
  if (rank == ranks - 1)
    usleep((unsigned)atoi(argv[3]));
  const double entered = MPI_Wtime();
  call(send, receive, n, &request);
  if (is("iallreduce") || is("persistent"))
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("%d %.17g %.17g\n", rank, entered, MPI_Wtime());
  MPI_Finalize();
  return argc != 4;
}
