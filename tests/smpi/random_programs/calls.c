/* SPDX-License-Identifier: LGPL-2.1-only */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum {
  BARRIER,
  BCAST,
  GATHER,
  GATHERV,
  SCATTER,
  SCATTERV,
  ALLGATHER,
  ALLGATHERV,
  ALLTOALL,
  ALLTOALLV,
  ALLTOALLW,
  REDUCE,
  ALLREDUCE,
  REDUCE_SCATTER,
  REDUCE_SCATTER_BLOCK,
  SCAN,
  EXSCAN,
  COLLECTIVES
} Collective;

static const char* const NAMES[] = {"barrier",   "bcast",     "gather",     "gatherv",        "scatter",
                                    "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
                                    "alltoallw", "reduce",    "allreduce",  "reduce_scatter", "reduce_scatter_block",
                                    "scan",      "exscan"};

/** Random parameters of a collective call, identical on all ranks. */
typedef struct {
  Program* program;
  MPI_Comm comm;
  int rank, size, root, in_place, uniform;
  Form form;
  uint64_t salt;
  Basic basic;
} Plan;

/** Calls a form whose counts are numbers. */
#define CALL(plan, blocking, other, ...)                                                                               \
  CALL_FORM((plan)->form, blocking, other, (__VA_ARGS__), (__VA_ARGS__), (plan)->comm, request)
/** Calls a form whose counts are arrays, which differ in the large-count forms. */
#define CALL_UNEVEN(plan, blocking, other, small, large)                                                               \
  CALL_FORM((plan)->form, blocking, other, small, large, (plan)->comm, request)

static uint64_t tag(const Plan* plan, int from, int to)
{
  return mixed(mixed(plan->salt, (uint64_t)from), (uint64_t)to + 1);
}

/** Returns the number of groups that one rank sends to another. */
static int groups(const Plan* plan, int from, int to)
{
  if (plan->uniform >= 0)
    return plan->uniform;
  // MPI_Alltoallv in place swaps blocks, so both directions have the same size.
  const int low = from < to ? from : to, high = from < to ? to : from;
  return (int)(mixed(mixed(plan->salt, 77), (uint64_t)(low * MOST_RANKS + high)) % 4);
}

static int draw_groups(Draw* draw)
{
  static const int GROUPS[] = {0, 1, 1, 1, 2, 3, 10, 60, 400, 3000};
  return GROUPS[below(draw, once_in(draw, 8) ? 10 : 8)];
}

/** Makes a buffer with blocks for all ranks (@p peer is -1) or for one. */
static void make_side(Plan* plan, Buffer* buffer, int peer, int sends)
{
  int sizes[MOST_RANKS];
  const int first = peer < 0 ? 0 : peer;
  const int last  = peer < 0 ? plan->size - 1 : peer;
  for (int other = first; other <= last; other++)
    sizes[other - first] = sends ? groups(plan, plan->rank, other) : groups(plan, other, plan->rank);
  *buffer = make_buffer(&plan->program->mine, plan->basic, last - first + 1, sizes, plan->uniform < 0);
}

/** Makes a single block whose size depends only on @p rank. */
static void make_own(Plan* plan, Buffer* buffer, int rank)
{
  const int size = groups(plan, rank, rank);
  *buffer        = make_buffer(&plan->program->mine, plan->basic, 1, &size, 0);
  if (once_in(&plan->program->mine, 6))
    make_absolute(buffer);
}

/** Makes one block per rank, each of that rank's own size. */
static void make_all(Plan* plan, Buffer* buffer)
{
  int sizes[MOST_RANKS];
  for (int rank = 0; rank < plan->size; rank++)
    sizes[rank] = groups(plan, rank, rank);
  *buffer = make_buffer(&plan->program->mine, plan->basic, plan->size, sizes, plan->uniform < 0);
}

/** Copies counts and displacements for a large-count form. */
static void widen(const Buffer* buffer, MPI_Count* counts, MPI_Aint* places)
{
  for (int b = 0; b < buffer->blocks; b++) {
    counts[b] = buffer->counts[b];
    places[b] = buffer->displacements[b];
  }
}

static void call_barrier(MPI_Comm comm, Form form, MPI_Request* request)
{
  if (is_blocking(form))
    MPI_Barrier(comm);
  else if (form >= PERSISTENT)
    MPI_Barrier_init(comm, MPI_INFO_NULL, request);
  else
    MPI_Ibarrier(comm, request);
}

static void broadcast(Plan* plan, Call* call, MPI_Request* request)
{
  Buffer* buffer = &call->receive;
  make_own(plan, buffer, plan->root);
  call->gets = 1;
  if (plan->rank == plan->root)
    fill(buffer, 0, tag(plan, plan->root, 0));
  else
    expect(buffer, 0, tag(plan, plan->root, 0));
  const int count = buffer->address == MPI_BOTTOM ? 1 : buffer->counts[0];
  CALL(plan, Bcast, bcast, buffer->address, count, buffer->layout.type, plan->root);
}

static int single(const Buffer* buffer)
{
  return buffer->address == MPI_BOTTOM ? 1 : buffer->counts[0];
}

static void gather(Plan* plan, Call* call, MPI_Request* request, Collective which)
{
  Buffer *send = &call->send, *receive = &call->receive;
  const int to_all   = which == ALLGATHER || which == ALLGATHERV;
  const int is_root  = to_all || plan->rank == plan->root;
  const int in_place = plan->in_place && is_root;
  if (!in_place) {
    make_own(plan, send, plan->rank);
    fill(send, 0, tag(plan, plan->rank, 0));
    call->gives = 1;
  }
  if (is_root) {
    make_all(plan, receive);
    for (int from = 0; from < plan->size; from++)
      expect(receive, from, tag(plan, from, 0));
    if (in_place)
      fill(receive, plan->rank, tag(plan, plan->rank, 0));
    call->gets = 1;
  }
  const void* from            = in_place ? MPI_IN_PLACE : send->address;
  const int count             = in_place ? 0 : single(send);
  const MPI_Datatype type     = in_place ? MPI_DATATYPE_NULL : send->layout.type;
  const MPI_Datatype received = is_root ? receive->layout.type : MPI_DATATYPE_NULL;
  if (which == GATHER)
    CALL(plan, Gather, gather, from, count, type, receive->address, receive->counts[0], received, plan->root);
  widen(receive, call->large_receive_counts, call->large_receive_places);
  if (which == GATHERV)
    CALL_UNEVEN(plan, Gatherv, gatherv,
                (from, count, type, receive->address, is_root ? receive->counts : NULL,
                 is_root ? receive->displacements : NULL, received, plan->root),
                (from, count, type, receive->address, is_root ? call->large_receive_counts : NULL,
                 is_root ? call->large_receive_places : NULL, received, plan->root));
  if (which == ALLGATHER)
    CALL(plan, Allgather, allgather, from, count, type, receive->address, receive->counts[0], received);
  if (which == ALLGATHERV)
    CALL_UNEVEN(
        plan, Allgatherv, allgatherv,
        (from, count, type, receive->address, receive->counts, receive->displacements, received),
        (from, count, type, receive->address, call->large_receive_counts, call->large_receive_places, received));
}

static void scatter(Plan* plan, Call* call, MPI_Request* request, Collective which)
{
  Buffer *send = &call->send, *receive = &call->receive;
  const int is_root  = plan->rank == plan->root;
  const int in_place = plan->in_place && is_root;
  if (is_root) {
    make_all(plan, send);
    for (int to = 0; to < plan->size; to++)
      fill(send, to, tag(plan, plan->root, to));
    call->gives = 1;
  }
  if (!in_place) {
    make_own(plan, receive, plan->rank);
    expect(receive, 0, tag(plan, plan->root, plan->rank));
    call->gets = 1;
  }
  void* to                = in_place ? MPI_IN_PLACE : receive->address;
  const int count         = in_place ? 0 : single(receive);
  const MPI_Datatype type = in_place ? MPI_DATATYPE_NULL : receive->layout.type;
  const MPI_Datatype sent = is_root ? send->layout.type : MPI_DATATYPE_NULL;
  widen(send, call->large_send_counts, call->large_send_places);
  if (which == SCATTER)
    CALL(plan, Scatter, scatter, send->address, send->counts[0], sent, to, count, type, plan->root);
  else
    CALL_UNEVEN(plan, Scatterv, scatterv,
                (send->address, is_root ? send->counts : NULL, is_root ? send->displacements : NULL, sent, to, count,
                 type, plan->root),
                (send->address, is_root ? call->large_send_counts : NULL, is_root ? call->large_send_places : NULL,
                 sent, to, count, type, plan->root));
}

static void list_blocks(const Buffer* buffer, int* bytes, MPI_Datatype* types)
{
  for (int b = 0; b < buffer->blocks; b++) {
    bytes[b] = (int)(buffer->displacements[b] * buffer->layout.extent);
    types[b] = buffer->layout.type;
  }
}

static void alltoall(Plan* plan, Call* call, MPI_Request* request, Collective which)
{
  Buffer *send = &call->send, *receive = &call->receive;
  make_side(plan, receive, -1, 0);
  call->gets = 1;
  if (!plan->in_place) {
    make_side(plan, send, -1, 1);
    call->gives = 1;
  }
  for (int other = 0; other < plan->size; other++) {
    fill(plan->in_place ? receive : send, other, tag(plan, plan->rank, other));
    expect(receive, other, tag(plan, other, plan->rank));
  }
  const void* from        = plan->in_place ? MPI_IN_PLACE : send->address;
  const MPI_Datatype type = plan->in_place ? MPI_DATATYPE_NULL : send->layout.type;
  list_blocks(receive, call->receive_bytes, call->receive_types);
  list_blocks(send, call->send_bytes, call->send_types);
  if (which == ALLTOALL)
    CALL(plan, Alltoall, alltoall, from, send->counts[0], type, receive->address, receive->counts[0],
         receive->layout.type);
  widen(send, call->large_send_counts, call->large_send_places);
  widen(receive, call->large_receive_counts, call->large_receive_places);
  if (which == ALLTOALLV)
    CALL_UNEVEN(plan, Alltoallv, alltoallv,
                (from, send->counts, send->displacements, type, receive->address, receive->counts,
                 receive->displacements, receive->layout.type),
                (from, call->large_send_counts, call->large_send_places, type, receive->address,
                 call->large_receive_counts, call->large_receive_places, receive->layout.type));
  for (int other = 0; other < plan->size; other++) {
    call->large_send_places[other] = which == ALLTOALLW ? call->send_bytes[other] : call->large_send_places[other];
    call->large_receive_places[other] =
        which == ALLTOALLW ? call->receive_bytes[other] : call->large_receive_places[other];
  }
  if (which == ALLTOALLW)
    CALL_UNEVEN(plan, Alltoallw, alltoallw,
                (from, send->counts, call->send_bytes, call->send_types, receive->address, receive->counts,
                 call->receive_bytes, call->receive_types),
                (from, call->large_send_counts, call->large_send_places, call->send_types, receive->address,
                 call->large_receive_counts, call->large_receive_places, call->receive_types));
}

static void reduce(Plan* plan, Call* call, MPI_Request* request, Collective which)
{
  Buffer *send = &call->send, *receive = &call->receive;
  const Reduction reduction = draw_reduction(&plan->program->all);
  const int scatters        = which == REDUCE_SCATTER || which == REDUCE_SCATTER_BLOCK;
  int before = 0, all = 0;
  int counts[MOST_RANKS];
  uint64_t tags[MOST_RANKS];
  for (int rank = 0; rank < plan->size; rank++) {
    const int size = scatters ? groups(plan, rank, rank) : rank == 0 ? groups(plan, 0, 0) : 0;
    counts[rank]   = size * GROUP;
    tags[rank]     = tag(plan, rank, 0);
    all += size;
    before += rank < plan->rank ? size : 0;
  }
  const Layout layout =
      reduction.own ? draw_layout(&plan->program->all, reduction.basic, all) : basic_layout(reduction.basic);
  call->reduced = layout;
  remember_layout(&layout);
  for (int rank = 0; rank < plan->size; rank++)
    counts[rank] /= layout.elements;
  const int own      = scatters ? groups(plan, plan->rank, plan->rank) : all;
  const int first    = scatters ? before * GROUP : 0;
  const int gets     = which != REDUCE || plan->rank == plan->root;
  const int in_place = plan->in_place && gets;
  if (in_place || gets)
    *receive = make_shared_buffer(layout, 1, in_place ? &all : &own);
  if (in_place)
    contribute(&reduction, receive, 0, 0, tags[plan->rank]);
  if (!in_place) {
    *send = make_shared_buffer(layout, 1, &all);
    contribute(&reduction, send, 0, 0, tags[plan->rank]);
    call->gives = 1;
  }
  call->gets   = gets && !(which == EXSCAN && plan->rank == 0);
  const int to = which == SCAN ? plan->rank + 1 : which == EXSCAN ? plan->rank : plan->size;
  if (call->gets) {
    const int whole    = receive->counts[0];
    receive->counts[0] = own * GROUP / layout.elements;
    expect_reduction(&reduction, receive, 0, first, tags, to);
    if (in_place && scatters)
      call->leading = own * GROUP;
    receive->counts[0] = whole;
  }
  const void* from = in_place ? MPI_IN_PLACE : send->address;
  const int count  = all * GROUP / layout.elements;
  if (which == REDUCE)
    CALL(plan, Reduce, reduce, from, receive->address, count, layout.type, reduction.op, plan->root);
  if (which == ALLREDUCE)
    CALL(plan, Allreduce, allreduce, from, receive->address, count, layout.type, reduction.op);
  if (which == REDUCE_SCATTER) {
    memcpy(call->send_bytes, counts, sizeof counts);
    for (int rank = 0; rank < plan->size; rank++)
      call->large_send_counts[rank] = counts[rank];
    CALL_UNEVEN(plan, Reduce_scatter, reduce_scatter,
                (from, receive->address, call->send_bytes, layout.type, reduction.op),
                (from, receive->address, call->large_send_counts, layout.type, reduction.op));
  }
  if (which == REDUCE_SCATTER_BLOCK)
    CALL(plan, Reduce_scatter_block, reduce_scatter_block, from, receive->address, counts[0], layout.type,
         reduction.op);
  if (which == SCAN)
    CALL(plan, Scan, scan, from, receive->address, count, layout.type, reduction.op);
  if (which == EXSCAN)
    CALL(plan, Exscan, exscan, from, receive->address, count, layout.type, reduction.op);
}

void call_collective(Program* program, MPI_Comm comm)
{
  Draw* all              = &program->all;
  const Collective which = (Collective)below(all, COLLECTIVES);
  Plan plan              = {.program = program, .comm = comm, .salt = salt_of(program, comm), .uniform = -1};
  MPI_Comm_rank(comm, &plan.rank);
  MPI_Comm_size(comm, &plan.size);
  plan.root      = below(all, 1 << 20) % plan.size;
  plan.form      = draw_form(program);
  plan.in_place  = once_in(all, 4);
  plan.basic     = draw_basic(all);
  const int same = draw_groups(all);
  const int v    = which == GATHERV || which == SCATTERV || which == ALLGATHERV || which == ALLTOALLV ||
                   which == ALLTOALLW || which == REDUCE_SCATTER;
  if (!v || once_in(all, 4))
    plan.uniform = (which == ALLTOALL || which >= ALLGATHER) && same > 60 ? 60 : same;
  Call* call       = new_call(NAMES[which], comm, plan.form);
  MPI_Request made = MPI_REQUEST_NULL, *request = &made;
  if (which == BARRIER)
    call_barrier(comm, plan.form, request);
  else if (which == BCAST)
    broadcast(&plan, call, request);
  else if (which == SCATTER || which == SCATTERV)
    scatter(&plan, call, request, which);
  else if (which <= ALLGATHERV)
    gather(&plan, call, request, which);
  else if (which <= ALLTOALLW)
    alltoall(&plan, call, request, which);
  else
    reduce(&plan, call, request, which);
  carry_on(program, call, plan.form, made);
}
