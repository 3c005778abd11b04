/* SPDX-License-Identifier: LGPL-2.1-only */
/* Neighbourhood collectives on random graphs; a rank may be its own neighbour. */
#include "edges.h"

typedef enum { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, COLLECTIVES } Collective;

static const char* const NAMES[] = {"neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall",
                                    "neighbor_alltoallv", "neighbor_alltoallw"};

static int has_edge(const Edges* edges, int from, int to, int sparseness)
{
  return mixed(mixed(edges->salt, 5), (uint64_t)(from * MOST_RANKS + to)) % (uint64_t)sparseness == 0;
}

/** Adds a neighbour at a random index: each rank has its own order of neighbours. */
static void add(Draw* mine, int* list, int* count, int rank)
{
  const int other = below(mine, *count + 1);
  list[*count]    = list[other];
  list[other]     = rank;
  ++*count;
}

static void call_along(const Edges* edges, Call* call, Collective which, MPI_Comm comm, MPI_Request* request)
{
  const Buffer *send = &call->send, *receive = &call->receive;
  MPI_Datatype send_type = send->layout.type, type = receive->layout.type;
  const int send_count = send->blocks > 0 ? send->counts[0] : 0, count = receive->blocks > 0 ? receive->counts[0] : 0;
  list_blocks(call, which == ALLTOALLW);
  for (int b = 0; which == ALLTOALLW && b < MOST_RANKS; b++) // MPI_Neighbor_alltoallw always uses large displacements
    call->large_send_places[b] = call->send_bytes[b], call->large_receive_places[b] = call->receive_bytes[b];
  switch (which) {
    case ALLGATHER:
      CALL_FORM(edges->form, Neighbor_allgather, neighbor_allgather,
                (send->address, send_count, send_type, receive->address, count, type),
                (send->address, send_count, send_type, receive->address, count, type), comm, request);
      break;
    case ALLGATHERV:
      CALL_FORM(edges->form, Neighbor_allgatherv, neighbor_allgatherv,
                (send->address, send_count, send_type, receive->address, receive->counts, receive->displacements, type),
                (send->address, send_count, send_type, receive->address, call->large_receive_counts,
                 call->large_receive_places, type),
                comm, request);
      break;
    case ALLTOALL:
      CALL_FORM(edges->form, Neighbor_alltoall, neighbor_alltoall,
                (send->address, send_count, send_type, receive->address, count, type),
                (send->address, send_count, send_type, receive->address, count, type), comm, request);
      break;
    case ALLTOALLV:
      CALL_FORM(edges->form, Neighbor_alltoallv, neighbor_alltoallv,
                (send->address, send->counts, send->displacements, send_type, receive->address, receive->counts,
                 receive->displacements, type),
                (send->address, call->large_send_counts, call->large_send_places, send_type, receive->address,
                 call->large_receive_counts, call->large_receive_places, type),
                comm, request);
      break;
    default:
      CALL_FORM(edges->form, Neighbor_alltoallw, neighbor_alltoallw,
                (send->address, send->counts, call->large_send_places, call->send_types, receive->address,
                 receive->counts, call->large_receive_places, call->receive_types),
                (send->address, call->large_send_counts, call->large_send_places, call->send_types, receive->address,
                 call->large_receive_counts, call->large_receive_places, call->receive_types),
                comm, request);
  }
}

void call_neighbors(Program* program, MPI_Comm comm)
{
  Edges edges            = draw_edges(program, comm);
  const Collective which = (Collective)below(&program->all, COLLECTIVES);
  const int sparseness   = 1 + below(&program->all, 4);
  int size;
  MPI_Comm_size(comm, &size);
  edges.single = which == ALLGATHER || which == ALLGATHERV;
  edges.sizes  = which == ALLGATHERV ? BY_SENDER : which == ALLTOALLV || which == ALLTOALLW ? BY_PAIR : SAME_SIZE;
  for (int other = 0; other < size; other++) {
    if (has_edge(&edges, other, edges.rank, sparseness))
      add(&program->mine, edges.from, &edges.sources, other);
    if (has_edge(&edges, edges.rank, other, sparseness))
      add(&program->mine, edges.to, &edges.destinations, other);
  }
  Call* call = new_call(NAMES[which], comm, edges.form);
  make_sent(&edges, call);
  make_received(&edges, call);
  if (program->old) {
    send_along(&edges, call);
    end_call(program, call);
    return;
  }
  MPI_Comm graph;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Dist_graph_create_adjacent(comm, edges.sources, edges.from, MPI_UNWEIGHTED, edges.destinations, edges.to,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  call_along(&edges, call, which, graph, &request);
  carry_on(program, call, edges.form, request);
  MPI_Comm_free(&graph);
}
