/* SPDX-License-Identifier: LGPL-2.1-only */
/* Latency of collectives as the OSU micro-benchmarks define it. Plain MPI: any MPI compiler builds
 * it.
 *
 *     collective_latency COLLECTIVE:BYTES,... [ITERATIONS]
 *
 * COLLECTIVE is barrier, bcast, reduce, allreduce, reduce_scatter, reduce_scatter_block, gather,
 * scatter, allgather or alltoall. BYTES is the size of the vector for Bcast, Reduce, Allreduce,
 * Reduce_scatter (with equal parts) and Reduce_scatter_block, otherwise of the data that a rank has
 * for one other; sums are of MPI_FLOAT, at least one element. The root is rank 0.
 *
 * For each, all ranks make one warm-up call, then ITERATIONS (default 1) timed calls with a barrier
 * before each. A line is the index of the argument, from 0, and the average over all ranks and
 * calls in microseconds. Buffers are neither filled nor read, so that a simulator may share their
 * memory among the ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = 2, ROOT = 0, NAME = 32 };

/* Arguments of a rank's call: `count` elements of `type`; both buffers have room for as many for
 * every rank. */
typedef struct {
  int count;
  MPI_Datatype type;
  void* in;
  void* out;
  int* counts; /* by rank: count */
} Call;

static void barrier(const Call* call)
{
  (void)call;
  MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(const Call* call)
{
  MPI_Bcast(call->in, call->count, call->type, ROOT, MPI_COMM_WORLD);
}

static void reduce(const Call* call)
{
  MPI_Reduce(call->in, call->out, call->count, call->type, MPI_SUM, ROOT, MPI_COMM_WORLD);
}

static void allreduce(const Call* call)
{
  MPI_Allreduce(call->in, call->out, call->count, call->type, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce_scatter_block(const Call* call)
{
  MPI_Reduce_scatter_block(call->in, call->out, call->count, call->type, MPI_SUM, MPI_COMM_WORLD);
}

static void reduce_scatter(const Call* call)
{
  MPI_Reduce_scatter(call->in, call->out, call->counts, call->type, MPI_SUM, MPI_COMM_WORLD);
}

static void gather(const Call* call)
{
  MPI_Gather(call->in, call->count, call->type, call->out, call->count, call->type, ROOT, MPI_COMM_WORLD);
}

static void scatter(const Call* call)
{
  MPI_Scatter(call->in, call->count, call->type, call->out, call->count, call->type, ROOT, MPI_COMM_WORLD);
}

static void allgather(const Call* call)
{
  MPI_Allgather(call->in, call->count, call->type, call->out, call->count, call->type, MPI_COMM_WORLD);
}

static void alltoall(const Call* call)
{
  MPI_Alltoall(call->in, call->count, call->type, call->out, call->count, call->type, MPI_COMM_WORLD);
}

typedef struct {
  const char* name;
  void (*run)(const Call*);
  int sums;
  int in_parts; /* a buffer has a part for every rank */
  int out_parts;
} Collective;

static const Collective collectives[] = {
    {"barrier", barrier, 0, 0, 0},
    {"bcast", bcast, 0, 0, 0},
    {"reduce", reduce, 1, 0, 0},
    {"allreduce", allreduce, 1, 0, 0},
    {"reduce_scatter", reduce_scatter, 1, 1, 0},
    {"reduce_scatter_block", reduce_scatter_block, 1, 1, 0},
    {"gather", gather, 0, 0, 1},
    {"scatter", scatter, 0, 1, 0},
    {"allgather", allgather, 0, 0, 1},
    {"alltoall", alltoall, 0, 1, 1},
};

static const Collective* find(const char* name)
{
  for (size_t i = 0; i < sizeof(collectives) / sizeof(collectives[0]); i++)
    if (strcmp(collectives[i].name, name) == 0)
      return &collectives[i];
  return NULL;
}

static void* allocate(long bytes)
{
  void* buffer = malloc((size_t)bytes + 1);
  if (buffer == NULL) {
    fprintf(stderr, "collective_latency: no memory for %ld bytes\n", bytes);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  return buffer;
}

static void measure(int number, const Collective* collective, long bytes, int iterations)
{
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (collective->run == reduce_scatter || collective->run == reduce_scatter_block)
    bytes /= ranks;
  const int element = collective->sums ? (int)sizeof(float) : 1;
  Call call         = {(int)(bytes / element), collective->sums ? MPI_FLOAT : MPI_BYTE, NULL, NULL, NULL};
  if (collective->sums && call.count == 0)
    call.count = 1;
  const long part = (long)call.count * element;
  call.in         = allocate(collective->in_parts ? part * ranks : part);
  call.out        = allocate(collective->out_parts ? part * ranks : part);
  call.counts     = allocate((long)sizeof(int) * ranks);
  for (int i = 0; i < ranks; i++)
    call.counts[i] = call.count;
  double time = 0, sum;
  collective->run(&call);
  for (int i = 0; i < iterations; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    collective->run(&call);
    time += MPI_Wtime() - start;
  }
  MPI_Reduce(&time, &sum, 1, MPI_DOUBLE, MPI_SUM, ROOT, MPI_COMM_WORLD);
  if (rank == ROOT)
    printf("%d %.6f\n", number, sum / ranks / iterations * 1e6);
  free(call.in);
  free(call.out);
  free(call.counts);
}

static int usage(void)
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == ROOT)
    fputs("usage: collective_latency COLLECTIVE:BYTES,... [ITERATIONS]\n", stderr);
  MPI_Finalize();
  return EXIT_USAGE;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  const int iterations = argc > 2 ? atoi(argv[2]) : 1;
  if (argc < 2 || iterations < 1)
    return usage();
  int number = 0;
  for (const char* at = argv[1]; at != NULL; at = strchr(at, ',')) {
    char name[NAME];
    long bytes;
    at += *at == ',';
    if (sscanf(at, "%31[^:]:%ld", name, &bytes) != 2 || bytes < 0 || find(name) == NULL)
      return usage();
    measure(number++, find(name), bytes, iterations);
  }
  MPI_Finalize();
  return 0;
}
