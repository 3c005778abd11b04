/* SPDX-License-Identifier: LGPL-2.1-only */
/* Counts the messages of a library's collectives: number and bytes between each pair of ranks.
 *
 *   mpirun -np P messages OUTPUT CASES
 *
 * A further source, one per library, calls count_message: it interposes on the functions that the library calls for
 * each of its messages (link with -rdynamic).
 *
 * A line of CASES: COLLECTIVE COUNT TYPE ROOT OPERATION UNEVEN, such as `allreduce 1024 int 0 sum 0`. COUNT is the
 * collective's count argument; UNEVEN 1 makes it (r * 7) % 4 times as large for rank r in collectives with one count
 * per rank. OPERATION is sum, or one of the program's: `own`, or `ordered`, which does not commute. Each rank writes
 * OUTPUT.RANK with lines CASE PEER COUNT BYTES, where CASE counts lines from 0. */
#include "counting.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void fail(const char* what)
{
  fprintf(stderr, "messages: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static size_t *messages, *bytes;

void count_message(int to, size_t size)
{
  if (messages) {
    ++messages[to];
    bytes[to] += size;
  }
}

/* ---- The calls ---- */

static void own_operation(void* in, void* inout, int* length, MPI_Datatype* type)
{
  int size;
  (void)in;
  MPI_Type_size(*type, &size);
  memset(inout, 0, (size_t)size * (size_t)*length);
}

struct call {
  char collective[64];
  int count;
  MPI_Datatype type;
  int root;
  MPI_Op operation;
  int uneven;
};

static int part(const struct call* call, int of)
{
  return call->uneven ? call->count * ((of * 7) % 4) : call->count;
}

static void run(const struct call* call)
{
  int size, total = 0;
  MPI_Type_size(call->type, &size);
  int* counts = malloc(sizeof(int) * (size_t)ranks);
  int* places = malloc(sizeof(int) * (size_t)ranks);
  int* same   = malloc(sizeof(int) * (size_t)ranks); /* Alltoallv: elements from this rank to each other */
  int* starts = malloc(sizeof(int) * (size_t)ranks);
  /* Alltoallw: displacements in bytes, and a datatype per rank */
  int* byte_places    = malloc(sizeof(int) * (size_t)ranks);
  int* byte_starts    = malloc(sizeof(int) * (size_t)ranks);
  MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * (size_t)ranks);
  for (int other = 0; other < ranks; ++other) {
    counts[other] = part(call, other);
    places[other] = total;
    total += counts[other];
    same[other]        = part(call, rank);
    starts[other]      = other * part(call, rank);
    types[other]       = call->type;
    byte_places[other] = places[other] * size;
    byte_starts[other] = starts[other] * size;
  }
  const size_t most   = (size_t)(call->uneven ? 3 : 1) * (size_t)call->count * (size_t)ranks * (size_t)size + 16;
  char* in            = calloc(1, most);
  char* out           = calloc(1, most);
  const int n         = call->count;
  MPI_Datatype t      = call->type;
  MPI_Op op           = call->operation;
  MPI_Comm comm       = MPI_COMM_WORLD;
  MPI_Request request = MPI_REQUEST_NULL;
  const char* name    = call->collective;
#define IS(word) (strcmp(name, word) == 0)
  if (IS("allgather"))
    MPI_Allgather(in, n, t, out, n, t, comm);
  else if (IS("allgatherv"))
    MPI_Allgatherv(in, counts[rank], t, out, counts, places, t, comm);
  else if (IS("allreduce"))
    MPI_Allreduce(in, out, n, t, op, comm);
  else if (IS("alltoall"))
    MPI_Alltoall(in, n, t, out, n, t, comm);
  else if (IS("alltoallv"))
    MPI_Alltoallv(in, same, starts, t, out, counts, places, t, comm);
  else if (IS("alltoallw"))
    MPI_Alltoallw(in, same, byte_starts, types, out, counts, byte_places, types, comm);
  else if (IS("barrier"))
    MPI_Barrier(comm);
  else if (IS("bcast"))
    MPI_Bcast(in, n, t, call->root, comm);
  else if (IS("exscan"))
    MPI_Exscan(in, out, n, t, op, comm);
  else if (IS("gather"))
    MPI_Gather(in, n, t, out, n, t, call->root, comm);
  else if (IS("gatherv"))
    MPI_Gatherv(in, counts[rank], t, out, counts, places, t, call->root, comm);
  else if (IS("reduce"))
    MPI_Reduce(in, out, n, t, op, call->root, comm);
  else if (IS("reduce_scatter"))
    MPI_Reduce_scatter(in, out, counts, t, op, comm);
  else if (IS("reduce_scatter_block"))
    MPI_Reduce_scatter_block(in, out, n, t, op, comm);
  else if (IS("scan"))
    MPI_Scan(in, out, n, t, op, comm);
  else if (IS("scatter"))
    MPI_Scatter(in, n, t, out, n, t, call->root, comm);
  else if (IS("scatterv"))
    MPI_Scatterv(in, counts, places, t, out, counts[rank], t, call->root, comm);
  else if (IS("iallgather"))
    MPI_Iallgather(in, n, t, out, n, t, comm, &request);
  else if (IS("iallgatherv"))
    MPI_Iallgatherv(in, counts[rank], t, out, counts, places, t, comm, &request);
  else if (IS("iallreduce"))
    MPI_Iallreduce(in, out, n, t, op, comm, &request);
  else if (IS("ialltoall"))
    MPI_Ialltoall(in, n, t, out, n, t, comm, &request);
  else if (IS("ialltoallv"))
    MPI_Ialltoallv(in, same, starts, t, out, counts, places, t, comm, &request);
  else if (IS("ialltoallw"))
    MPI_Ialltoallw(in, same, byte_starts, types, out, counts, byte_places, types, comm, &request);
  else if (IS("ibarrier"))
    MPI_Ibarrier(comm, &request);
  else if (IS("ibcast"))
    MPI_Ibcast(in, n, t, call->root, comm, &request);
  else if (IS("iexscan"))
    MPI_Iexscan(in, out, n, t, op, comm, &request);
  else if (IS("igather"))
    MPI_Igather(in, n, t, out, n, t, call->root, comm, &request);
  else if (IS("igatherv"))
    MPI_Igatherv(in, counts[rank], t, out, counts, places, t, call->root, comm, &request);
  else if (IS("ireduce"))
    MPI_Ireduce(in, out, n, t, op, call->root, comm, &request);
  else if (IS("ireduce_scatter"))
    MPI_Ireduce_scatter(in, out, counts, t, op, comm, &request);
  else if (IS("ireduce_scatter_block"))
    MPI_Ireduce_scatter_block(in, out, n, t, op, comm, &request);
  else if (IS("iscan"))
    MPI_Iscan(in, out, n, t, op, comm, &request);
  else if (IS("iscatter"))
    MPI_Iscatter(in, n, t, out, n, t, call->root, comm, &request);
  else if (IS("iscatterv"))
    MPI_Iscatterv(in, counts, places, t, out, counts[rank], t, call->root, comm, &request);
  else
    fail(name);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  free(counts);
  free(places);
  free(same);
  free(starts);
  free(byte_places);
  free(byte_starts);
  free(types);
  free(in);
  free(out);
}

static MPI_Op ordered, own;

static int read_call(char* line, struct call* call)
{
  char type[16], operation[16];
  if (sscanf(line, "%63s %d %15s %d %15s %d", call->collective, &call->count, type, &call->root, operation,
             &call->uneven) != 6)
    return 0;
  call->type      = strcmp(type, "byte") == 0 ? MPI_BYTE : strcmp(type, "int") == 0 ? MPI_INT : MPI_DOUBLE;
  call->operation = strcmp(operation, "sum") == 0 ? MPI_SUM : strcmp(operation, "own") == 0 ? own : ordered;
  return 1;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3)
    fail("expected: messages OUTPUT CASES");
  prepare_counting(rank, ranks);
  MPI_Op_create(own_operation, 0, &ordered);
  MPI_Op_create(own_operation, 1, &own);
  bytes    = calloc((size_t)ranks, sizeof *bytes);
  messages = calloc((size_t)ranks, sizeof *messages);

  char line[256];
  snprintf(line, sizeof line, "%s.%d", argv[1], rank);
  FILE* output = fopen(line, "w");
  FILE* cases  = fopen(argv[2], "r");
  if (!output || !cases)
    fail("cannot open its files");
  struct call call;
  for (int number = 0; fgets(line, sizeof line, cases) && read_call(line, &call); ++number) {
    memset(bytes, 0, (size_t)ranks * sizeof *bytes);
    memset(messages, 0, (size_t)ranks * sizeof *messages);
    run(&call);
    for (int peer = 0; peer < ranks; ++peer)
      if (messages[peer])
        fprintf(output, "%d %d %zu %zu\n", number, peer, messages[peer], bytes[peer]);
  }
  free(messages);
  messages = NULL; /* excludes those of MPI_Finalize */
  fclose(cases);
  fclose(output);
  MPI_Op_free(&ordered);
  MPI_Op_free(&own);
  MPI_Finalize();
  return 0;
}
