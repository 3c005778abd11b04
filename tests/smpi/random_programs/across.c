/* SPDX-License-Identifier: LGPL-2.1-only */
/* Intercommunicators: created, copied, and used for messages and collectives. The old form of a collective consists of
 * messages between the ranks of a communicator of both groups; reductions combine them in rank order. */
#include "edges.h"

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
  COLLECTIVES
} Collective;

static const char* const NAMES[] = {"barrier across",   "bcast across",          "gather across",
                                    "gatherv across",   "scatter across",        "scatterv across",
                                    "allgather across", "allgatherv across",     "alltoall across",
                                    "alltoallv across", "alltoallw across",      "reduce across",
                                    "allreduce across", "reduce_scatter across", "reduce_scatter_block across"};

/* ---- Creation ---- */

static int side_of(int way, int by, int rank)
{
  return way == 0 ? rank % 2 : way == 1 ? rank >= by : rank < by;
}

static MPI_Comm create_from_groups(const Program* program, const Across* across, const int* leaders)
{
  MPI_Group group, sides[2];
  MPI_Comm made;
  char tag[64];
  MPI_Comm_group(across->both, &group);
  for (int side = 0; side < 2; side++)
    MPI_Group_incl(group, across->sizes[side], across->ranks[side], &sides[side]);
  snprintf(tag, sizeof tag, "random intercommunicator %llx", (unsigned long long)salt_of(program, across->both));
  MPI_Intercomm_create_from_groups(sides[across->side], leaders[across->side], sides[!across->side],
                                   leaders[!across->side], tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  for (int side = 0; side < 2; side++)
    MPI_Group_free(&sides[side]);
  MPI_Group_free(&group);
  return made;
}

static MPI_Comm create(const Program* program, const Across* across, int rank, const int* leaders)
{
  MPI_Comm local, made;
  const int other = !across->side;
  MPI_Comm_split(across->both, across->side, rank, &local);
  MPI_Intercomm_create(local, leaders[across->side], across->both, across->ranks[other][leaders[other]], program->step,
                       &made);
  MPI_Comm_free(&local);
  return made;
}

/** Replaces an intercommunicator by a copy. */
static void copy(Across* across, int later)
{
  MPI_Comm made;
  MPI_Request request = MPI_REQUEST_NULL;
  if (later)
    MPI_Comm_idup(across->comm, &made, &request);
  else
    MPI_Comm_dup(across->comm, &made);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&across->comm);
  across->comm = made;
}

static void check_sides(Program* program, const Across* across, int rank)
{
  int own, size, others, is_inter;
  MPI_Comm_rank(across->comm, &own);
  MPI_Comm_size(across->comm, &size);
  MPI_Comm_remote_size(across->comm, &others);
  MPI_Comm_test_inter(across->comm, &is_inter);
  if (!is_inter || size != across->sizes[across->side] || others != across->sizes[!across->side] || own >= size ||
      across->ranks[across->side][own] != rank)
    note_wrong(program, "ranks of an intercommunicator");
}

void free_across(Across* across)
{
  if (across->comm == MPI_COMM_NULL)
    return;
  MPI_Comm_free(&across->both);
  if (across->comm != MPI_COMM_NULL)
    MPI_Comm_free(&across->comm);
}

void make_across(Program* program, MPI_Comm comm)
{
  int size, rank;
  Draw* all      = &program->all;
  Across* across = &program->across[below(all, MOST_ACROSS)];
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  const int way = below(all, 3), by = 1 + below(all, 1000), groups = once_in(all, 2), copies = below(all, 3);
  int leaders[2] = {below(all, 1000), below(all, 1000)};
  free_across(across);
  across->comm = MPI_COMM_NULL;
  if (size == 1)
    return;
  MPI_Comm_dup(comm, &across->both);
  memset(across->sizes, 0, sizeof across->sizes);
  for (int other = 0; other < size; other++) {
    const int side                             = side_of(way, 1 + by % (size - 1), other);
    across->ranks[side][across->sizes[side]++] = other;
  }
  across->side = side_of(way, 1 + by % (size - 1), rank);
  for (int side = 0; side < 2; side++)
    leaders[side] %= across->sizes[side];
  if (program->old) { // a communicator of both groups executes everything
    MPI_Comm_dup(comm, &across->comm);
    return;
  }
  across->comm = groups ? create_from_groups(program, across, leaders) : create(program, across, rank, leaders);
  if (copies > 0)
    copy(across, copies > 1);
  check_sides(program, across, rank);
}

/* ---- Messages ---- */

/** Sends to the remote ranks whose number equals this rank's modulo the smaller size. */
void send_across(Program* program, const Across* across)
{
  int rank, own = 0;
  MPI_Comm_rank(across->both, &rank);
  const int side = across->side, others = across->sizes[!side];
  while (across->ranks[side][own] != rank)
    own++;
  const int smaller   = others < across->sizes[side] ? others : across->sizes[side];
  const int groups    = below(&program->all, 20) * (once_in(&program->all, 6) ? 100 : 1);
  const Basic basic   = draw_basic(&program->all);
  const uint64_t salt = salt_of(program, across->both);
  for (int other = own % smaller; other < others; other += smaller) {
    const int peer   = across->ranks[!side][other];
    const int to     = program->old ? peer : other;
    const MPI_Comm c = program->old ? across->both : across->comm;
    Call* out        = new_call("send across", across->both, NONBLOCKING);
    Call* in         = new_call("receive across", across->both, NONBLOCKING);
    MPI_Request sent, receiving;
    out->send   = make_buffer(&program->mine, basic, 1, &groups, 0);
    in->receive = make_buffer(&program->mine, basic, 1, &groups, 0);
    out->gives = in->gets = 1;
    fill(&out->send, 0, mixed(salt, (uint64_t)(rank * MOST_RANKS + peer)));
    expect(&in->receive, 0, mixed(salt, (uint64_t)(peer * MOST_RANKS + rank)));
    MPI_Irecv(in->receive.address, in->receive.counts[0], in->receive.layout.type, to, program->step, c, &receiving);
    MPI_Isend(out->send.address, out->send.counts[0], out->send.layout.type, to, program->step, c, &sent);
    MPI_Wait(&receiving, MPI_STATUS_IGNORE);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    end_call(program, in);
    end_call(program, out);
  }
}

/* ---- Collectives ---- */

/** Random parameters of a collective, identical on all ranks except for the last member. */
typedef struct {
  const Across* across;
  Edges edges;
  Collective which;
  int root_side, root; ///< and rank in its group
  int argument;        ///< of MPI: the root as this rank passes it
} Plan;

static int is_rooted(Collective which)
{
  return which == REDUCE || (which >= BCAST && which <= SCATTERV);
}

static void list_others(const Across* across, int* list, int* count)
{
  *count = across->sizes[!across->side];
  memcpy(list, across->ranks[!across->side], (size_t)*count * sizeof(int));
}

/** Lists this rank's edges: to the root, or to all remote ranks. */
static void find_edges(Plan* plan)
{
  Edges* edges         = &plan->edges;
  const Across* across = plan->across;
  const int gathers    = plan->which == GATHER || plan->which == GATHERV || plan->which == REDUCE;
  const int root       = across->ranks[plan->root_side][plan->root];
  const int is_root    = edges->rank == root;
  if (!is_rooted(plan->which) || (is_root && gathers))
    list_others(across, edges->from, &edges->sources);
  if (!is_rooted(plan->which) || (is_root && !gathers))
    list_others(across, edges->to, &edges->destinations);
  if (is_rooted(plan->which) && across->side != plan->root_side) {
    edges->sources      = !gathers;
    edges->destinations = gathers;
    edges->from[0] = edges->to[0] = root;
  }
}

static void call_data(const Plan* plan, Call* call, MPI_Request* request)
{
  const Form form     = plan->edges.form;
  const MPI_Comm comm = plan->across->comm;
  const Buffer *send = &call->send, *receive = &call->receive;
  MPI_Datatype from = call->gives ? send->layout.type : MPI_DATATYPE_NULL;
  MPI_Datatype to   = call->gets ? receive->layout.type : MPI_DATATYPE_NULL;
  void *out = send->address, *in = receive->address;
  const int sent = send->counts[0], got = receive->counts[0], root = plan->argument;
  list_blocks(call, plan->which == ALLTOALLW);
  switch (plan->which) {
    case BCAST:
      CALL_FORM(form, Bcast, bcast, (call->gives ? out : in, call->gives ? sent : got, call->gives ? from : to, root),
                (call->gives ? out : in, call->gives ? sent : got, call->gives ? from : to, root), comm, request);
      break;
    case GATHER:
      CALL_FORM(form, Gather, gather, (out, sent, from, in, got, to, root), (out, sent, from, in, got, to, root), comm,
                request);
      break;
    case GATHERV:
      CALL_FORM(form, Gatherv, gatherv, (out, sent, from, in, receive->counts, receive->displacements, to, root),
                (out, sent, from, in, call->large_receive_counts, call->large_receive_places, to, root), comm, request);
      break;
    case SCATTER:
      CALL_FORM(form, Scatter, scatter, (out, sent, from, in, got, to, root), (out, sent, from, in, got, to, root),
                comm, request);
      break;
    case SCATTERV:
      CALL_FORM(form, Scatterv, scatterv, (out, send->counts, send->displacements, from, in, got, to, root),
                (out, call->large_send_counts, call->large_send_places, from, in, got, to, root), comm, request);
      break;
    case ALLGATHER:
      CALL_FORM(form, Allgather, allgather, (out, sent, from, in, got, to), (out, sent, from, in, got, to), comm,
                request);
      break;
    case ALLGATHERV:
      CALL_FORM(form, Allgatherv, allgatherv, (out, sent, from, in, receive->counts, receive->displacements, to),
                (out, sent, from, in, call->large_receive_counts, call->large_receive_places, to), comm, request);
      break;
    case ALLTOALL:
      CALL_FORM(form, Alltoall, alltoall, (out, sent, from, in, got, to), (out, sent, from, in, got, to), comm,
                request);
      break;
    case ALLTOALLV:
      CALL_FORM(form, Alltoallv, alltoallv,
                (out, send->counts, send->displacements, from, in, receive->counts, receive->displacements, to),
                (out, call->large_send_counts, call->large_send_places, from, in, call->large_receive_counts,
                 call->large_receive_places, to),
                comm, request);
      break;
    default:
      CALL_FORM(form, Alltoallw, alltoallw,
                (out, send->counts, call->send_bytes, call->send_types, in, receive->counts, call->receive_bytes,
                 call->receive_types),
                (out, call->large_send_counts, call->large_send_places, call->send_types, in,
                 call->large_receive_counts, call->large_receive_places, call->receive_types),
                comm, request);
  }
}

static void exchange(Plan* plan, Call* call, MPI_Request* request)
{
  Edges* edges  = &plan->edges;
  const int one = plan->which <= GATHERV || plan->which == ALLGATHER || plan->which == ALLGATHERV;
  edges->single = one;
  if (plan->which == GATHERV || plan->which == ALLGATHERV)
    edges->sizes = BY_SENDER;
  if (plan->which == SCATTERV)
    edges->sizes = BY_RECEIVER;
  if (plan->which == ALLTOALLV || plan->which == ALLTOALLW)
    edges->sizes = BY_PAIR;
  if (edges->destinations > 0)
    make_sent(edges, call);
  if (edges->sources > 0)
    make_received(edges, call);
  if (edges->program->old)
    send_along(edges, call);
  else
    call_data(plan, call, request);
}

/** Receives the contributions of the remote group, and combines them in rank order. */
static void reduce_with_messages(const Plan* plan, Call* call, const Reduction* reduction, int first, int count)
{
  const Edges* edges   = &plan->edges;
  const Layout* layout = &call->reduced;
  const int label      = edges->program->step;
  MPI_Request sent[MOST_RANKS];
  for (int d = 0; d < edges->destinations; d++)
    MPI_Isend(call->send.address, call->send.counts[0], layout->type, edges->to[d], label, edges->plain, &sent[d]);
  if (edges->sources > 0) {
    const int groups = call->send.counts[0] * layout->elements / GROUP;
    Buffer sum       = make_shared_buffer(*layout, 1, &groups);
    for (int s = edges->sources; s-- > 0;) {
      Buffer given = make_shared_buffer(*layout, 1, &groups);
      Buffer* into = s == edges->sources - 1 ? &sum : &given;
      MPI_Recv(into->address, into->counts[0], layout->type, edges->from[s], label, edges->plain, MPI_STATUS_IGNORE);
      if (into == &given)
        MPI_Reduce_local(given.address, sum.address, sum.counts[0], layout->type, reduction->op);
      free_buffer(&given);
    }
    for (int index = 0; index < count; index++)
      memcpy(element(&call->receive, call->receive.storage, 0, index), element(&sum, sum.storage, 0, first + index),
             (size_t)layout->size);
    free_buffer(&sum);
  }
  MPI_Waitall(edges->destinations, sent, MPI_STATUSES_IGNORE);
}

/** Returns the groups of elements that a rank gets from a reduction that is scattered over its group. */
static int share_of(const Plan* plan, int place, int all)
{
  const int own = plan->across->sizes[plan->across->side];
  if (plan->which == REDUCE_SCATTER_BLOCK)
    return all / own;
  return place == 0 ? all - own + 1 : 1;
}

static void reduce(Plan* plan, Call* call, MPI_Request* request)
{
  Edges* edges              = &plan->edges;
  const Across* across      = plan->across;
  const Reduction reduction = draw_reduction(&edges->program->all);
  const int scatters        = plan->which == REDUCE_SCATTER || plan->which == REDUCE_SCATTER_BLOCK;
  const int own_size = across->sizes[across->side], others = across->sizes[!across->side];
  int all = edges->groups;
  if (plan->which == REDUCE_SCATTER)
    all = own_size + others + edges->groups; // each rank gets one group, the first rank the remainder
  if (plan->which == REDUCE_SCATTER_BLOCK)
    all = own_size * others * (edges->groups % 2); // divisible by both groups
  const Layout layout =
      reduction.own ? draw_layout(&edges->program->all, reduction.basic, all) : basic_layout(reduction.basic);
  call->reduced = layout;
  remember_layout(&layout);
  int place = 0, before = 0;
  for (; across->ranks[across->side][place] != edges->rank; place++)
    before += share_of(plan, place, all);
  const int share = scatters ? share_of(plan, place, all) : all, first = scatters ? before * GROUP : 0;
  uint64_t tags[MOST_RANKS];
  for (int other = 0; other < others; other++)
    tags[other] = mixed(edges->salt, (uint64_t)across->ranks[!across->side][other]);
  call->gives = edges->destinations > 0;
  call->gets  = edges->sources > 0;
  call->send  = make_shared_buffer(layout, 1, &all);
  contribute(&reduction, &call->send, 0, 0, mixed(edges->salt, (uint64_t)edges->rank));
  call->receive = make_shared_buffer(layout, 1, &share);
  if (call->gets)
    expect_reduction(&reduction, &call->receive, 0, first, tags, others);
  if (edges->program->old) {
    reduce_with_messages(plan, call, &reduction, first, share * GROUP);
    return;
  }
  const int count = all * GROUP / layout.elements;
  for (int other = 0; other < own_size; other++)
    call->large_receive_counts[other] = call->receive_bytes[other] =
        share_of(plan, other, all) * GROUP / layout.elements;
  const Form form     = edges->form;
  const MPI_Comm comm = across->comm;
  const MPI_Op op     = reduction.op;
  void *out = call->send.address, *in = call->receive.address;
  switch (plan->which) {
    case REDUCE:
      CALL_FORM(form, Reduce, reduce, (out, in, count, layout.type, op, plan->argument),
                (out, in, count, layout.type, op, plan->argument), comm, request);
      break;
    case ALLREDUCE:
      CALL_FORM(form, Allreduce, allreduce, (out, in, count, layout.type, op), (out, in, count, layout.type, op), comm,
                request);
      break;
    case REDUCE_SCATTER:
      CALL_FORM(form, Reduce_scatter, reduce_scatter, (out, in, call->receive_bytes, layout.type, op),
                (out, in, call->large_receive_counts, layout.type, op), comm, request);
      break;
    default:
      CALL_FORM(form, Reduce_scatter_block, reduce_scatter_block,
                (out, in, call->receive_bytes[place], layout.type, op),
                (out, in, call->receive_bytes[place], layout.type, op), comm, request);
  }
}

static void synchronize(const Plan* plan, MPI_Request* request)
{
  const MPI_Comm comm = plan->across->comm;
  if (is_blocking(plan->edges.form) || plan->edges.program->old)
    MPI_Barrier(comm);
  else if (plan->edges.form >= PERSISTENT)
    MPI_Barrier_init(comm, MPI_INFO_NULL, request);
  else
    MPI_Ibarrier(comm, request);
}

void call_across(Program* program, const Across* across)
{
  Draw* all     = &program->all;
  Plan plan     = {.across = across, .which = (Collective)below(all, COLLECTIVES), .root_side = below(all, 2)};
  plan.root     = below(all, 1000) % across->sizes[plan.root_side];
  plan.edges    = draw_edges(program, across->both);
  plan.argument = across->side != plan.root_side                                ? plan.root
                  : across->ranks[plan.root_side][plan.root] == plan.edges.rank ? MPI_ROOT
                                                                                : MPI_PROC_NULL;
  find_edges(&plan);
  Call* call          = new_call(NAMES[plan.which], across->both, plan.edges.form);
  MPI_Request request = MPI_REQUEST_NULL;
  if (plan.which == BARRIER)
    synchronize(&plan, &request);
  else if (plan.which >= REDUCE)
    reduce(&plan, call, &request);
  else
    exchange(&plan, call, &request);
  carry_on(program, call, program->old ? BLOCKING : plan.edges.form, request);
}
