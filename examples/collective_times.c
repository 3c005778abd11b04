/* SPDX-License-Identifier: LGPL-2.1-only */
/* Time that each rank spends in a Broadcast, an Allgather, or an Allgather concurrent with a
 * Reduce-Scatter. Plain MPI: any MPI compiler builds it.
 *
 *     collective_times bcast|allgather|ag+rs ALGORITHM BYTES [ITERATIONS [unchecked] [each]]
 *
 * BYTES, a multiple of 4, is what one rank gives (bcast: the root; ag+rs: to the Allgather, and gets
 * from the Reduce-Scatter). ALGORITHM is `mpi`, the MPI library's own, or one implemented here with
 * point-to-point messages:
 *
 *   bcast      knomial      tree of radix 4, all of a rank's sends at once
 *              sag-knomial  scatter down that tree, then allgather
 *              binary-tree  two binary trees that each carry half of the message
 *   allgather  ring         each rank passes on to the next what it received from the previous one
 *   ag+rs      ring         two independent rings; `mpi` calls MPI_Iallgather and
 *                           MPI_Ireduce_scatter_block
 *
 * All ranks meet in a barrier before each iteration except the first. A line is a rank, the mean and
 * the maximum of its times in microseconds. Every rank checks its last result; a wrong one ends the
 * program with exit status 1. `unchecked` neither fills nor reads the buffers, so that a simulator
 * may share their memory among the ranks. With `each` the times of all iterations follow on a rank's
 * line, in order.
 */
#include "ring.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_WRONG_RESULT = 1, EXIT_USAGE = 2 };
enum { ROOT = 0, RADIX = 4 };

/* Arguments of a rank's call. `part` has `count` numbers, `parts` as many for each rank;
 * `to_reduce` and `reduced` belong to the Reduce-Scatter. */
typedef struct {
  int rank;
  int ranks;
  int count;
  int checked;
  int each;
  int* part;
  int* parts;
  int* to_reduce;
  int* reduced;
  int* partial[2];
} Call;

typedef struct {
  const char* collective;
  const char* name;
  void (*run)(const Call*);
} Algorithm;

/* ---- Broadcast ------------------------------------------------------------------------------------------------------
 */

static void bcast_mpi(const Call* call)
{
  MPI_Bcast(call->part, call->count, MPI_INT, ROOT, MPI_COMM_WORLD);
}

/* Same algorithm as UCC's bcast `knomial` (tl/ucp, BCAST_KN_RADIX 4): a rank that has the message
 * starts all its sends, the farthest first, and waits for them together. */
static void bcast_knomial(const Call* call)
{
  MPI_Request sends[RADIX * 32];
  int started = 0, distance = 1;
  while (distance * RADIX < call->ranks)
    distance *= RADIX;
  for (; distance >= 1; distance /= RADIX) {
    const int place = call->rank / distance % RADIX;
    if (call->rank % distance != 0)
      continue;
    if (place != 0)
      MPI_Recv(call->part, call->count, MPI_INT, call->rank - place * distance, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      for (int child = RADIX - 1; child >= 1; child--)
        if (call->rank + child * distance < call->ranks)
          MPI_Isend(call->part, call->count, MPI_INT, call->rank + child * distance, 0, MPI_COMM_WORLD,
                    &sends[started++]);
  }
  MPI_Waitall(started, sends, MPI_STATUSES_IGNORE);
}

/* Levels of groups of RADIX: at level l the ranks of a group are RADIX^l apart. A remainder at the
 * top makes one more level of smaller groups; ranks beyond all groups are excluded. */
typedef struct {
  int levels;
  int distance[32];
  int radix[32];
  int ranks;
} Groups;

static Groups groups_of(int ranks)
{
  Groups groups = {0};
  groups.ranks  = 1;
  while (groups.ranks * RADIX <= ranks) {
    groups.distance[groups.levels] = groups.ranks;
    groups.radix[groups.levels++]  = RADIX;
    groups.ranks *= RADIX;
  }
  if (ranks / groups.ranks > 1) {
    groups.distance[groups.levels] = groups.ranks;
    groups.radix[groups.levels++]  = ranks / groups.ranks;
    groups.ranks *= ranks / groups.ranks;
  }
  return groups;
}

typedef struct {
  int first;
  int count;
} Span;

/* Returns the part of the message that a rank has after division at all levels from the top down to
 * this one. */
static Span span_at(const Groups* groups, int rank, int level, int count)
{
  Span span = {0, count};
  for (int l = groups->levels - 1; l >= level; l--) {
    const int digit = rank / groups->distance[l] % groups->radix[l];
    const int begin = (int)((long long)span.count * digit / groups->radix[l]);
    const int end   = (int)((long long)span.count * (digit + 1) / groups->radix[l]);
    span.first += begin;
    span.count = end - begin;
  }
  return span;
}

/* Starts transferring the part that `owner` has at a level between this rank and another. */
static void start_span(const Call* call, const Groups* groups, int owner, int level, int with, int sends,
                       MPI_Request* request)
{
  const Span span = span_at(groups, owner, level, call->count);
  if (sends)
    MPI_Isend(call->part + span.first, span.count, MPI_INT, with, level, MPI_COMM_WORLD, request);
  else
    MPI_Irecv(call->part + span.first, span.count, MPI_INT, with, level, MPI_COMM_WORLD, request);
}

static void scatter_level(const Call* call, const Groups* groups, int level)
{
  const int distance = groups->distance[level], digit = call->rank / distance % groups->radix[level];
  MPI_Request requests[RADIX];
  int started = 0;
  if (call->rank % distance != 0)
    return;
  if (digit != 0)
    start_span(call, groups, call->rank, level, call->rank - digit * distance, 0, &requests[started++]);
  for (int child = 1; digit == 0 && child < groups->radix[level]; child++)
    start_span(call, groups, call->rank + child * distance, level, call->rank + child * distance, 1,
               &requests[started++]);
  MPI_Waitall(started, requests, MPI_STATUSES_IGNORE);
}

static void gather_level(const Call* call, const Groups* groups, int level)
{
  const int distance = groups->distance[level], digit = call->rank / distance % groups->radix[level];
  MPI_Request requests[2 * RADIX];
  int started = 0;
  for (int other = 0; other < groups->radix[level]; other++) {
    const int peer = call->rank + (other - digit) * distance;
    if (other == digit)
      continue;
    start_span(call, groups, peer, level, peer, 0, &requests[started++]);
    start_span(call, groups, call->rank, level, peer, 1, &requests[started++]);
  }
  MPI_Waitall(started, requests, MPI_STATUSES_IGNORE);
}

/* Same algorithm as UCC's bcast `sag_knomial` (tl/ucp, BCAST_SAG_KN_RADIX 4): the message is
 * scattered down a k-nomial tree and gathered again in groups; ranks beyond all groups get it whole
 * at the end. */
static void bcast_sag_knomial(const Call* call)
{
  const Groups groups = groups_of(call->ranks);
  const int beyond    = call->rank + groups.ranks;
  if (call->rank >= groups.ranks) {
    MPI_Recv(call->part, call->count, MPI_INT, call->rank - groups.ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  for (int level = groups.levels - 1; level >= 0; level--)
    scatter_level(call, &groups, level);
  for (int level = 0; level < groups.levels; level++)
    gather_level(call, &groups, level);
  if (beyond < call->ranks)
    MPI_Send(call->part, call->count, MPI_INT, beyond, 0, MPI_COMM_WORLD);
}

/* Binary tree of the numbers 1 to last in order: the lowest bit of a number is its height; numbers
 * beyond `last` are skipped, and replaced by their left children. The root is the highest power of
 * 2. */
static int tree_root(int last)
{
  int root = 1;
  while (2 * root <= last)
    root *= 2;
  return root;
}

static int tree_parent(int number, int last)
{
  do {
    const int bit = number & -number;
    number        = (number ^ bit) | 2 * bit;
  } while (number > last);
  return number;
}

static int tree_left(int number)
{
  return number - (number & -number) / 2;
}

static int tree_right(int number, int last)
{
  int child = number + (number & -number) / 2;
  while (child > last && child != tree_left(child))
    child = tree_left(child);
  return child > last ? number : child;
}

/* Broadcast of one half of the message down one tree, in which `number` is this rank's; a number n
 * is the rank sign * n + shift. */
typedef struct {
  int* data;
  int count;
  int number;
  int sign;
  int shift;
} Half;

static int rank_of(const Half* half, int number, int ranks)
{
  return (half->sign * number + half->shift + ranks) % ranks;
}

static int start_receive(const Call* call, const Half* half, int tag, MPI_Request* request)
{
  const int top  = half->number == tree_root(call->ranks);
  const int from = top ? ROOT : rank_of(half, tree_parent(half->number, call->ranks), call->ranks);
  if (call->rank == ROOT)
    return 0;
  MPI_Irecv(half->data, half->count, MPI_INT, from, tag, MPI_COMM_WORLD, request);
  return 1;
}

static int start_sends(const Call* call, const Half* half, int tag, MPI_Request* requests)
{
  int started = 0, to[3], targets = 0;
  if (call->rank == ROOT)
    to[targets++] = rank_of(half, tree_root(call->ranks), call->ranks);
  const int left = tree_left(half->number), right = tree_right(half->number, call->ranks);
  if (left != half->number)
    to[targets++] = rank_of(half, left, call->ranks);
  if (right != half->number)
    to[targets++] = rank_of(half, right, call->ranks);
  for (int k = 0; k < targets; k++)
    if (to[k] != ROOT)
      MPI_Isend(half->data, half->count, MPI_INT, to[k], tag, MPI_COMM_WORLD, &requests[started++]);
  return started;
}

/* Two trees, after Sanders, Speck and Träff (Parallel Computing 35, 2009): the second is the first,
 * mirrored for an even number of ranks and shifted by one for an odd one, so that inner ranks of
 * one are leaves of the other. Same algorithm as UCC's bcast `dbt` (tl/ucp), without pipelining. */
static void bcast_binary_tree(const Call* call)
{
  const int even = call->ranks % 2 == 0, first = (call->count + 1) / 2;
  const Half halves[2]    = {{call->part, first, call->rank + 1, 1, -1},
                             {call->part + first, call->count - first,
                              even ? call->ranks - call->rank : (call->rank + call->ranks - 1) % call->ranks + 1,
                              even ? -1 : 1, even ? call->ranks : 0}};
  MPI_Request receives[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, sends[6];
  int started = 0, next = MPI_UNDEFINED;
  for (int tag = 0; tag < 2; tag++)
    if (!start_receive(call, &halves[tag], tag, &receives[tag]))
      started += start_sends(call, &halves[tag], tag, sends + started);
  for (MPI_Waitany(2, receives, &next, MPI_STATUS_IGNORE); next != MPI_UNDEFINED;
       MPI_Waitany(2, receives, &next, MPI_STATUS_IGNORE))
    started += start_sends(call, &halves[next], next, sends + started);
  MPI_Waitall(started, sends, MPI_STATUSES_IGNORE);
}

/* ---- Allgather, and with Reduce-Scatter
 * ------------------------------------------------------------------------------ */

static void allgather_mpi(const Call* call)
{
  MPI_Allgather(call->part, call->count, MPI_INT, call->parts, call->count, MPI_INT, MPI_COMM_WORLD);
}

static void ag_rs_mpi(const Call* call)
{
  MPI_Request requests[2];
  MPI_Iallgather(call->part, call->count, MPI_INT, call->parts, call->count, MPI_INT, MPI_COMM_WORLD, &requests[0]);
  MPI_Ireduce_scatter_block(call->to_reduce, call->reduced, call->count, MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                            &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* Runs the first `count` of an Allgather and a Reduce-Scatter. */
static void run_rings(const Call* call, int count)
{
  MPI_Request open[4];
  Ring rings[2] = {
      {call->rank, call->ranks, call->count, 0, 0, call->checked, call->parts, NULL, {NULL, NULL}, open, 0},
      {call->rank,
       call->ranks,
       call->count,
       1,
       1,
       call->checked,
       call->to_reduce,
       call->reduced,
       {call->partial[0], call->partial[1]},
       open + 2,
       0}};
  if (call->checked)
    memcpy(part_behind(&rings[0], 0), call->part, sizeof(int) * (size_t)call->count);
  for (int k = 0; k < count; k++)
    ring_start(&rings[k]);
  while (rings_wait_any(rings, count, open))
    ;
}

static void allgather_ring(const Call* call)
{
  run_rings(call, 1);
}

static void ag_rs_ring(const Call* call)
{
  run_rings(call, 2);
}

static const Algorithm algorithms[] = {
    {"bcast", "mpi", bcast_mpi},
    {"bcast", "knomial", bcast_knomial},
    {"bcast", "sag-knomial", bcast_sag_knomial},
    {"bcast", "binary-tree", bcast_binary_tree},
    {"allgather", "mpi", allgather_mpi},
    {"allgather", "ring", allgather_ring},
    {"ag+rs", "mpi", ag_rs_mpi},
    {"ag+rs", "ring", ag_rs_ring},
};

/* ---- Data
 * ------------------------------------------------------------------------------------------------------------ */

static int given(int rank, int i)
{
  return rank * 31 + i % 11 + 1;
}

static int to_reduce(int rank, int to, int i)
{
  return rank % 7 + to % 5 + i % 11;
}

static void fill(const Call* call, const char* collective)
{
  const size_t count = (size_t)call->count;
  for (size_t i = 0; i < count; i++)
    call->part[i] = strcmp(collective, "bcast") != 0 || call->rank == ROOT ? given(call->rank, (int)i) : -1;
  if (call->to_reduce != NULL)
    for (size_t i = 0; i < count * (size_t)call->ranks; i++)
      call->to_reduce[i] = to_reduce(call->rank, (int)(i / count), (int)(i % count));
}

static int wrong_sums(const Call* call)
{
  int wrong = 0;
  for (int i = 0; i < call->count; i++) {
    int sum = 0;
    for (int rank = 0; rank < call->ranks; rank++)
      sum += to_reduce(rank, call->rank, i);
    wrong += call->reduced[i] != sum;
  }
  return wrong;
}

static int count_wrong(const Call* call, const char* collective)
{
  int wrong = 0;
  if (strcmp(collective, "bcast") == 0) {
    for (int i = 0; i < call->count; i++)
      wrong += call->part[i] != given(ROOT, i);
    return wrong;
  }
  for (int rank = 0; rank < call->ranks; rank++)
    for (int i = 0; i < call->count; i++)
      wrong += call->parts[(size_t)rank * call->count + i] != given(rank, i);
  return call->to_reduce == NULL ? wrong : wrong + wrong_sums(call);
}

static int* numbers(size_t count)
{
  int* memory = malloc(count * sizeof(int)); /* not calloc, which would touch memory that may be shared */
  if (memory == NULL) {
    fprintf(stderr, "collective_times: no memory for %zu bytes\n", count * sizeof(int));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  return memory;
}

static void allocate(Call* call, const char* collective)
{
  const size_t count = (size_t)call->count, all = count * (size_t)call->ranks;
  call->part = numbers(count);
  if (strcmp(collective, "bcast") != 0)
    call->parts = numbers(all);
  if (strcmp(collective, "ag+rs") == 0) {
    call->to_reduce  = numbers(all);
    call->reduced    = numbers(count);
    call->partial[0] = numbers(count);
    call->partial[1] = numbers(count);
  }
}

static void release(Call* call)
{
  free(call->part);
  free(call->parts);
  free(call->to_reduce);
  free(call->reduced);
  free(call->partial[0]);
  free(call->partial[1]);
}

/* ---- Measurement
 * ----------------------------------------------------------------------------------------------------- */

static void print_times(const Call* call, const double* seconds, int iterations)
{
  double sum = 0, most = 0;
  for (int i = 0; i < iterations; i++) {
    sum += seconds[i];
    most = seconds[i] > most ? seconds[i] : most;
  }
  printf("%d %.4f %.4f", call->rank, sum / iterations * 1e6, most * 1e6);
  for (int i = 0; call->each && i < iterations; i++)
    printf(" %.4f", seconds[i] * 1e6);
  printf("\n");
}

static void measure(const Call* call, const Algorithm* algorithm, int iterations)
{
  /* The parentheses prevent macro expansion: a simulator that shares the ranks' allocations must
   * not share these. */
  double* seconds = (malloc)(sizeof(double) * (size_t)iterations);
  if (seconds == NULL) {
    fprintf(stderr, "collective_times: no memory for %d times\n", iterations);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  for (int i = 0; i < iterations; i++) {
    if (i > 0)
      MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    algorithm->run(call);
    seconds[i] = MPI_Wtime() - start;
  }
  print_times(call, seconds, iterations);
  (free)(seconds);
}

static const Algorithm* find_algorithm(const char* collective, const char* name)
{
  for (size_t k = 0; k < sizeof algorithms / sizeof algorithms[0]; k++)
    if (strcmp(algorithms[k].collective, collective) == 0 && strcmp(algorithms[k].name, name) == 0)
      return &algorithms[k];
  return NULL;
}

static int parse(int argc, char** argv, Call* call, const Algorithm** algorithm, int* iterations)
{
  if (argc < 4 || argc > 7)
    return 0;
  call->checked = 1;
  for (int k = 5; k < argc; k++)
    if (strcmp(argv[k], "unchecked") == 0)
      call->checked = 0;
    else if (strcmp(argv[k], "each") == 0)
      call->each = 1;
    else
      return 0;
  const long bytes = atol(argv[3]);
  *algorithm       = find_algorithm(argv[1], argv[2]);
  *iterations      = argc > 4 ? atoi(argv[4]) : 1;
  call->count      = (int)(bytes / (long)sizeof(int));
  return *algorithm != NULL && *iterations > 0 && bytes > 0 && bytes % (long)sizeof(int) == 0 &&
         bytes / (long)sizeof(int) == call->count;
}

int main(int argc, char** argv)
{
  Call call = {0};
  const Algorithm* algorithm;
  int iterations, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &call.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &call.ranks);
  if (!parse(argc, argv, &call, &algorithm, &iterations)) {
    if (call.rank == 0)
      fputs("usage: collective_times bcast|allgather|ag+rs ALGORITHM BYTES [ITERATIONS [unchecked] [each]]\n", stderr);
    MPI_Finalize();
    return EXIT_USAGE;
  }
  allocate(&call, algorithm->collective);
  if (call.checked)
    fill(&call, algorithm->collective);
  measure(&call, algorithm, iterations);
  if (call.checked)
    wrong = count_wrong(&call, algorithm->collective);
  if (wrong > 0)
    fprintf(stderr, "collective_times: rank %d: %d numbers are wrong\n", call.rank, wrong);
  release(&call);
  MPI_Finalize();
  return wrong > 0 ? EXIT_WRONG_RESULT : 0;
}
