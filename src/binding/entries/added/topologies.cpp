// SPDX-License-Identifier: LGPL-2.1-only
/* Graph topologies (MPI 4.1, sections 8.5.3 to 8.5.8), which SMPI lacks, and queries of Cartesian
 * ones, which SMPI cannot answer for all parts of a grid. MPI_Dims_create balances dimensions as well as possible, like
 * MPICH; SMPI sometimes does not (180 ranks in two dimensions: 18 x 10 instead of 15 x 12).
 *
 * Ranks agree on a graph in memory. MPI_Dist_graph_create is charged for the messages of MPI libraries
 * (MPIR_Dist_graph_create_impl in MPICH's src/mpi/topo/topo_impl.c, mca_topo_base_dist_graph_distribute in Open MPI's
 * ompi/mca/topo/base/topo_base_dist_graph_create.c): a Reduce_scatter_block of two integers for each
 * rank, and a message with the edges to each rank that another rank describes. */
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/data/virtual_topology.hpp"
#include "binding/entries/communicator_making.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/ranks/agreement.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/places.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

/** Factors of a number of ranks, in descending order. */
using Factors = std::vector<int>;

/** Finds factors that are as balanced as possible: with the smallest difference between the largest and the smallest
 * factor and, on a tie, with the largest small factors, as MPICH does. */
class CloseFactors {
  std::vector<int> divisors_; // of the number of ranks, in ascending order
  Factors best_;
  Factors tried_;

  bool is_better() const
  {
    const int spread = tried_.front() - tried_.back();
    const int least  = best_.front() - best_.back();
    if (spread != least)
      return spread < least;
    return std::ranges::lexicographical_compare(std::views::reverse(best_), std::views::reverse(tried_));
  }
  /** Tries all factors of @p number up to the last factor. */
  void try_all(int number, int count)
  {
    if (count == 1) {
      tried_.push_back(number);
      if ((tried_.size() == 1 || number <= *(tried_.end() - 2)) && (best_.empty() || is_better()))
        best_ = tried_;
      tried_.pop_back();
      return;
    }
    const int most = tried_.empty() ? number : std::min(number, tried_.back());
    for (const int factor : divisors_) {
      if (factor > most)
        break;
      // Even equal factors must reach the number.
      if (number % factor != 0 || std::pow(factor, count) < number * (1 - 1e-9))
        continue;
      tried_.push_back(factor);
      try_all(number / factor, count - 1);
      tried_.pop_back();
    }
  }

public:
  CloseFactors(int number, int count)
  {
    for (int divisor = 1; divisor <= number / divisor; ++divisor)
      if (number % divisor == 0)
        divisors_.push_back(divisor);
    for (std::size_t i = divisors_.size(); i-- > 0;)
      if (divisors_[i] != number / divisors_[i])
        divisors_.push_back(number / divisors_[i]);
    try_all(number, count);
  }
  const Factors& get() const { return best_; }
};

int make_dims(int ranks, std::span<int> dims)
{
  std::int64_t given = 1;
  for (const int dim : dims) {
    if (dim < 0)
      return wrong_number(MPI_ERR_DIMS, "a dimension", dim, "from 0 on");
    given *= std::max(1, dim);
    if (given > ranks)
      break;
  }
  const auto open = std::ranges::count(dims, 0);
  if (ranks % given != 0 || (open == 0 && given != ranks))
    return wrong(MPI_ERR_DIMS, "the given dimensions do not divide " + std::to_string(ranks) + " ranks");
  if (open == 0)
    return MPI_SUCCESS;
  const CloseFactors factors(ranks / static_cast<int>(given), static_cast<int>(open));
  auto next = factors.get().begin();
  for (int& dim : dims)
    if (dim == 0)
      dim = *next++;
  return MPI_SUCCESS;
}

/** Edges that one rank describes. */
struct DescribedEdges {
  struct Edge {
    int from;
    int to;
    int weight;
  };
  std::vector<Edge> edges;
  std::optional<bool> weighted = {}; ///< MPI_Dist_graph_create
  EdgeWeights weights;               ///< MPI_Dist_graph_create_adjacent: weights of the rank's own edges
};

/** Agreement on a graph, which the first rank that needs it builds. */
class GraphAgreement : public Agreement<DescribedEdges> {
public:
  using Agreement::Agreement;

  std::shared_ptr<VirtualTopology> topology;
  std::vector<EdgeWeights> weights; ///< by rank
  bool consistent = true;           ///< true if each edge is named by both of its ranks
};

std::map<std::pair<aid_t, int>, AgreementSlots<GraphAgreement>>& graph_agreements()
{
  static std::map<std::pair<aid_t, int>, AgreementSlots<GraphAgreement>> all;
  return all;
}

/** Participation of the current rank in an agreement of the ranks of @p comm. */
class GraphMeeting {
  std::pair<aid_t, int> id_;
  AgreementSlots<GraphAgreement>& slots_;
  AgreementSlots<GraphAgreement>::Place place_;

public:
  explicit GraphMeeting(MPI_Comm comm)
      : id_(comm->group()->actor(0), number_of(comm)), slots_(graph_agreements()[id_]),
        place_(slots_.join(comm->rank(), comm->size(), [comm] { return GraphAgreement(comm->size()); }))
  {
  }
  GraphMeeting(const GraphMeeting&)            = delete;
  GraphMeeting& operator=(const GraphMeeting&) = delete;
  ~GraphMeeting()
  {
    slots_.leave(place_);
    if (slots_.empty())
      graph_agreements().erase(id_);
  }
  GraphAgreement& operator*() const { return place_->shared; }
  GraphAgreement* operator->() const { return &place_->shared; }
};

using RanksOfEach = std::vector<std::vector<int>>;

std::shared_ptr<VirtualTopology> make_distributed(const RanksOfEach& sources, const RanksOfEach& destinations)
{
  auto made       = std::make_shared<VirtualTopology>();
  made->kind      = MPI_DIST_GRAPH;
  made->neighbors = graph_neighborhood(sources, destinations, false);
  return made;
}

/** Builds the graph in which each rank has described its own edges. */
void build_adjacent(GraphAgreement& graph)
{
  const std::size_t ranks = graph.said.size();
  RanksOfEach sources(ranks);
  RanksOfEach destinations(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    // A rank describes its sources as edges to itself, its destinations as edges from itself.
    const auto own_sources = graph.said[rank].weights.sources.size();
    for (std::size_t edge = 0; edge < graph.said[rank].edges.size(); ++edge)
      if (const auto& one = graph.said[rank].edges[edge]; edge < own_sources)
        sources[rank].push_back(one.from);
      else
        destinations[rank].push_back(one.to);
    graph.weights.push_back(graph.said[rank].weights);
  }
  graph.topology = make_distributed(sources, destinations);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto is_paired          = [](const NeighborEdge& edge) { return edge.place >= 0; };
    const Neighborhood& neighbors = *graph.topology->neighbors;
    graph.consistent &= std::ranges::all_of(neighbors.received(static_cast<int>(rank)), is_paired) &&
                        std::ranges::all_of(neighbors.sent(static_cast<int>(rank)), is_paired);
  }
}

/** Builds the graph from the edges described by all ranks. */
void build_distributed(GraphAgreement& graph)
{
  const std::size_t ranks = graph.said.size();
  RanksOfEach sources(ranks);
  RanksOfEach destinations(ranks);
  graph.weights.resize(ranks);
  for (const DescribedEdges& described : graph.said)
    for (const auto& [from, to, weight] : described.edges) {
      const auto giver = static_cast<std::size_t>(from);
      const auto taker = static_cast<std::size_t>(to);
      destinations[giver].push_back(to);
      sources[taker].push_back(from);
      graph.weights[giver].destinations.push_back(weight);
      graph.weights[taker].sources.push_back(weight);
    }
  const bool weighted = std::ranges::none_of(graph.said, [](const auto& its) { return its.weighted == false; });
  for (EdgeWeights& weights : graph.weights)
    weights.weighted = weighted;
  graph.topology = make_distributed(sources, destinations);
}

/** Charges the messages that inform ranks of edges described by others, on the new communicator. */
void send_descriptions(const GraphAgreement& graph, MPI_Comm made)
{
  const auto number_by_peer = [&](std::size_t describer) {
    std::map<int, int> numbers;
    for (const auto& edge : graph.said[describer].edges) {
      ++numbers[edge.from];
      ++numbers[edge.to];
    }
    numbers.erase(static_cast<int>(describer));
    return numbers;
  };
  const auto rank = static_cast<std::size_t>(made->rank());
  std::vector<std::vector<int>> buffers;
  std::vector<MPI_Request> requests;
  const auto add = [&](auto&& post, int peer, int edges) {
    const int count = 2 * edges; // peer and weight of each edge
    buffers.emplace_back(static_cast<std::size_t>(count));
    post(buffers.back().data(), count, MPI_INT, peer, 0, made, &requests.emplace_back());
  };
  for (std::size_t describer = 0; describer < graph.said.size(); ++describer)
    if (const auto numbers = number_by_peer(describer); describer == rank)
      for (const auto& [peer, edges] : numbers)
        add(PMPI_Isend, peer, edges);
    else if (const auto own = numbers.find(static_cast<int>(rank)); own != numbers.end())
      add(PMPI_Irecv, static_cast<int>(describer), own->second);
  PMPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void charge_reduce_scatter(MPI_Comm comm)
{
  if (comm->size() == 1)
    return;
  const std::vector<int> sent(2 * static_cast<std::size_t>(comm->size()));
  std::array<int, 2> received{};
  PMPI_Reduce_scatter_block(sent.data(), received.data(), 2, MPI_INT, MPI_SUM, comm);
}

/** Returns a communicator of all ranks of @p comm. */
MPI_Comm make_copy(MPI_Comm comm)
{
  const CommonCreationScope common(common_group(comm));
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Comm_create(comm, comm->group(), &made);
  return made;
}

/** Returns whether an array of weights is MPI_UNWEIGHTED, from weft's mpi.h or SimGrid's. */
bool are_unweighted(const int* weights)
{
  constexpr std::uintptr_t OURS = 2;
  return weights == MPI_UNWEIGHTED || reinterpret_cast<std::uintptr_t>(weights) == OURS;
}

/** Returns whether a rank's edges are weighted; nothing if there are none and the array is null, which is SimGrid's
 * MPI_UNWEIGHTED. */
std::optional<bool> has_weights(const int* weights, int edges)
{
  if (not are_unweighted(weights))
    return true;
  return not weights && edges == 0 ? std::nullopt : std::optional(false);
}

int check_ranks(const int* ranks, int count, MPI_Comm comm)
{
  if (count > 0 && not ranks)
    return wrong(MPI_ERR_ARG, "an array of ranks is NULL");
  const int size = place_in(comm).size;
  for (int i = 0; i < count; ++i)
    if (ranks[i] < 0 || ranks[i] >= size)
      return wrong_rank(MPI_ERR_ARG, "a neighbour", ranks[i], comm);
  return MPI_SUCCESS;
}

int check_weights(const int* weights, int count)
{
  if (count == 0 || are_unweighted(weights))
    return MPI_SUCCESS;
  if (weights == MPI_WEIGHTS_EMPTY)
    return wrong(MPI_ERR_ARG, "MPI_WEIGHTS_EMPTY is for ranks without edges");
  return std::ranges::any_of(weights, weights + count, [](int weight) { return weight < 0; })
             ? wrong(MPI_ERR_ARG, "a weight is negative; allowed: from 0 on")
             : MPI_SUCCESS;
}

int check_not_negative(int number, const char* name)
{
  return number < 0 ? wrong_number(MPI_ERR_ARG, name, number, "from 0 on") : MPI_SUCCESS;
}

int check_graph(MPI_Comm comm, int nodes, const int* index, const int* edges)
{
  if (nodes < 0 || nodes > place_in(comm).size)
    return wrong(MPI_ERR_ARG, "the graph has " + std::to_string(nodes) + " nodes, the communicator " +
                                  std::to_string(place_in(comm).size) + " ranks");
  if (nodes == 0)
    return MPI_SUCCESS;
  if (not index || (index[nodes - 1] > 0 && not edges))
    return wrong(MPI_ERR_ARG, "index or edges are NULL");
  for (int node = 0; node < nodes; ++node)
    if (index[node] < (node > 0 ? index[node - 1] : 0))
      return wrong(MPI_ERR_ARG, "index decreases at node " + std::to_string(node));
  for (int edge = 0; edge < index[nodes - 1]; ++edge)
    if (edges[edge] < 0 || edges[edge] >= nodes)
      return wrong_number(MPI_ERR_ARG, "the node at the end of an edge", edges[edge],
                          "0 to " + std::to_string(nodes - 1));
  return MPI_SUCCESS;
}

std::shared_ptr<VirtualTopology> make_graph(int nodes, const int* index, const int* edges)
{
  auto made  = std::make_shared<VirtualTopology>();
  made->kind = MPI_GRAPH;
  made->index.assign(index, index + nodes);
  made->edges.assign(edges, edges + made->index.back());
  RanksOfEach neighbors(static_cast<std::size_t>(nodes));
  for (int node = 0; node < nodes; ++node)
    neighbors[static_cast<std::size_t>(node)].assign(edges + (node > 0 ? index[node - 1] : 0), edges + index[node]);
  made->neighbors = graph_neighborhood(neighbors, neighbors, true);
  return made;
}

int create_graph(MPI_Comm comm, int nodes, const int* index, const int* edges, MPI_Comm* made)
{
  *made = MPI_COMM_NULL;
  if (nodes == 0)
    return MPI_SUCCESS;
  const GraphMeeting graph(comm);
  if (not graph->topology)
    graph->topology = make_graph(nodes, index, edges);
  if (nodes == comm->size()) {
    *made = make_copy(comm);
  } else {
    std::vector<int> ranks(static_cast<std::size_t>(nodes));
    std::iota(ranks.begin(), ranks.end(), 0);
    PMPI_Comm_create(comm, make_group(comm, ranks).get(), made);
  }
  if (*made != MPI_COMM_NULL)
    attach_topology(*made, {graph->topology, {}});
  return MPI_SUCCESS;
}

int create_distributed(MPI_Comm comm, int count, const int* sources, const int* degrees, const int* destinations,
                       const int* weights, MPI_Comm* made)
{
  const GraphMeeting graph(comm);
  DescribedEdges own;
  const bool weighted = not are_unweighted(weights) && weights != MPI_WEIGHTS_EMPTY;
  for (int edge = 0, node = 0; node < count; ++node)
    for (const int end = edge + degrees[node]; edge < end; ++edge)
      own.edges.push_back({sources[node], destinations[edge], weighted ? weights[edge] : 1});
  own.weighted = has_weights(weights, static_cast<int>(own.edges.size()));
  graph->say(comm->rank(), own);
  charge_reduce_scatter(comm);
  graph->wait();
  if (not graph->topology)
    build_distributed(*graph);
  *made = make_copy(comm);
  send_descriptions(*graph, *made);
  attach_topology(*made, {graph->topology, graph->weights[static_cast<std::size_t>(comm->rank())]});
  return MPI_SUCCESS;
}

int create_adjacent(MPI_Comm comm, int indegree, const int* sources, const int* source_weights, int outdegree,
                    const int* destinations, const int* destination_weights, MPI_Comm* made)
{
  const GraphMeeting graph(comm);
  DescribedEdges own;
  const int rank       = comm->rank();
  own.weights.weighted = has_weights(source_weights, indegree).value_or(true) &&
                         has_weights(destination_weights, outdegree).value_or(true);
  const auto weight    = [](const int* weights, int edge) {
    return are_unweighted(weights) || weights == MPI_WEIGHTS_EMPTY ? 1 : weights[edge];
  };
  for (int edge = 0; edge < indegree; ++edge) {
    own.edges.push_back({sources[edge], rank, 0});
    own.weights.sources.push_back(weight(source_weights, edge));
  }
  for (int edge = 0; edge < outdegree; ++edge) {
    own.edges.push_back({rank, destinations[edge], 0});
    own.weights.destinations.push_back(weight(destination_weights, edge));
  }
  graph->say(rank, own);
  graph->wait();
  if (not graph->topology)
    build_adjacent(*graph);
  if (not graph->consistent)
    return wrong(MPI_ERR_TOPOLOGY, "a rank names a neighbour that does not name it as source or destination");
  *made = make_copy(comm);
  attach_topology(*made, {graph->topology, graph->weights[static_cast<std::size_t>(rank)]});
  return MPI_SUCCESS;
}

/** Finds the topology of @p comm, if it has one of @p kind. */
int find_topology(MPI_Comm comm, SMPI_Topo_type kind, const AttachedTopology*& found)
{
  if (const int result = check_comm(comm); result != MPI_SUCCESS)
    return result;
  found = topology_of(comm);
  if (found && found->topology->kind == kind)
    return MPI_SUCCESS;
  const char* const name = kind == MPI_CART    ? "Cartesian topology"
                           : kind == MPI_GRAPH ? "graph topology"
                                               : "distributed graph topology";
  return wrong(MPI_ERR_TOPOLOGY, std::string("the communicator has no ") + name);
}

/** Copies at most @p most of the numbers. */
void copy_up_to(int most, const std::vector<int>& numbers, int* to)
{
  std::copy_n(numbers.begin(), std::min(static_cast<std::size_t>(std::max(0, most)), numbers.size()), to);
}

std::vector<int> peers_on(const Neighborhood::Edges& edges)
{
  std::vector<int> peers;
  for (const NeighborEdge& edge : edges)
    peers.push_back(edge.peer);
  return peers;
}

/** Finds the neighbours of a node. */
int find_neighbors(MPI_Comm comm, int rank, std::vector<int>& neighbors)
{
  const AttachedTopology* its = nullptr;
  if (const int result = find_topology(comm, MPI_GRAPH, its); result != MPI_SUCCESS)
    return result;
  if (rank < 0 || rank >= place_in(comm).size)
    return wrong_rank(MPI_ERR_RANK, "the rank", rank, comm);
  neighbors = peers_on(its->topology->neighbors->sent(rank));
  return MPI_SUCCESS;
}

/** Finds a Cartesian topology. */
int find_grid(MPI_Comm comm, const VirtualTopology*& grid)
{
  const AttachedTopology* its = nullptr;
  const int result            = find_topology(comm, MPI_CART, its);
  grid                        = its ? its->topology.get() : nullptr;
  return result;
}

/** Returns the rank at given coordinates; MPI_PROC_NULL if they are outside a dimension that is not periodic. */
int rank_at(const VirtualTopology& grid, const std::vector<int>& positions)
{
  int rank = 0;
  for (std::size_t dimension = 0; dimension < positions.size(); ++dimension) {
    const int size = grid.sizes[dimension];
    const int at   = positions[dimension];
    if ((at < 0 || at >= size) && not grid.periodic[dimension])
      return MPI_PROC_NULL;
    rank = rank * size + (at % size + size) % size;
  }
  return rank;
}

/** Sets the rank for a topology of @p nodes nodes, without reordering. */
int map_rank(MPI_Comm comm, std::int64_t nodes, int* rank)
{
  if (nodes < 0 || nodes > place_in(comm).size)
    return wrong(MPI_ERR_ARG, "the topology has more nodes than the communicator ranks");
  const int own = place_in(comm).rank;
  *rank         = own < nodes ? own : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Graph_create(MPI_Comm comm, int nodes, const int* index, const int* edges, int reorder,
                                      MPI_Comm* made)
{
  static auto function = makes_communicators("MPI_Graph_create");
  if (const int result = first_error([&] { return check_comm(comm); }, [&] { return check_intracommunicator(comm); },
                                     [&] { return check_present(made, "comm_graph"); },
                                     [&] { return check_graph(comm, nodes, index, edges); });
      result != MPI_SUCCESS)
    return result;
  const InMpi inside;
  return make<trace::calls::Graph_create>(
      function, comm, [&] { return create_graph(comm, nodes, index, edges, made); }, comm, nodes, index, edges, reorder,
      made);
}

WEFT_INTERPOSED int PMPI_Dist_graph_create(MPI_Comm comm, int count, const int* sources, const int* degrees,
                                           const int* destinations, const int* weights, MPI_Info info, int reorder,
                                           MPI_Comm* made)
{
  static auto function = makes_communicators("MPI_Dist_graph_create");
  int edges            = 0;
  if (const int result = first_error(
          [&] { return check_comm(comm); }, [&] { return check_intracommunicator(comm); },
          [&] { return check_present(made, "comm_dist_graph"); }, [&] { return check_not_negative(count, "n"); },
          [&] { return count > 0 ? check_present(degrees, "degrees") : static_cast<int>(MPI_SUCCESS); },
          [&] {
            for (int node = 0; node < count; edges += degrees[node++])
              if (degrees[node] < 0)
                return wrong(MPI_ERR_ARG, "a degree is negative; allowed: from 0 on");
            return static_cast<int>(MPI_SUCCESS);
          },
          [&] { return check_ranks(sources, count, comm); }, [&] { return check_ranks(destinations, edges, comm); },
          [&] { return check_weights(weights, edges); });
      result != MPI_SUCCESS)
    return result;
  const InMpi inside;
  return make<trace::calls::Dist_graph_create>(
      function, comm, [&] { return create_distributed(comm, count, sources, degrees, destinations, weights, made); },
      comm, count, sources, degrees, destinations, weights, info, reorder, made);
}

WEFT_INTERPOSED int PMPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int* sources,
                                                    const int* source_weights, int outdegree, const int* destinations,
                                                    const int* destination_weights, MPI_Info info, int reorder,
                                                    MPI_Comm* made)
{
  static auto function = makes_communicators("MPI_Dist_graph_create_adjacent");
  if (const int result = first_error([&] { return check_comm(comm); }, [&] { return check_intracommunicator(comm); },
                                     [&] { return check_present(made, "comm_dist_graph"); },
                                     [&] { return check_not_negative(indegree, "indegree"); },
                                     [&] { return check_not_negative(outdegree, "outdegree"); },
                                     [&] { return check_ranks(sources, indegree, comm); },
                                     [&] { return check_ranks(destinations, outdegree, comm); },
                                     [&] { return check_weights(source_weights, indegree); },
                                     [&] { return check_weights(destination_weights, outdegree); });
      result != MPI_SUCCESS)
    return result;
  const InMpi inside;
  return make<trace::calls::Dist_graph_create_adjacent>(
      function, comm,
      [&] {
        return create_adjacent(comm, indegree, sources, source_weights, outdegree, destinations, destination_weights,
                               made);
      },
      comm, indegree, sources, source_weights, outdegree, destinations, destination_weights, info, reorder, made);
}

WEFT_INTERPOSED int PMPI_Topo_test(MPI_Comm comm, int* kind)
{
  if (const int result = first_error([&] { return check_comm(comm); }, [&] { return check_present(kind, "status"); });
      result != MPI_SUCCESS)
    return result;
  const AttachedTopology* const its = topology_of(comm);
  *kind                             = its ? static_cast<int>(its->topology->kind) : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Graphdims_get(MPI_Comm comm, int* nodes, int* edges)
{
  const AttachedTopology* its = nullptr;
  if (const int result =
          first_error([&] { return find_topology(comm, MPI_GRAPH, its); },
                      [&] { return check_present(nodes, "nnodes"); }, [&] { return check_present(edges, "nedges"); });
      result != MPI_SUCCESS)
    return result;
  *nodes = static_cast<int>(its->topology->index.size());
  *edges = static_cast<int>(its->topology->edges.size());
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Graph_get(MPI_Comm comm, int most_nodes, int most_edges, int* index, int* edges)
{
  const AttachedTopology* its = nullptr;
  if (const int result = find_topology(comm, MPI_GRAPH, its); result != MPI_SUCCESS)
    return result;
  copy_up_to(most_nodes, its->topology->index, index);
  copy_up_to(most_edges, its->topology->edges, edges);
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* count)
{
  std::vector<int> neighbors;
  if (const int result = first_error([&] { return find_neighbors(comm, rank, neighbors); },
                                     [&] { return check_present(count, "nneighbors"); });
      result != MPI_SUCCESS)
    return result;
  *count = static_cast<int>(neighbors.size());
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int most, int* found)
{
  std::vector<int> neighbors;
  if (const int result = find_neighbors(comm, rank, neighbors); result != MPI_SUCCESS)
    return result;
  copy_up_to(most, neighbors, found);
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Graph_map(MPI_Comm comm, int nodes, const int* index, const int* edges, int* rank)
{
  if (const int result =
          first_error([&] { return check_comm(comm); }, [&] { return check_graph(comm, nodes, index, edges); },
                      [&] { return check_present(rank, "newrank"); });
      result != MPI_SUCCESS)
    return result;
  return map_rank(comm, nodes, rank);
}

WEFT_INTERPOSED int PMPI_Cart_map(MPI_Comm comm, int dimensions, const int* sizes, const int* /*periods*/, int* rank)
{
  if (const int result =
          first_error([&] { return check_comm(comm); }, [&] { return check_not_negative(dimensions, "ndims"); },
                      [&] { return dimensions > 0 ? check_present(sizes, "dims") : static_cast<int>(MPI_SUCCESS); },
                      [&] { return check_present(rank, "newrank"); });
      result != MPI_SUCCESS)
    return result;
  return map_rank(comm, std::accumulate(sizes, sizes + dimensions, std::int64_t{1}, std::multiplies<>()), rank);
}

WEFT_INTERPOSED int PMPI_Cartdim_get(MPI_Comm comm, int* dimensions)
{
  const VirtualTopology* grid = nullptr;
  if (const int result =
          first_error([&] { return find_grid(comm, grid); }, [&] { return check_present(dimensions, "ndims"); });
      result != MPI_SUCCESS)
    return result;
  *dimensions = static_cast<int>(grid->sizes.size());
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Cart_get(MPI_Comm comm, int most, int* sizes, int* periods, int* positions)
{
  const VirtualTopology* grid = nullptr;
  if (const int result =
          first_error([&] { return find_grid(comm, grid); }, [&] { return check_not_negative(most, "maxdims"); });
      result != MPI_SUCCESS)
    return result;
  if (sizes)
    copy_up_to(most, grid->sizes, sizes);
  if (periods)
    copy_up_to(most, {grid->periodic.begin(), grid->periodic.end()}, periods);
  if (positions)
    copy_up_to(most, coordinates(*grid, place_in(comm).rank), positions);
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Cart_coords(MPI_Comm comm, int rank, int most, int* positions)
{
  const VirtualTopology* grid = nullptr;
  if (const int result =
          first_error([&] { return find_grid(comm, grid); }, [&] { return check_not_negative(most, "maxdims"); });
      result != MPI_SUCCESS)
    return result;
  if (rank < 0 || rank >= place_in(comm).size)
    return wrong_rank(MPI_ERR_RANK, "the rank", rank, comm);
  if (positions)
    copy_up_to(most, coordinates(*grid, rank), positions);
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Cart_rank(MPI_Comm comm, const int* positions, int* rank)
{
  const VirtualTopology* grid = nullptr;
  if (const int result = first_error(
          [&] { return find_grid(comm, grid); }, [&] { return check_present(rank, "rank"); },
          [&] { return grid->sizes.empty() ? static_cast<int>(MPI_SUCCESS) : check_present(positions, "coords"); });
      result != MPI_SUCCESS)
    return result;
  const int found = rank_at(*grid, {positions, positions + grid->sizes.size()});
  if (found == MPI_PROC_NULL)
    return wrong(MPI_ERR_ARG, "a coordinate is outside a dimension that is not periodic");
  *rank = found;
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Cart_shift(MPI_Comm comm, int dimension, int distance, int* source, int* destination)
{
  const VirtualTopology* grid = nullptr;
  if (const int result =
          first_error([&] { return find_grid(comm, grid); }, [&] { return check_present(source, "rank_source"); },
                      [&] { return check_present(destination, "rank_dest"); });
      result != MPI_SUCCESS)
    return result;
  if (dimension < 0 || std::cmp_greater_equal(dimension, grid->sizes.size()))
    return wrong(MPI_ERR_ARG, "the direction is " + std::to_string(dimension) + " of " +
                                  std::to_string(grid->sizes.size()) + " dimensions");
  std::vector<int> positions = coordinates(*grid, place_in(comm).rank);
  int& position              = positions[static_cast<std::size_t>(dimension)];
  position += distance;
  *destination = rank_at(*grid, positions);
  position -= 2 * distance;
  *source = rank_at(*grid, positions);
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted)
{
  const AttachedTopology* its = nullptr;
  if (const int result = first_error(
          [&] { return find_topology(comm, MPI_DIST_GRAPH, its); }, [&] { return check_present(indegree, "indegree"); },
          [&] { return check_present(outdegree, "outdegree"); }, [&] { return check_present(weighted, "weighted"); });
      result != MPI_SUCCESS)
    return result;
  const Degrees degrees = degrees_in(comm);
  *indegree             = degrees.in;
  *outdegree            = degrees.out;
  *weighted             = its->weights.weighted ? 1 : 0;
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Dist_graph_neighbors(MPI_Comm comm, int most_sources, int* sources, int* source_weights,
                                              int most_destinations, int* destinations, int* destination_weights)
{
  const AttachedTopology* its = nullptr;
  if (const int result = find_topology(comm, MPI_DIST_GRAPH, its); result != MPI_SUCCESS)
    return result;
  const int rank = place_in(comm).rank;
  copy_up_to(most_sources, peers_on(its->topology->neighbors->received(rank)), sources);
  copy_up_to(most_destinations, peers_on(its->topology->neighbors->sent(rank)), destinations);
  if (its->weights.weighted && not are_unweighted(source_weights))
    copy_up_to(most_sources, its->weights.sources, source_weights);
  if (its->weights.weighted && not are_unweighted(destination_weights))
    copy_up_to(most_destinations, its->weights.destinations, destination_weights);
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Dims_create(int nnodes, int ndims, int* dims)
{
  if (nnodes < 1)
    return wrong_number(MPI_ERR_DIMS, "the number of ranks", nnodes, "from 1 on");
  if (ndims < 0)
    return wrong_number(MPI_ERR_DIMS, "the number of dimensions", ndims, "from 0 on");
  if (ndims == 0)
    return MPI_SUCCESS;
  const int result = check_present(dims, "dims");
  return result != MPI_SUCCESS ? result : make_dims(nnodes, {dims, static_cast<std::size_t>(ndims)});
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
