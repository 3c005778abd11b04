/* SPDX-License-Identifier: LGPL-2.1-only */
/* Collectives on the hosts, with the time at which each rank leaves them.
 *
 *     schedules COLLECTIVE BYTES...   one call per size; ranks enter as they leave the previous one
 *     schedules mixed BYTES...        many collectives, blocking and not, on several communicators,
 *                                     with concurrent messages between ranks
 *
 * BYTES, a multiple of 4, is the size of a rank's block for one other rank, or of the vector of a reduction. Each rank
 * prints "rank what bytes seconds" in full precision. Wrong results end the
 * program.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUIET_US = 20000, ROOT = 1 };

static int rank, ranks, count;
static int *out, *in;
static double start;

static void show(const char* what)
{
  printf("%d %s %d %.17g\n", rank, what, 4 * count, MPI_Wtime() - start);
}

static void call(const char* what, MPI_Comm comm)
{
  int size, root;
  MPI_Comm_size(comm, &size);
  root = ROOT % size;
  if (strcmp(what, "allreduce") == 0)
    MPI_Allreduce(out, in, count, MPI_FLOAT, MPI_MAX, comm);
  else if (strcmp(what, "reduce") == 0)
    MPI_Reduce(out, in, count, MPI_FLOAT, MPI_MAX, root, comm);
  else if (strcmp(what, "reduce_scatter") == 0)
    MPI_Reduce_scatter_block(out, in, count, MPI_FLOAT, MPI_MAX, comm);
  else if (strcmp(what, "bcast") == 0)
    MPI_Bcast(out, count, MPI_INT, root, comm);
  else if (strcmp(what, "allgather") == 0)
    MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, comm);
  else if (strcmp(what, "alltoall") == 0)
    MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, comm);
  else if (strcmp(what, "gather") == 0)
    MPI_Gather(out, count, MPI_INT, in, count, MPI_INT, root, comm);
  else if (strcmp(what, "scatter") == 0)
    MPI_Scatter(out, count, MPI_INT, in, count, MPI_INT, root, comm);
  else if (strcmp(what, "scan") == 0)
    MPI_Scan(out, in, count, MPI_FLOAT, MPI_MAX, comm);
  else if (strcmp(what, "barrier") == 0)
    MPI_Barrier(comm);
  else
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* A message around the ring, one to the opposite rank, and non-blocking calls on the second communicator are in flight
 * while the first one executes further calls. */
static void mixed(MPI_Comm half)
{
  static const char* const NAMES[] = {"allreduce", "bcast",  "allgather", "alltoall",
                                      "reduce",    "gather", "scatter",   "reduce_scatter"};
  const size_t bytes               = 4 * (size_t)count;
  char* sent                       = calloc(2, 3 * bytes);
  char* received                   = calloc(2, 3 * bytes);
  int* sums                        = calloc((size_t)count, sizeof *sums);
  int* ones                        = calloc((size_t)count, sizeof *ones);
  int* blocks                      = calloc((size_t)ranks, bytes);
  for (int i = 0; i < count; i++)
    ones[i] = 1;
  for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
    MPI_Request requests[6];
    MPI_Irecv(received, 3 * (int)bytes, MPI_BYTE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(received + 3 * bytes, (int)bytes, MPI_BYTE, (rank + ranks / 2) % ranks, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(sent, 3 * (int)bytes, MPI_BYTE, (rank + 1) % ranks, 0, MPI_COMM_WORLD, &requests[2]);
    usleep(rank % 3);
    MPI_Iallreduce(ones, sums, count, MPI_INT, MPI_SUM, half, &requests[3]);
    MPI_Iallgather(ones, count, MPI_INT, blocks, count, MPI_INT, half, &requests[4]);
    MPI_Isend(sent, (int)bytes, MPI_BYTE, (rank + ranks - ranks / 2) % ranks, 1, MPI_COMM_WORLD, &requests[5]);
    call(NAMES[i], MPI_COMM_WORLD);
    show(NAMES[i]);
    call(NAMES[(i + 3) % (sizeof NAMES / sizeof *NAMES)], half);
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    int size;
    MPI_Comm_size(half, &size);
    if (sums[count - 1] != size || blocks[size * count - 1] != 1)
      MPI_Abort(MPI_COMM_WORLD, 3);
    show("all");
  }
  free(sent);
  free(received);
  free(sums);
  free(ones);
  free(blocks);
}

int main(int argc, char** argv)
{
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  start = MPI_Wtime();
  for (int i = 2; i < argc; i++) {
    count = atoi(argv[i]) / 4;
    out   = calloc((size_t)ranks, 4 * (size_t)count);
    in    = calloc((size_t)ranks, 4 * (size_t)count);
    usleep(QUIET_US);
    if (strcmp(argv[1], "mixed") == 0) {
      mixed(half);
    } else {
      call(argv[1], MPI_COMM_WORLD);
      show(argv[1]);
    }
    free(out);
    free(in);
  }
  MPI_Finalize();
  return 0;
}
