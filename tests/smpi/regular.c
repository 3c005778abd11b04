/* SPDX-License-Identifier: LGPL-2.1-only */
/* Programs whose behaviour does not depend on the network's speed, one per part: `regular PART`.
 *
 * Their replay must take the same simulated time as the program.
 */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 3000, STEPS = 5 };

static int rank, ranks;
static double out[64 * COUNT], in[64 * COUNT];

static void ring(void)
{
  MPI_Request requests[2];
  for (int step = 0; step < STEPS; step++) {
    MPI_Irecv(in, COUNT, MPI_DOUBLE, (rank + ranks - 1) % ranks, step, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, COUNT, MPI_DOUBLE, (rank + 1) % ranks, step, MPI_COMM_WORLD, &requests[1]);
    smpi_execute_benched(1e-5 * (rank + 1));
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

/* A row of ranks without wrap-around: ranks at the ends have MPI_PROC_NULL as a neighbour. */
static void row(void)
{
  const int left  = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int right = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
  MPI_Request requests[4];
  for (int step = 0; step < STEPS; step++) {
    MPI_Irecv(in, COUNT, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in + COUNT, COUNT, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, COUNT, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(out, COUNT, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[3]);
    smpi_execute_flops_benched(1e5);
    for (int i = 0; i < 4; i++)
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
}

/* All senders send the same message, so the order of arrival does not matter. */
static void any(void)
{
  MPI_Request request;
  for (int i = 1; rank == 0 && i < ranks; i++) {
    MPI_Irecv(in, COUNT, MPI_DOUBLE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank > 0) {
    MPI_Send(out, COUNT, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD);
    MPI_Send(out, 1, MPI_INT, 0, 8, MPI_COMM_WORLD);
  }
}

static void pingpong(void)
{
  for (int bytes = 1; bytes <= COUNT * 8; bytes *= 8) {
    if (rank == 0) {
      MPI_Send(out, bytes, MPI_BYTE, ranks - 1, 0, MPI_COMM_WORLD);
      MPI_Recv(in, bytes, MPI_BYTE, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == ranks - 1) {
      MPI_Recv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
}

static void collectives(void)
{
  for (int step = 0; step < STEPS; step++) {
    MPI_Allreduce(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(out, COUNT, MPI_DOUBLE, step % ranks, MPI_COMM_WORLD);
    MPI_Reduce(out, in, COUNT, MPI_DOUBLE, MPI_MAX, ranks - 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Alltoall(out, COUNT / 10, MPI_INT, in, COUNT / 10, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgather(out, COUNT / 10, MPI_CHAR, in, COUNT / 10, MPI_CHAR, MPI_COMM_WORLD);
    /* Arguments significant only at the root may have any value elsewhere. */
    MPI_Gather(out, COUNT, MPI_INT, in, rank == 1 ? COUNT : rank == 2 ? 0 : -1, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Scatter(out, rank == 0 ? COUNT : -1, MPI_INT, in, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scan(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(out, in, 50, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

/* One at a time, all at once, and out of order; ranks compute meanwhile. */
static void nonblocking(void)
{
  MPI_Request requests[3];
  for (int step = 0; step < STEPS; step++) {
    MPI_Iallreduce(out, in, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    smpi_execute_benched(1e-5 * rank);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(in, COUNT, MPI_INT, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(out, COUNT, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Recv(in, COUNT, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Ialltoall(out, 100, MPI_INT, in, 100, MPI_INT, MPI_COMM_WORLD, &requests[0]);
    MPI_Igather(out, 100, MPI_DOUBLE, in, 100, MPI_DOUBLE, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  }
}

/* MPI_Waitall of some open requests, with MPI_REQUEST_NULLs among them, and of the remaining ones later. */
static void waits(void)
{
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  for (int step = 0; step < STEPS; step++) {
    MPI_Request received, others[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Irecv(in, COUNT, MPI_INT, left, 1, MPI_COMM_WORLD, &received);
    MPI_Irecv(in, COUNT, MPI_INT, right, 2, MPI_COMM_WORLD, &others[1]);
    MPI_Isend(out, COUNT, MPI_INT, left, 2, MPI_COMM_WORLD, &others[2]);
    MPI_Waitall(4, others, MPI_STATUSES_IGNORE);
    smpi_execute_benched(1e-5 * rank);
    MPI_Isend(out, COUNT, MPI_INT, right, 1, MPI_COMM_WORLD, &others[3]);
    MPI_Waitall(4, others, MPI_STATUSES_IGNORE);
    MPI_Waitall(4, others, MPI_STATUSES_IGNORE);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    MPI_Ibarrier(MPI_COMM_WORLD, &others[0]);
    MPI_Isend(out, COUNT, MPI_INT, right, 3, MPI_COMM_WORLD, &others[1]);
    MPI_Irecv(in, COUNT, MPI_INT, left, 3, MPI_COMM_WORLD, &received);
    MPI_Waitall(4, others, MPI_STATUSES_IGNORE);
    MPI_Waitall(1, &received, MPI_STATUSES_IGNORE);
  }
}

static void uneven(void)
{
  int counts[64], offsets[64], same[64];
  int sum = 0;
  for (int i = 0; i < ranks; i++) {
    counts[i]  = 100 * i;
    offsets[i] = sum;
    same[i]    = 100 * rank;
    sum += counts[i];
  }
  MPI_Gatherv(out, counts[rank], MPI_INT, in, counts, offsets, MPI_INT, 1, MPI_COMM_WORLD);
  MPI_Scatterv(out, counts, offsets, MPI_INT, in, counts[rank], MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Allgatherv(out, counts[rank], MPI_INT, in, counts, offsets, MPI_INT, MPI_COMM_WORLD);
  MPI_Reduce_scatter(out, in, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Alltoallv(out, counts, offsets, MPI_INT, in, same, offsets, MPI_INT, MPI_COMM_WORLD);
  MPI_Sendrecv(out, 100, MPI_INT, (rank + 1) % ranks, 0, in, 100, MPI_INT, (rank + ranks - 1) % ranks, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  sleep(1);
}

int main(int argc, char** argv)
{
  static const struct {
    const char* name;
    void (*run)(void);
  } PARTS[] = {{"ring", ring},
               {"row", row},
               {"any", any},
               {"pingpong", pingpong},
               {"collectives", collectives},
               {"uneven", uneven},
               {"nonblocking", nonblocking},
               {"waits", waits}};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++)
    if (strcmp(argv[1], PARTS[i].name) == 0)
      PARTS[i].run();
  MPI_Finalize();
  return 0;
}
