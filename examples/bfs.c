/* SPDX-License-Identifier: LGPL-2.1-only */
/* Communication of a breadth-first search in a large graph, as timed by Graph500. Plain MPI.
 *
 *     bfs [SCALE [SEARCHES [EDGES]]]
 *
 * It represents graph analytics: many small messages between all pairs of ranks, with
 * data-dependent sizes, and one global sum per level.
 *
 * The graph is that of Graph500's specification: 2^SCALE vertices, EDGES (default 16) times as many
 * edges, each drawn by SCALE choices of a quarter of the matrix with probabilities 0.57, 0.19, 0.19
 * and 0.05; vertices are renumbered and distributed round-robin over the ranks. The communication
 * is that of the search with one-dimensional partitioning of vertices (Buluc and Madduri, Parallel
 * Breadth-First Search on Distributed Memory Systems, SC 2011, algorithm 2): a level traverses all
 * edges of its vertices and sends a pair (neighbour, vertex) of 64-bit numbers to the neighbour's
 * rank, by MPI_Alltoall of the counts and MPI_Alltoallv of the pairs; MPI_Allreduce determines
 * whether there is a next level. Before the searches, the edges are distributed by the same two
 * calls.
 *
 * Each rank checks its data: levels along an edge differ by at most one; at the end each vertex
 * that was reached has received one pair from each of its neighbours, and the others none.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXIT_USAGE = 2, UNREACHED = -1, MAX_SCALE = 30 };

typedef struct {
  int64_t vertex, neighbour;
} Pair;

/* Pairs for each rank; those of a rank become contiguous only when they are sent. */
typedef struct {
  Pair* pairs;
  size_t count, room;
} Pairs;

typedef struct {
  int rank, ranks, scale;
  int64_t vertices, edges;
  size_t here;   /* vertices of this rank: rank, rank + ranks, ... */
  size_t* first; /* index of each one's first neighbour */
  int64_t* neighbours;
} Graph;

typedef struct {
  int* level;
  int64_t* received; /* pairs for each vertex, */
  int64_t* sum;      /* and the sum of their senders */
  size_t* frontier;
  size_t* next;
  size_t frontier_size, next_size;
  int wrong;
} Search;

static void* allocate(size_t count, size_t bytes)
{
  void* memory = calloc(count + 1, bytes);
  if (memory == NULL) {
    fprintf(stderr, "bfs: no memory for %zu bytes\n", count * bytes);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  return memory;
}

static void append(Pairs* to, int64_t vertex, int64_t neighbour)
{
  if (to->count == to->room) {
    to->room  = 2 * to->room + 64;
    to->pairs = realloc(to->pairs, to->room * sizeof(Pair));
    if (to->pairs == NULL)
      MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  to->pairs[to->count++] = (Pair){vertex, neighbour};
}

/* ---- The graph
 * ------------------------------------------------------------------------------------------------------- */

/* Returns a hash of edge and step that is equal on every rank (the finaliser of SplitMix64). */
static uint64_t scramble(uint64_t number)
{
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9U;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBU;
  return number ^ (number >> 31);
}

/* Renumbers vertices by a permutation, so that those of high degree are spread over the ranks. */
static int64_t renumber(const Graph* graph, uint64_t vertex)
{
  const uint64_t mask = (uint64_t)graph->vertices - 1;
  for (int round = 0; round < 2; round++) {
    vertex = (vertex * 0x9E3779B97F4A7C15U) & mask;
    vertex ^= vertex >> (graph->scale / 2 + 1);
  }
  return (int64_t)vertex;
}

static Pair edge(const Graph* graph, int64_t number)
{
  uint64_t row = 0, column = 0;
  for (int step = 0; step < graph->scale; step++) {
    const uint64_t chance = scramble(((uint64_t)number * MAX_SCALE + (uint64_t)step + 1) * 0x9E3779B97F4A7C15U) % 100;
    row                   = 2 * row + (chance >= 76);
    column                = 2 * column + ((chance >= 57 && chance < 76) || chance >= 95);
  }
  return (Pair){renumber(graph, row), renumber(graph, column)};
}

static int owner(const Graph* graph, int64_t vertex)
{
  return (int)(vertex % graph->ranks);
}

static size_t place(const Graph* graph, int64_t vertex)
{
  return (size_t)(vertex / graph->ranks);
}

/* ---- Pairs to their ranks
 * -------------------------------------------------------------------------------------------- */

/* Computes where each rank's part begins, in 64-bit integers; returns where the last one ends. */
static int add_up(const int* counts, int* begins, int ranks)
{
  int end = 0;
  for (int i = 0; i < ranks; i++) {
    begins[i] = end;
    end += counts[i];
  }
  return end;
}

static Pair* sorted_by_owner(const Graph* graph, const Pairs* pairs, const int* begins)
{
  Pair* sorted = allocate(pairs->count, sizeof(Pair));
  size_t* next = allocate((size_t)graph->ranks, sizeof(size_t));
  for (int i = 0; i < graph->ranks; i++)
    next[i] = (size_t)begins[i] / 2;
  for (size_t i = 0; i < pairs->count; i++)
    sorted[next[owner(graph, pairs->pairs[i].vertex)]++] = pairs->pairs[i];
  free(next);
  return sorted;
}

/* Sends each pair to its vertex's rank, and replaces the pairs by those received. */
static void deliver(const Graph* graph, Pairs* pairs)
{
  const size_t ranks = (size_t)graph->ranks;
  int* counts        = allocate(4 * ranks, sizeof(int));
  int *sent = counts, *received = counts + ranks, *sent_begins = counts + 2 * ranks, *begins = counts + 3 * ranks;
  for (size_t i = 0; i < pairs->count; i++)
    sent[owner(graph, pairs->pairs[i].vertex)] += 2;
  add_up(sent, sent_begins, graph->ranks);
  Pair* sorted = sorted_by_owner(graph, pairs, sent_begins);
  MPI_Alltoall(sent, 1, MPI_INT, received, 1, MPI_INT, MPI_COMM_WORLD);
  const size_t count = (size_t)add_up(received, begins, graph->ranks) / 2;
  free(pairs->pairs);
  *pairs = (Pairs){allocate(count, sizeof(Pair)), count, count};
  MPI_Alltoallv(sorted, sent, sent_begins, MPI_INT64_T, pairs->pairs, received, begins, MPI_INT64_T, MPI_COMM_WORLD);
  free(sorted);
  free(counts);
}

static void make_neighbours(Graph* graph, const Pairs* pairs)
{
  graph->first      = allocate(graph->here + 1, sizeof(size_t));
  graph->neighbours = allocate(pairs->count, sizeof(int64_t));
  size_t* next      = allocate(graph->here, sizeof(size_t));
  for (size_t i = 0; i < pairs->count; i++)
    graph->first[place(graph, pairs->pairs[i].vertex) + 1]++;
  for (size_t i = 0; i < graph->here; i++) {
    graph->first[i + 1] += graph->first[i];
    next[i] = graph->first[i];
  }
  for (size_t i = 0; i < pairs->count; i++)
    graph->neighbours[next[place(graph, pairs->pairs[i].vertex)]++] = pairs->pairs[i].neighbour;
  free(next);
}

/* Each rank draws its share of the edges, and sends both directions of each to their ranks. */
static void make_graph(Graph* graph)
{
  Pairs pairs = {NULL, 0, 0};
  for (int64_t number = graph->rank; number < graph->edges; number += graph->ranks) {
    const Pair drawn = edge(graph, number);
    append(&pairs, drawn.vertex, drawn.neighbour);
    append(&pairs, drawn.neighbour, drawn.vertex);
  }
  deliver(graph, &pairs);
  graph->here = (size_t)((graph->vertices - graph->rank + graph->ranks - 1) / graph->ranks);
  make_neighbours(graph, &pairs);
  free(pairs.pairs);
}

/* ---- The search
 * ------------------------------------------------------------------------------------------------------ */

static void take(const Graph* graph, Search* search, Pair pair, int level)
{
  const size_t vertex = place(graph, pair.vertex);
  search->received[vertex]++;
  search->sum[vertex] += pair.neighbour;
  if (search->level[vertex] == UNREACHED) {
    search->level[vertex]             = level + 1;
    search->next[search->next_size++] = vertex;
  }
  search->wrong += search->level[vertex] < level - 1 || search->level[vertex] > level + 1;
}

/* Traverses the edges of a level's vertices; returns the size of the next level. */
static int64_t advance(const Graph* graph, Search* search, int level)
{
  Pairs pairs = {NULL, 0, 0};
  for (size_t i = 0; i < search->frontier_size; i++) {
    const size_t vertex = search->frontier[i];
    for (size_t k = graph->first[vertex]; k < graph->first[vertex + 1]; k++)
      append(&pairs, graph->neighbours[k], (int64_t)vertex * graph->ranks + graph->rank);
  }
  deliver(graph, &pairs);
  search->next_size = 0;
  for (size_t i = 0; i < pairs.count; i++)
    take(graph, search, pairs.pairs[i], level);
  free(pairs.pairs);
  size_t* done          = search->frontier;
  search->frontier      = search->next;
  search->frontier_size = search->next_size;
  search->next          = done;
  int64_t all           = (int64_t)search->next_size;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/* Returns the number of this rank's vertices that have neither heard of all of their neighbours
 * once nor of none. */
static int count_wrong(const Graph* graph, const Search* search)
{
  int wrong = search->wrong;
  for (size_t vertex = 0; vertex < graph->here; vertex++) {
    int64_t count = 0, sum = 0;
    if (search->level[vertex] != UNREACHED)
      for (size_t k = graph->first[vertex]; k < graph->first[vertex + 1]; k++) {
        count++;
        sum += graph->neighbours[k];
      }
    wrong += search->received[vertex] != count || search->sum[vertex] != sum;
  }
  return wrong;
}

/* Returns the number of errors on this rank; *reached becomes the number of vertices reached. */
static int search_from(const Graph* graph, int64_t root, int64_t* reached)
{
  Search search = {.level    = allocate(graph->here, sizeof(int)),
                   .received = allocate(graph->here, sizeof(int64_t)),
                   .sum      = allocate(graph->here, sizeof(int64_t)),
                   .frontier = allocate(graph->here, sizeof(size_t)),
                   .next     = allocate(graph->here, sizeof(size_t))};
  for (size_t vertex = 0; vertex < graph->here; vertex++)
    search.level[vertex] = UNREACHED;
  if (owner(graph, root) == graph->rank) {
    search.level[place(graph, root)] = 0;
    search.frontier[0]               = place(graph, root);
    search.frontier_size             = 1;
  }
  *reached = 1;
  int64_t next;
  for (int level = 0; (next = advance(graph, &search, level)) > 0; level++)
    *reached += next;
  const int wrong = count_wrong(graph, &search);
  free(search.level);
  free(search.received);
  free(search.sum);
  free(search.frontier);
  free(search.next);
  return wrong;
}

int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  Graph graph = {.scale = argc > 1 ? atoi(argv[1]) : 16};
  MPI_Comm_rank(MPI_COMM_WORLD, &graph.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &graph.ranks);
  const int searches = argc > 2 ? atoi(argv[2]) : 1;
  const int factor   = argc > 3 ? atoi(argv[3]) : 16;
  if (graph.scale < 1 || graph.scale > MAX_SCALE || searches < 1 || factor < 1) {
    if (graph.rank == 0)
      fprintf(stderr, "usage: bfs [SCALE [SEARCHES [EDGES]]]   SCALE from 1 to %d\n", MAX_SCALE);
    MPI_Finalize();
    return EXIT_USAGE;
  }
  graph.vertices  = (int64_t)1 << graph.scale;
  graph.edges     = factor * graph.vertices;
  int wrong       = 0;
  int64_t reached = 0;
  make_graph(&graph);
  /* The end of an edge has at least one neighbour. */
  for (int number = 0; number < searches; number++)
    wrong += search_from(&graph, edge(&graph, number).vertex, &reached);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (graph.rank == 0)
    printf("bfs: %lld vertices, the last of %d searches reached %lld: %s\n", (long long)graph.vertices, searches,
           (long long)reached, wrong == 0 ? "right" : "WRONG");
  free(graph.first);
  free(graph.neighbours);
  MPI_Finalize();
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
