/* SPDX-License-Identifier: LGPL-2.1-only */
/* Collectives as the OSU micro-benchmarks (7.4) time them. Plain MPI: any MPI compiler builds it.
 *
 *     benchmark_collectives NAME SIZES [iterations=N] [warm-up=N] [type=TYPE] [op=OP]
 *     [back-to-back] [in-place] [each]
 *
 * NAME is a collective (`allreduce`), or its non-blocking form (`iallreduce`). SIZES are
 * comma-separated, in bytes: of the vector for Bcast, reductions and scans; of the whole vector
 * that each rank gives for Reduce_scatter and Reduce_scatter_block; otherwise of the data that one
 * rank has for, or gets from, one other. The root is rank 0. With `in-place`, ranks give
 * MPI_IN_PLACE where MPI allows it for both buffers of a reduction or Allgather.
 *
 * Blocking: all ranks make calls with a barrier after each (none for `barrier` itself, nor with
 * `back-to-back`); each call is timed. A line is the bytes, then average, minimum and maximum over
 * ranks of their mean times. Non-blocking: calls with their waits are timed in this way (pure
 * communication); then each rank starts the call, sleeps as long as its pure communication took,
 * and waits. A line is the bytes, then means over ranks: overall, compute, start, test (0: no tests
 * are made), wait, pure communication; its minimum and maximum; and the overlap, 100 * (1 -
 * (overall - compute) / pure), at least 0. Times are in microseconds.
 */
#include "benchmark.h"

#include <time.h>

/* Arguments of a rank's call: `count` elements per rank, or in all if a collective has no parts. */
typedef struct {
  int count;
  MPI_Datatype type;
  MPI_Op op;
  void* in;
  void* out;
  int* counts; /* this and the next three: by rank; NULL if the collective takes no lists */
  int* places; /* of the ranks' parts, in elements */
  int* bytes;  /* the same, in bytes */
  MPI_Datatype* types;
} Call;

#define WORLD MPI_COMM_WORLD
/* Makes the blocking call if `request` is NULL, otherwise the non-blocking one. */
#define EITHER(blocking, starting, ...) (void)(request == NULL ? blocking(__VA_ARGS__) : starting(__VA_ARGS__, request))

static void allgather(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Allgather, MPI_Iallgather, c->in, c->count, c->type, c->out, c->count, c->type, WORLD);
}

static void allgatherv(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Allgatherv, MPI_Iallgatherv, c->in, c->count, c->type, c->out, c->counts, c->places, c->type, WORLD);
}

static void allreduce(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Allreduce, MPI_Iallreduce, c->in, c->out, c->count, c->type, c->op, WORLD);
}

static void alltoall(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Alltoall, MPI_Ialltoall, c->in, c->count, c->type, c->out, c->count, c->type, WORLD);
}

static void alltoallv(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Alltoallv, MPI_Ialltoallv, c->in, c->counts, c->places, c->type, c->out, c->counts, c->places, c->type,
         WORLD);
}

static void alltoallw(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Alltoallw, MPI_Ialltoallw, c->in, c->counts, c->bytes, c->types, c->out, c->counts, c->bytes, c->types,
         WORLD);
}

static void barrier(const Call* c, MPI_Request* request)
{
  (void)c;
  EITHER(MPI_Barrier, MPI_Ibarrier, WORLD);
}

static void bcast(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Bcast, MPI_Ibcast, c->in, c->count, c->type, ROOT, WORLD);
}

static void exscan(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Exscan, MPI_Iexscan, c->in, c->out, c->count, c->type, c->op, WORLD);
}

static void gather(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Gather, MPI_Igather, c->in, c->count, c->type, c->out, c->count, c->type, ROOT, WORLD);
}

static void gatherv(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Gatherv, MPI_Igatherv, c->in, c->count, c->type, c->out, c->counts, c->places, c->type, ROOT, WORLD);
}

static void reduce(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Reduce, MPI_Ireduce, c->in, c->out, c->count, c->type, c->op, ROOT, WORLD);
}

static void reduce_scatter(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Reduce_scatter, MPI_Ireduce_scatter, c->in, c->out, c->counts, c->type, c->op, WORLD);
}

static void reduce_scatter_block(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, c->in, c->out, c->count, c->type, c->op, WORLD);
}

static void scan(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Scan, MPI_Iscan, c->in, c->out, c->count, c->type, c->op, WORLD);
}

static void scatter(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Scatter, MPI_Iscatter, c->in, c->count, c->type, c->out, c->count, c->type, ROOT, WORLD);
}

static void scatterv(const Call* c, MPI_Request* request)
{
  EITHER(MPI_Scatterv, MPI_Iscatterv, c->in, c->counts, c->places, c->type, c->out, c->count, c->type, ROOT, WORLD);
}

/* Meaning of SIZES, and which buffers have a part for every rank. */
typedef enum { VECTOR, SHARED_VECTOR, PARTS_IN, PARTS_OUT, PARTS_BOTH, NOTHING } Shape;

typedef struct {
  const char* name;
  void (*call)(const Call*, MPI_Request*);
  Shape shape;
  int takes_lists; /* with an entry for each rank */
} Collective;

static const Collective collectives[] = {
    {"allgather", allgather, PARTS_OUT, 0},
    {"allgatherv", allgatherv, PARTS_OUT, 1},
    {"allreduce", allreduce, VECTOR, 0},
    {"alltoall", alltoall, PARTS_BOTH, 0},
    {"alltoallv", alltoallv, PARTS_BOTH, 1},
    {"alltoallw", alltoallw, PARTS_BOTH, 1},
    {"barrier", barrier, NOTHING, 0},
    {"bcast", bcast, VECTOR, 0},
    {"exscan", exscan, VECTOR, 0},
    {"gather", gather, PARTS_OUT, 0},
    {"gatherv", gatherv, PARTS_OUT, 1},
    {"reduce", reduce, VECTOR, 0},
    {"reduce_scatter", reduce_scatter, SHARED_VECTOR, 1},
    {"reduce_scatter_block", reduce_scatter_block, SHARED_VECTOR, 0},
    {"scan", scan, VECTOR, 0},
    {"scatter", scatter, PARTS_IN, 0},
    {"scatterv", scatterv, PARTS_IN, 1},
};

static const Collective* find(const char* name)
{
  for (size_t i = 0; i < sizeof(collectives) / sizeof(collectives[0]); i++)
    if (strcmp(collectives[i].name, name) == 0)
      return &collectives[i];
  return NULL;
}

/* ---- What a rank calls with ---------------------------------------------------------------------------------------
 */

/* Sets the elements of each rank; if a shared vector does not divide evenly, the first ranks have
 * one more. */
static void set_parts(Call* call, const Collective* collective, int elements, int ranks)
{
  const int shared = collective->shape == SHARED_VECTOR;
  const int uneven = shared && collective->call == reduce_scatter ? elements % ranks : 0;
  call->count      = shared ? elements / ranks : elements;
  int size;
  MPI_Type_size(call->type, &size);
  for (int i = 0, place = 0; collective->takes_lists && i < ranks; i++) {
    call->counts[i] = call->count + (i < uneven);
    call->places[i] = place;
    call->bytes[i]  = place * size;
    call->types[i]  = call->type;
    place += call->counts[i];
  }
}

static Call prepare(const Collective* collective, const Options* options, long bytes)
{
  const size_t ranks = (size_t)options->ranks;
  const Shape shape  = collective->shape;
  Call call          = {.type = options->type, .op = options->op};
  if (collective->takes_lists) {
    call.counts = own(ranks * sizeof(int));
    call.places = own(ranks * sizeof(int));
    call.bytes  = own(ranks * sizeof(int));
    call.types  = own(ranks * sizeof(MPI_Datatype));
  }
  set_parts(&call, collective, (int)(bytes / options->type_size), options->ranks);
  const int in_place = options->in_place && (collective->call != reduce || options->rank == ROOT);
  call.in            = in_place && collective->call != bcast
                           ? MPI_IN_PLACE
                           : buffer((size_t)bytes * (shape == PARTS_IN || shape == PARTS_BOTH ? ranks : 1));
  call.out           = buffer((size_t)bytes * (shape == PARTS_OUT || shape == PARTS_BOTH ? ranks : 1));
  return call;
}

static void release(Call* call)
{
  if (call->in != MPI_IN_PLACE)
    free(call->in);
  free(call->out);
  (free)(call->counts);
  (free)(call->places);
  (free)(call->bytes);
  (free)(call->types);
}

/* ---- Times --------------------------------------------------------------------------------------------------------
 */

typedef struct {
  double average;
  double least;
  double most;
} OverRanks;

/* Gathers a rank's number at the root by messages, so that a simulator counts only the timed
 * collectives. */
static OverRanks over_ranks(const Options* options, double mine)
{
  OverRanks all = {mine, mine, mine};
  if (options->rank != ROOT)
    MPI_Send(&mine, 1, MPI_DOUBLE, ROOT, 0, WORLD);
  for (int i = 0; options->rank == ROOT && i < options->ranks; i++) {
    if (i == ROOT)
      continue;
    MPI_Recv(&mine, 1, MPI_DOUBLE, i, 0, WORLD, MPI_STATUS_IGNORE);
    all.average += mine;
    all.least = mine < all.least ? mine : all.least;
    all.most  = mine > all.most ? mine : all.most;
  }
  all.average /= options->ranks;
  return all;
}

static void blocking(const Options* options, const Collective* collective, const Call* call, long bytes, double* each)
{
  double time = 0;
  MPI_Barrier(WORLD);
  for (int i = -options->warm_up; i < options->iterations; i++) {
    const double start = MPI_Wtime();
    collective->call(call, NULL);
    const double took = MPI_Wtime() - start;
    if (collective->shape != NOTHING && !options->back_to_back)
      MPI_Barrier(WORLD);
    if (i >= 0) {
      time += took;
      each[i] = took;
    }
  }
  print_each(options, bytes, each, 1);
  const OverRanks all = over_ranks(options, time / options->iterations * 1e6);
  const double row[]  = {all.average, all.least, all.most};
  if (options->rank == ROOT)
    print_row(bytes, row, 3);
}

static double pure_communication(const Options* options, const Collective* collective, const Call* call)
{
  double time = 0;
  MPI_Barrier(WORLD);
  for (int i = -options->warm_up; i < options->iterations; i++) {
    MPI_Request request;
    const double start = MPI_Wtime();
    collective->call(call, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const double took = MPI_Wtime() - start;
    MPI_Barrier(WORLD);
    if (i >= 0)
      time += took;
  }
  MPI_Barrier(WORLD);
  return time / options->iterations;
}

static void compute(double seconds)
{
  const struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL);
}

enum { OVERALL, COMPUTE, START, TEST, WAIT, PURE, LEAST, MOST, OVERLAP, COLUMNS };

static void non_blocking(const Options* options, const Collective* collective, const Call* call, long bytes,
                         double* each)
{
  double times[PURE] = {0}, row[COLUMNS] = {0};
  const double pure = pure_communication(options, collective, call);
  MPI_Barrier(WORLD);
  for (int i = -options->warm_up; i < options->iterations; i++) {
    MPI_Request request;
    const double start = MPI_Wtime();
    collective->call(call, &request);
    const double started = MPI_Wtime();
    compute(pure);
    const double computed = MPI_Wtime();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const double end = MPI_Wtime();
    MPI_Barrier(WORLD);
    if (i < 0)
      continue;
    each[i] = end - start;
    times[OVERALL] += end - start;
    times[COMPUTE] += computed - started;
    times[START] += started - start;
    times[WAIT] += end - computed;
  }
  print_each(options, bytes, each, 1);
  for (int i = OVERALL; i < PURE; i++)
    row[i] = over_ranks(options, times[i] / options->iterations * 1e6).average;
  const OverRanks all  = over_ranks(options, pure * 1e6);
  row[PURE]            = all.average;
  row[LEAST]           = all.least;
  row[MOST]            = all.most;
  const double overlap = row[PURE] > 0 ? 100 * (1 - (row[OVERALL] - row[COMPUTE]) / row[PURE]) : 0;
  row[OVERLAP]         = overlap > 0 ? overlap : 0;
  if (options->rank == ROOT)
    print_row(bytes, row, COLUMNS);
}

static int usage(int rank)
{
  if (rank == ROOT)
    fputs("usage: benchmark_collectives [i]COLLECTIVE BYTES,... [iterations=N] [warm-up=N] [type=TYPE] [op=OP] "
          "[in-place] [each]\n",
          stderr);
  MPI_Finalize();
  return EXIT_USAGE;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  Options options;
  const int understood         = parse(&options, argc, argv);
  const Collective* collective = understood ? find(options.name) : NULL;
  const int starts             = understood && collective == NULL && options.name[0] == 'i';
  if (starts)
    collective = find(options.name + 1);
  if (collective == NULL)
    return usage(options.rank);
  double* each = own((size_t)options.iterations * sizeof(double));
  for (int i = 0; i < options.n_sizes; i++) {
    Call call = prepare(collective, &options, options.sizes[i]);
    (starts ? non_blocking : blocking)(&options, collective, &call, options.sizes[i], each);
    fflush(stdout);
    release(&call);
    MPI_Barrier(WORLD);
  }
  (free)(each);
  MPI_Finalize();
  return 0;
}
