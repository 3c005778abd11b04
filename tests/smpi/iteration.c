/* SPDX-License-Identifier: LGPL-2.1-only */
/* Executes a training iteration described by a file, one line per step that all ranks take:
 *
 *   groups COLOUR ...               a kind of groups, from 0: the colour of each rank, -1 for none
 *   compute NANOSECONDS
 *   call KIND COLLECTIVE BYTES      waits for the end
 *   start LANE KIND COLLECTIVE BYTES
 *   wait LANE
 *
 * BYTES is the size of the larger buffer. Ranks begin at second 1, and print the time from then until they have
 * finished. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LANES = 5, KINDS = 8, WORD = 32 };

static const double FLOPS = 67e12; /* of a GPU, per second */

static MPI_Comm groups[KINDS];
static MPI_Request requests[LANES];
static char* buffers[LANES][2];

static void start(int lane, int kind, const char* collective, size_t bytes, MPI_Request* request)
{
  MPI_Comm group = groups[kind];
  char *in = buffers[lane][0], *out = buffers[lane][1];
  int ranks, floats                 = (int)(bytes / sizeof(float));
  MPI_Comm_size(group, &ranks);
  if (!strcmp(collective, "allreduce") && request)
    MPI_Iallreduce(in, out, floats, MPI_FLOAT, MPI_SUM, group, request);
  else if (!strcmp(collective, "allreduce"))
    MPI_Allreduce(in, out, floats, MPI_FLOAT, MPI_SUM, group);
  else if (!strcmp(collective, "allgather") && request)
    MPI_Iallgather(in, floats / ranks, MPI_FLOAT, out, floats / ranks, MPI_FLOAT, group, request);
  else if (!strcmp(collective, "allgather"))
    MPI_Allgather(in, floats / ranks, MPI_FLOAT, out, floats / ranks, MPI_FLOAT, group);
  else if (!strcmp(collective, "reduce_scatter_block") && request)
    MPI_Ireduce_scatter_block(in, out, floats / ranks, MPI_FLOAT, MPI_SUM, group, request);
  else if (!strcmp(collective, "reduce_scatter_block"))
    MPI_Reduce_scatter_block(in, out, floats / ranks, MPI_FLOAT, MPI_SUM, group);
  else
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void spend(long long nanoseconds)
{
  struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  nanosleep(&time, NULL);
}

static void split(FILE* file, int kind)
{
  int rank, ranks, colour = 0, mine = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int other = 0; other < ranks; other++) {
    if (fscanf(file, "%d", &colour) != 1)
      MPI_Abort(MPI_COMM_WORLD, 3);
    if (other == rank)
      mine = colour;
  }
  MPI_Comm_split(MPI_COMM_WORLD, mine < 0 ? MPI_UNDEFINED : mine, rank, &groups[kind]);
}

static void take(FILE* file, const char* step)
{
  long long amount;
  int lane = 0, kind;
  char collective[WORD];
  if (!strcmp(step, "compute") && fscanf(file, "%lld", &amount) == 1)
    spend(amount);
  else if (!strcmp(step, "call") && fscanf(file, "%d %31s %lld", &kind, collective, &amount) == 3)
    start(0, kind, collective, (size_t)amount, NULL);
  else if (!strcmp(step, "start") && fscanf(file, "%d %d %31s %lld", &lane, &kind, collective, &amount) == 4)
    start(lane, kind, collective, (size_t)amount, &requests[lane]);
  else if (!strcmp(step, "wait") && fscanf(file, "%d", &lane) == 1)
    MPI_Wait(&requests[lane], MPI_STATUS_IGNORE);
  else
    MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char** argv)
{
  FILE* file;
  size_t most;
  int kinds = 0, rank;
  char step[WORD];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  file = fopen(argv[1], "r");
  most = (size_t)atoll(argv[2]);
  for (int lane = 0; lane < LANES; lane++)
    for (int side = 0; side < 2; side++)
      buffers[lane][side] = calloc(most, 1);
  double begin = 0;
  while (fscanf(file, "%31s", step) == 1) {
    if (!strcmp(step, "groups")) {
      split(file, kinds++);
      continue;
    }
    if (begin == 0) {
      smpi_execute_flops((1 - MPI_Wtime()) * FLOPS); /* exact, whereas sleeps are rounded to nanoseconds */
      begin = MPI_Wtime();
    }
    take(file, step);
  }
  printf("%d %.15g\n", rank, MPI_Wtime() - begin);
  MPI_Finalize();
  return 0;
}
