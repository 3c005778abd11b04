/* SPDX-License-Identifier: LGPL-2.1-only */
#include "edges.h"

Edges draw_edges(Program* program, MPI_Comm plain)
{
  static const int GROUPS[] = {0, 1, 1, 2, 3, 10, 60};
  Edges edges               = {.program = program, .plain = plain, .salt = salt_of(program, plain)};
  MPI_Comm_rank(plain, &edges.rank);
  edges.form   = draw_form(program);
  edges.basic  = draw_basic(&program->all);
  edges.groups = GROUPS[below(&program->all, 7)];
  return edges;
}

static int groups_of(const Edges* edges, int from, int to)
{
  switch (edges->sizes) {
    case BY_SENDER:
      return (int)(mixed(edges->salt, (uint64_t)from) % 4);
    case BY_RECEIVER:
      return (int)(mixed(edges->salt, (uint64_t)to) % 4);
    case BY_PAIR:
      return (int)(mixed(edges->salt, (uint64_t)(from * MOST_RANKS + to)) % 4);
    default:
      return edges->groups;
  }
}

static uint64_t tag(const Edges* edges, int from, int to)
{
  return mixed(mixed(edges->salt, (uint64_t)from), edges->single ? 0 : (uint64_t)to + 1);
}

void make_sent(const Edges* edges, Call* call)
{
  int sizes[MOST_RANKS];
  const int blocks = edges->single ? 1 : edges->destinations;
  for (int b = 0; b < blocks; b++)
    sizes[b] = groups_of(edges, edges->rank, edges->single ? edges->rank : edges->to[b]);
  call->send =
      make_buffer(&edges->program->mine, edges->basic, blocks, sizes, !edges->single && edges->sizes != SAME_SIZE);
  for (int b = 0; b < blocks; b++)
    fill(&call->send, b, tag(edges, edges->rank, edges->single ? 0 : edges->to[b]));
  call->gives = 1;
}

void make_received(const Edges* edges, Call* call)
{
  int sizes[MOST_RANKS];
  for (int b = 0; b < edges->sources; b++)
    sizes[b] = groups_of(edges, edges->from[b], edges->rank);
  call->receive = make_buffer(&edges->program->mine, edges->basic, edges->sources, sizes,
                              edges->sizes == BY_SENDER || edges->sizes == BY_PAIR);
  for (int b = 0; b < edges->sources; b++)
    expect(&call->receive, b, tag(edges, edges->from[b], edges->rank));
  call->gets = 1;
}

static unsigned char* block(const Buffer* buffer, int b)
{
  return buffer->origin + buffer->displacements[b] * buffer->layout.extent;
}

void send_along(const Edges* edges, Call* call)
{
  MPI_Request requests[2 * MOST_RANKS];
  int count       = 0;
  const int label = edges->program->step;
  Buffer *send = &call->send, *receive = &call->receive;
  for (int b = 0; call->gets && b < edges->sources; b++)
    MPI_Irecv(block(receive, b), receive->counts[b], receive->layout.type, edges->from[b], label, edges->plain,
              &requests[count++]);
  for (int d = 0; call->gives && d < edges->destinations; d++) {
    const int b = edges->single ? 0 : d;
    MPI_Isend(block(send, b), send->counts[b], send->layout.type, edges->to[d], label, edges->plain,
              &requests[count++]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void list_side(const Buffer* buffer, int in_bytes, int* bytes, MPI_Datatype* types, MPI_Count* counts,
                      MPI_Aint* places)
{
  for (int b = 0; b < buffer->blocks; b++) {
    bytes[b]  = (int)(buffer->displacements[b] * buffer->layout.extent);
    types[b]  = buffer->layout.type;
    counts[b] = buffer->counts[b];
    places[b] = in_bytes ? bytes[b] : buffer->displacements[b];
  }
}

void list_blocks(Call* call, int in_bytes)
{
  list_side(&call->send, in_bytes, call->send_bytes, call->send_types, call->large_send_counts,
            call->large_send_places);
  list_side(&call->receive, in_bytes, call->receive_bytes, call->receive_types, call->large_receive_counts,
            call->large_receive_places);
}
