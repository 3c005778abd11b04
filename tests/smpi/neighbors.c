/* SPDX-License-Identifier: LGPL-2.1-only */
/* Neighbourhood collectives.
 *
 * neighbors random SEED CASES      random calls on random topologies, each compared with messages
 * neighbors grid BYTES             times of a call on a ring, and of equal point-to-point messages
 * neighbors wrong CASE [return]    a call with wrong arguments, which returns or is fatal */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EDGES = 40, MOST_COUNT = 6, BUFFER = 4096, KINDS = 4, CALLS = 5, GAP = 3, LARGE = 100 };

static int rank, size;
static unsigned state;

static int draw(int below)
{
  state = state * 1103515245u + 12345u;
  return (int)(state / 65536u % 32768u) % below;
}

/* Topology as seen by this rank: the peer of each edge (MPI_PROC_NULL: none), and the tag that distinguishes the edges
 * of one pair. */
struct edges {
  int number;
  int peer[MOST_EDGES];
  int tag[MOST_EDGES];
};

static struct edges in, out;

static void add(struct edges* to, int peer)
{
  to->tag[to->number] = 0;
  for (int i = 0; i < to->number; i++)
    to->tag[to->number] += to->peer[i] == peer;
  to->peer[to->number++] = peer;
}

static MPI_Comm make_grid(void)
{
  int sizes[3] = {0, 0, 0}, periods[3], dimensions = 1 + draw(3);
  MPI_Comm made;
  MPI_Dims_create(size, dimensions, sizes);
  for (int d = 0; d < dimensions; d++)
    periods[d] = draw(2);
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, sizes, periods, draw(2), &made);
  if (dimensions > 1 && draw(3) == 0) { /* a part of the grid */
    MPI_Comm part;
    int keep[3] = {1, 0, 1};
    MPI_Cart_sub(made, keep, &part);
    MPI_Comm_free(&made);
    made = part;
  }
  MPI_Cartdim_get(made, &dimensions);
  for (int d = 0; d < dimensions; d++) {
    int before, after;
    MPI_Cart_shift(made, d, 1, &before, &after);
    add(&in, before);
    add(&in, after);
    for (int side = 0; side < 2; side++) {
      in.tag[2 * d + side]   = 2 * d + 1 - side;
      out.tag[2 * d + side]  = 2 * d + side;
      out.peer[out.number++] = in.peer[2 * d + side];
    }
  }
  return made;
}

static MPI_Comm make_graph(void)
{
  int nodes = size - draw(2), index[64], edges[64 * 8], number = 0;
  int step = 1 + draw(3), twice = draw(2);
  MPI_Comm made;
  for (int node = 0; node < nodes; node++) { /* a ring, perhaps with doubled edges and chords */
    for (int again = 0; again <= twice; again++) {
      edges[number++] = (node + 1) % nodes;
      edges[number++] = (node + nodes - 1) % nodes;
    }
    if (nodes > 2 * step) {
      edges[number++] = (node + step) % nodes;
      edges[number++] = (node + nodes - step) % nodes;
    }
    index[node] = number;
  }
  MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 0, &made);
  if (made == MPI_COMM_NULL)
    return made;
  int count, neighbors[MOST_EDGES], kind, all_nodes, all_edges;
  MPI_Graph_neighbors_count(made, rank, &count);
  MPI_Graph_neighbors(made, rank, MOST_EDGES, neighbors);
  MPI_Topo_test(made, &kind);
  MPI_Graphdims_get(made, &all_nodes, &all_edges);
  if (kind != MPI_GRAPH || all_nodes != nodes || all_edges != number || count != index[0])
    printf("wrong graph\n");
  for (int i = 0; i < count; i++) {
    add(&in, neighbors[i]);
    add(&out, neighbors[i]);
  }
  return made;
}

/* Draws the edges of all ranks; each rank keeps its own. */
static void draw_edges(void)
{
  for (int from = 0; from < size; from++) {
    int number = draw(5);
    for (int i = 0; i < number; i++) {
      int to = draw(size);
      if (from == rank)
        add(&out, to);
      if (to == rank && in.number < MOST_EDGES)
        add(&in, from);
    }
  }
}

static void check_neighbors(MPI_Comm comm)
{
  int indegree, outdegree, weighted, from[MOST_EDGES], to[MOST_EDGES], from_weights[MOST_EDGES], to_weights[MOST_EDGES];
  MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &weighted);
  MPI_Dist_graph_neighbors(comm, indegree, from, from_weights, outdegree, to, to_weights);
  int right = indegree == in.number && outdegree == out.number && weighted;
  for (int i = 0; right && i < indegree; i++)
    right = from[i] == in.peer[i] && from_weights[i] == 10 * from[i] + rank;
  for (int i = 0; right && i < outdegree; i++)
    right = to[i] == out.peer[i] && to_weights[i] == 10 * rank + to[i];
  if (!right)
    printf("wrong neighbours\n");
}

static MPI_Comm make_adjacent(void)
{
  MPI_Comm made, copy;
  int from_weights[MOST_EDGES], to_weights[MOST_EDGES];
  draw_edges();
  for (int i = 0; i < in.number; i++)
    from_weights[i] = 10 * in.peer[i] + rank;
  for (int i = 0; i < out.number; i++)
    to_weights[i] = 10 * rank + out.peer[i];
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in.number, in.peer, in.number ? from_weights : MPI_WEIGHTS_EMPTY,
                                 out.number, out.peer, out.number ? to_weights : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0,
                                 &made);
  MPI_Comm_dup(made, &copy);
  MPI_Comm_free(&made);
  check_neighbors(copy);
  return copy;
}

/* Rank 0 describes the edges of the first half of the ranks, each other rank its own. */
static MPI_Comm make_distributed(void)
{
  int sources[64], degrees[64], destinations[256], weights[256], number = 0, nodes = 0;
  MPI_Comm made;
  unsigned before = state;
  draw_edges();
  unsigned after = state;
  state          = before;
  for (int from = 0; from < size; from++) {
    int own = from < size / 2 ? rank == 0 : rank == from, degree = draw(5);
    for (int i = 0; i < degree; i++) {
      int to = draw(size);
      if (!own)
        continue;
      destinations[number] = to;
      weights[number++]    = 10 * from + to;
    }
    if (!own)
      continue;
    sources[nodes]   = from;
    degrees[nodes++] = degree;
  }
  state = after;
  MPI_Dist_graph_create(MPI_COMM_WORLD, nodes, sources, degrees, destinations, weights, MPI_INFO_NULL, 0, &made);
  check_neighbors(made);
  return made;
}

static unsigned char sent[BUFFER * LARGE], got[2][BUFFER * LARGE];

/* Exchanges the same blocks by messages. */
static void exchange(MPI_Comm comm, const int* counts, const MPI_Aint* offsets, const MPI_Datatype* types,
                     const int* in_counts, const MPI_Aint* in_offsets, const MPI_Datatype* in_types)
{
  MPI_Request requests[2 * MOST_EDGES];
  int number = 0;
  for (int i = 0; i < in.number; i++)
    MPI_Irecv(got[1] + in_offsets[i], in_counts[i], in_types[i], in.peer[i], in.tag[i], comm, &requests[number++]);
  for (int i = 0; i < out.number; i++)
    MPI_Isend(sent + offsets[i], counts[i], types[i], out.peer[i], out.tag[i], comm, &requests[number++]);
  MPI_Waitall(number, requests, MPI_STATUSES_IGNORE);
}

static void call(MPI_Comm comm, int which, int blocks, MPI_Datatype gapped, int scale)
{
  int counts[MOST_EDGES], in_counts[MOST_EDGES], shifts[MOST_EDGES], in_shifts[MOST_EDGES];
  MPI_Aint offsets[MOST_EDGES], in_offsets[MOST_EDGES], lower, extent;
  MPI_Datatype types[MOST_EDGES], in_types[MOST_EDGES];
  MPI_Request request = MPI_REQUEST_NULL;
  int me;
  MPI_Comm_rank(comm, &me);
  int same = 1 + draw(MOST_COUNT), gather = which < 2, typed = which == 4;
  int vary             = which == 1 || which > 2;
  MPI_Datatype in_type = draw(2) ? gapped : MPI_INT;
  MPI_Type_get_extent(in_type, &lower, &extent);
  /* The count of an edge is a function of its ends and tag, so that both ends agree. */
  for (int i = 0; i < out.number; i++) {
    counts[i]  = scale * (gather ? (vary ? 1 + me % MOST_COUNT : same)
                          : vary ? (3 * me + out.peer[i] + out.tag[i]) % MOST_COUNT
                                 : same);
    shifts[i]  = gather ? 0 : vary ? (out.number - 1 - i) * MOST_COUNT * scale : i * same * scale;
    offsets[i] = (MPI_Aint)sizeof(int) * shifts[i];
    types[i]   = MPI_INT;
    if (out.peer[i] == MPI_PROC_NULL)
      counts[i] = scale;
  }
  for (int i = 0; i < in.number; i++) {
    in_counts[i]  = scale * (gather ? (vary ? 1 + in.peer[i] % MOST_COUNT : same)
                             : vary ? (3 * in.peer[i] + me + in.tag[i]) % MOST_COUNT
                                    : same);
    in_shifts[i]  = vary ? (in.number - 1 - i) * MOST_COUNT * scale : i * same * scale;
    in_types[i]   = typed && i % 2 ? gapped : in_type;
    in_offsets[i] = extent * in_shifts[i];
    if (typed)
      in_offsets[i] = (MPI_Aint)sizeof(int) * GAP * in_shifts[i];
    if (in.peer[i] == MPI_PROC_NULL)
      in_counts[i] = scale;
  }
  memset(got, 0, sizeof got);
  for (unsigned i = 0; i < sizeof sent / sizeof(int); i++)
    ((int*)sent)[i] = (int)(i + 1000003u * (unsigned)rank + state);
  int own = gather ? scale * (vary ? 1 + me % MOST_COUNT : same) : 0;
  switch (which + (blocks ? 0 : CALLS)) {
    case 0:
      MPI_Neighbor_allgather(sent, own, MPI_INT, got[0], same * scale, in_type, comm);
      break;
    case 1:
      MPI_Neighbor_allgatherv(sent, own, MPI_INT, got[0], in_counts, in_shifts, in_type, comm);
      break;
    case 2:
      MPI_Neighbor_alltoall(sent, same * scale, MPI_INT, got[0], same * scale, in_type, comm);
      break;
    case 3:
      MPI_Neighbor_alltoallv(sent, counts, shifts, MPI_INT, got[0], in_counts, in_shifts, in_type, comm);
      break;
    case 4:
      MPI_Neighbor_alltoallw(sent, counts, offsets, types, got[0], in_counts, in_offsets, in_types, comm);
      break;
    case 5:
      MPI_Ineighbor_allgather(sent, own, MPI_INT, got[0], same * scale, in_type, comm, &request);
      break;
    case 6:
      MPI_Ineighbor_allgatherv(sent, own, MPI_INT, got[0], in_counts, in_shifts, in_type, comm, &request);
      break;
    case 7:
      MPI_Ineighbor_alltoall(sent, same * scale, MPI_INT, got[0], same * scale, in_type, comm, &request);
      break;
    case 8:
      MPI_Ineighbor_alltoallv(sent, counts, shifts, MPI_INT, got[0], in_counts, in_shifts, in_type, comm, &request);
      break;
    default:
      MPI_Ineighbor_alltoallw(sent, counts, offsets, types, got[0], in_counts, in_offsets, in_types, comm, &request);
      break;
  }
  if (!blocks)
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  exchange(comm, counts, offsets, types, in_counts, in_offsets, in_types);
  if (memcmp(got[0], got[1], sizeof got[0]) != 0) {
    printf("wrong: rank %d, call %d, blocks %d, %d sources, %d destinations\n", rank, which, blocks, in.number,
           out.number);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static void random_cases(int seed, int cases)
{
  MPI_Datatype gapped; /* an integer followed by a gap of two */
  MPI_Type_create_resized(MPI_INT, 0, GAP * sizeof(int), &gapped);
  MPI_Type_commit(&gapped);
  state = (unsigned)seed;
  for (int number = 0; number < cases; number++) {
    in.number = out.number = 0;
    int kind               = draw(KINDS);
    MPI_Comm comm          = kind == 0   ? make_grid()
                             : kind == 1 ? make_graph()
                             : kind == 2 ? make_adjacent()
                                         : make_distributed();
    int which = number % CALLS, blocks = draw(2), scale = draw(5) == 0 ? LARGE : 1;
    state = (unsigned)(number * 7919 + seed);
    if (comm != MPI_COMM_NULL) {
      call(comm, which, blocks, gapped, scale);
      MPI_Comm_free(&comm);
    }
    state = (unsigned)(number * 104729 + seed);
    if (rank == 0)
      printf("case %d: topology %d, call %d%s\n", number, kind, which, blocks ? "" : ", non-blocking");
  }
  MPI_Type_free(&gapped);
}

static void tell_time(const char* what, double seconds)
{
  double longest;
  MPI_Reduce(&seconds, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("%s %.9f\n", what, longest);
}

static void time_grid(int bytes)
{
  int periodic = 1, before, after;
  MPI_Comm ring;
  MPI_Request requests[4];
  char* from = malloc((size_t)(2 * bytes));
  char* to   = malloc((size_t)(2 * bytes));
  memset(from, 0, (size_t)(2 * bytes));
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  MPI_Cart_shift(ring, 0, 1, &before, &after);
  MPI_Barrier(ring);
  double start = MPI_Wtime();
  MPI_Neighbor_alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, ring);
  tell_time("collective", MPI_Wtime() - start);
  MPI_Barrier(ring);
  start = MPI_Wtime();
  MPI_Irecv(to, bytes, MPI_BYTE, before, 0, ring, requests);
  MPI_Irecv(to + bytes, bytes, MPI_BYTE, after, 1, ring, requests + 1);
  MPI_Isend(from, bytes, MPI_BYTE, before, 1, ring, requests + 2);
  MPI_Isend(from + bytes, bytes, MPI_BYTE, after, 0, ring, requests + 3);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  tell_time("messages", MPI_Wtime() - start);
  MPI_Comm_free(&ring);
  free(from);
  free(to);
}

static int make_wrong_call(const char* what)
{
  int periodic = 1, zero = 0, other = 1 - rank, far = 7, result = MPI_SUCCESS, data[8] = {0}, index[8] = {0};
  MPI_Comm ring, made;
  MPI_Request request;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring); /* inherits no error handler */
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  MPI_Comm_set_errhandler(ring, handler);
  if (strcmp(what, "no-topology") == 0)
    result = MPI_Neighbor_allgather(data, 1, MPI_INT, data + 2, 1, MPI_INT, MPI_COMM_WORLD);
  else if (strcmp(what, "negative-count") == 0)
    result = MPI_Neighbor_alltoall(data, -1, MPI_INT, data + 2, 1, MPI_INT, ring);
  else if (strcmp(what, "no-type") == 0)
    result = MPI_Ineighbor_alltoall(data, 1, MPI_INT, data + 2, 1, MPI_DATATYPE_NULL, ring, &request);
  else if (strcmp(what, "in-place") == 0)
    result = MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, data + 2, 1, MPI_INT, ring);
  else if (strcmp(what, "no-request") == 0)
    result = MPI_Ineighbor_allgather(data, 1, MPI_INT, data + 2, 1, MPI_INT, ring, NULL);
  else if (strcmp(what, "too-many-nodes") == 0)
    result = MPI_Graph_create(MPI_COMM_WORLD, 8, index, data, 0, &made);
  else if (strcmp(what, "no-such-rank") == 0)
    result = MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 1, &far, MPI_UNWEIGHTED,
                                            MPI_INFO_NULL, 0, &made);
  else if (strcmp(what, "one-sided-edge") == 0)
    result = MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, zero, NULL, MPI_UNWEIGHTED, 1, &other, MPI_UNWEIGHTED,
                                            MPI_INFO_NULL, 0, &made);
  MPI_Comm_free(&ring);
  return result;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[1], "random") == 0) {
    random_cases(atoi(argv[2]), atoi(argv[3]));
  } else if (strcmp(argv[1], "grid") == 0) {
    time_grid(atoi(argv[2]));
  } else {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    if (argc > 3)
      MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Error_string(make_wrong_call(argv[2]), text, &length);
    text[strcspn(text, " :")] = 0;
    printf("rank %d: %s\n", rank, text);
  }
  MPI_Finalize();
  return 0;
}
