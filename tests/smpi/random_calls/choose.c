/* SPDX-License-Identifier: LGPL-2.1-only */
#include "call.h"

static const char* const NAMES[COLLECTIVES] = {
    "Barrier",   "Bcast",      "Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block",
    "Allgather", "Allgatherv", "Gather", "Gatherv",   "Scatter",        "Scatterv",
    "Alltoall",  "Alltoallv",  "Scan",   "Exscan"};

const char* collective_name(Collective collective)
{
  return NAMES[collective];
}

bool is_reduction(Collective collective)
{
  return (collective >= REDUCE && collective <= REDUCE_SCATTER_BLOCK) || collective >= SCAN;
}

bool is_uneven(Collective collective)
{
  return collective == REDUCE_SCATTER || collective == ALLGATHERV || collective == GATHERV || collective == SCATTERV ||
         collective == ALLTOALLV;
}

bool is_rooted(Collective collective)
{
  return collective == BCAST || collective == REDUCE || (collective >= GATHER && collective <= SCATTERV);
}

/* ---- SMPI's errors ----
 * Calls with such an error are not chosen if SMPI executes them: they cannot be compared, and weft does not correct
 * them. The locations refer to SimGrid 4.1, src/smpi, with its "default" algorithms; its other algorithms have more
 * errors:
 *
 * - A contiguous type of a resized type is sent as if its elements were not resized
 *   (mpi/smpi_datatype_derived.cpp). There is no such layout here.
 * - MPI_Test does not set the flag for MPI_REQUEST_NULL with MPI_STATUS_IGNORE (PMPI_Test,
 *   bindings/smpi_pmpi_request.cpp), and MPI_Testany treats non-blocking collectives as complete (Request::testany,
 *   mpi/smpi_request.cpp): see complete.c.
 * - The errors below. */

/* The loop for non-commutative operations uses an index other than the loop's (colls::scan and colls::exscan,
 * colls/smpi_coll.cpp). */
static bool is_unordered_scan(const Call* call)
{
  return (call->collective == SCAN || call->collective == EXSCAN) && !call->operation->commutative;
}

/* The copy of the data is sized as if there were no gaps (PMPI_Ialltoallv, bindings/smpi_pmpi_coll.cpp). */
static bool is_alltoallv_in_place_with_gaps(const Call* call)
{
  return call->collective == ALLTOALLV && call->in_place && is_derived(call->layouts[1]);
}

/* The copy of the data is freed as soon as the call returns (tmp_sendbuf of PMPI_I..., bindings/smpi_pmpi_coll.cpp). */
static bool is_nonblocking_on_freed_copy(const Call* call)
{
  const bool copied = (is_reduction(call->collective) && call->collective != REDUCE) || call->collective == ALLTOALL ||
                      call->collective == ALLTOALLV;
  return call->nonblocking && call->in_place && copied;
}

/* SMPI corrupts the heap and reduces in a different order (Request::finish_nbc_requests, mpi/smpi_request.cpp). */
static bool is_nonblocking_reduction_of_derived_type(const Call* call)
{
  return call->nonblocking && is_reduction(call->collective) && is_derived(call->layouts[0]);
}

/* SMPI assumes that the result starts from zero (colls::iexscan, colls/smpi_nbc_impl.cpp). */
static bool is_nonblocking_exscan_but_for_sums(const Call* call)
{
  return call->nonblocking && call->collective == EXSCAN && call->operation->op != MPI_SUM;
}

static bool smpi_is_right(const Call* call)
{
  return !is_unordered_scan(call) && !is_alltoallv_in_place_with_gaps(call) && !is_nonblocking_on_freed_copy(call) &&
         !is_nonblocking_reduction_of_derived_type(call) && !is_nonblocking_exscan_but_for_sums(call);
}

/* SMPI executes all other calls, whatever the switch. */
bool may_be_offloaded(const Call* call)
{
  return call->collective <= ALLGATHERV && places[call->place].several_hosts;
}

/* SMPI's reduce:flat_tree and allreduce:redbcast reduce in the same order as weft, but flat_tree not in place. */
static bool is_inexact_in_rank_order(const Call* call)
{
  const bool possible = call->collective == ALLREDUCE || (call->collective == REDUCE && !call->in_place);
  return possible && !call->nonblocking && call->base->family == REAL;
}

/* ---- Choice ---- */

static int choose_items(Random* random)
{
  static const int counts[] = {0, 1, 2, 3, 5, 8, 16, 31, 64, 100, 257, 1000};
  return counts[draw(random, (int)(sizeof(counts) / sizeof(counts[0])))];
}

static void choose_data(Call* call, Random* random)
{
  const bool fours = draw(random, 2);
  for (int i = 0; i < 2; i++)
    call->layouts[i] = &call->base->layouts[fours ? 1 + draw(random, LAYOUTS - 1) : PLAIN];
}

static void choose_reduction(Call* call, Random* random)
{
  const bool derived = draw(random, 3) == 0;
  if (derived)
    while (call->base->type != MPI_UNSIGNED)
      call->base = &bases[draw(random, BASES)];
  call->layouts[0] = call->layouts[1] = &call->base->layouts[derived ? 2 + draw(random, LAYOUTS - 2) : PLAIN];
  do
    call->operation = &operations[draw(random, OPERATIONS)];
  while (!fits(call->operation, call->base, call->layouts[0]));
}

static Call choose_any(Random random, Selection selection, int place)
{
  Call call    = {.seed        = draw_bits(&random),
                  .collective  = (Collective)draw(&random, COLLECTIVES),
                  .place       = place,
                  .nonblocking = draw(&random, 2),
                  .in_place    = draw(&random, 3) == 0,
                  .items       = choose_items(&random),
                  .root        = draw(&random, 1000),
                  .base        = &bases[draw(&random, BASES)]};
  call.inexact = selection == INEXACT || (selection == OFFLOADED && may_be_offloaded(&call));
  if (is_reduction(call.collective))
    choose_reduction(&call, &random);
  else
    choose_data(&call, &random);
  if (call.collective == BARRIER || call.collective == BCAST)
    call.in_place = false;
  return call;
}

static bool is_wanted(const Call* call, Selection selection)
{
  switch (selection) {
    case COMPARABLE:
      return smpi_is_right(call);
    case OFFLOADED:
      return may_be_offloaded(call) || smpi_is_right(call);
    default:
      return is_inexact_in_rank_order(call);
  }
}

/* All members of a communicator choose the same call: the index is given, and its properties are the same for all. */
Call choose_call(Random random, Selection selection, int place)
{
  for (;;) {
    const Call call = choose_any(draw_bits(&random), selection, place);
    if (is_wanted(&call, selection))
      return call;
  }
}
