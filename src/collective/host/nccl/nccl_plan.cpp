// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/nccl/nccl_plan.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace weft {
namespace {

constexpr int SLOTS             = 8;           // NCCL_STEPS
constexpr int RING_SLOTS        = 4;           // ALLREDUCE_CHUNKSTEPS and others
constexpr double SHORTEST_SLICE = 32.0 * 1024; // of Simple: a slice's slots over 32

std::size_t index_at(int value)
{
  return static_cast<std::size_t>(value);
}

NcclRanks ranks_on(const HostCall& call, const Nodes& nodes)
{
  return {call.ranks, nodes.number()};
}

bool has_blocks(NcclCollective collective)
{
  return collective == NcclCollective::allgather || collective == NcclCollective::reduce_scatter;
}

/** Returns the index of the GPU, in a node of @p gpus GPUs, at which channel @p channel of @p channels begins. */
int first_gpu(int channel, int channels, int gpus)
{
  return channels < gpus ? channel * gpus / channels : channel % gpus;
}

/** Returns the ranks of a node, beginning with the GPU with index @p first. */
std::vector<int> from_gpu(const std::vector<int>& ranks, int first)
{
  std::vector<int> all = ranks;
  std::ranges::rotate(all, all.begin() + first % static_cast<int>(all.size()));
  return all;
}

/** Orders the ranks of a ring: node by node. */
void connect_ring(NcclLane& lane, const Nodes& nodes, int first)
{
  lane.position.resize(nodes.node.size());
  for (const std::vector<int>& its : nodes.ranks)
    for (const int rank : from_gpu(its, first)) {
      lane.position[index_at(rank)] = static_cast<int>(lane.order.size());
      lane.order.push_back(rank);
    }
}

/** Connects the ranks of a tree: the first GPUs of nodes, and a chain from the first GPU of each. */
void connect_tree(NcclLane& lane, const Nodes& nodes, int first, bool second)
{
  lane.parent.assign(nodes.node.size(), NcclLane::NOBODY);
  lane.children.resize(nodes.node.size());
  const std::vector<int> parents = nccl_tree(nodes.number(), second);
  for (int node = 0; node < nodes.number(); ++node) {
    const std::vector<int> chain = from_gpu(nodes.ranks[index_at(node)], first);
    if (const int parent = parents[index_at(node)]; parent != NcclLane::NOBODY)
      lane.parent[index_at(chain.front())] = from_gpu(nodes.ranks[index_at(parent)], first).front();
    for (std::size_t at = 1; at < chain.size(); ++at)
      lane.parent[index_at(chain[at])] = chain[at - 1];
  }
  for (std::size_t rank = 0; rank < lane.parent.size(); ++rank)
    if (const int parent = lane.parent[rank]; parent != NcclLane::NOBODY)
      lane.children[index_at(parent)].push_back(static_cast<int>(rank));
}

/** Returns the number of channels by lane, keyed by first GPU and tree. Channels within a single node use the same
 * links. */
std::map<std::pair<int, bool>, int> channels_of_lanes(const NcclChoice& choice, const Nodes& nodes)
{
  std::map<std::pair<int, bool>, int> lanes;
  const int gpus   = nodes.number() == 1 ? 1 : static_cast<int>(nodes.level.size());
  const bool trees = choice.algorithm == NcclAlgorithm::tree;
  const int half   = trees ? (choice.channels + 1) / 2 : choice.channels;
  for (int channel = 0; channel < choice.channels; ++channel)
    ++lanes[{first_gpu(channel % half, half, gpus), trees && nodes.number() > 1 && channel >= half}];
  return lanes;
}

/** Returns the connection of @p channels between nodes, on which each sends messages of @p bytes. */
Connection between_nodes(const NcclMachine& machine, Connection usual, double channels, Bytes bytes, bool late = false)
{
  if (const NcclMessage* const its = machine.message(bytes)) {
    usual.latency  = its->latency + (its->copy_rate > BytesPerSecond() ? bytes / its->copy_rate : Seconds());
    usual.overhead = (its->overhead + (late ? its->late_overhead : Bytes())) * channels;
  }
  return usual;
}

/** Returns the data of a channel in one step: a whole chunk, or less for short vectors. */
Bytes step_of_a_channel(const NcclPlan& plan, int ranks)
{
  const bool ring  = plan.choice.algorithm == NcclAlgorithm::ring;
  const Bytes part = plan.vector / static_cast<double>(plan.choice.channels);
  const bool split = ring && plan.collective == NcclCollective::allreduce;
  return std::min(plan.choice.chunk, split ? part / static_cast<double>(ranks) : part);
}

/** Plans an Alltoall: messages of point-to-point chunks, each over all channels. */
void plan_alltoall(NcclPlan& plan, const NcclTuner& tuner, NcclRanks in)
{
  constexpr auto RING   = NcclAlgorithm::ring;
  constexpr auto SIMPLE = NcclProtocol::simple;
  const BytesPerSecond rate =
      tuner.channel_rate(plan.choice, plan.collective, in) * static_cast<double>(plan.choice.channels);
  const Bytes message = std::min(plan.choice.chunk, plan.vector);
  const double chunks = std::max(1.0, std::ceil(plan.vector / plan.choice.chunk - 1e-9));
  NcclLane lane;
  lane.within  = {tuner.step_latency(RING, SIMPLE, in, false), rate};
  lane.between = between_nodes(tuner.machine(), {tuner.step_latency(RING, SIMPLE, in, true), rate}, chunks, message);
  plan.window  = SLOTS;
  plan.begin.latency += tuner.machine().peer_overhead * (in.ranks - 1.0);
  plan.lanes.push_back(std::move(lane));
}

/** Returns the chunk of a channel of NVLS: smaller for short vectors (calcCollChunking in src/enqueue.cc). */
Bytes nvls_chunk(Bytes bytes, double concurrent)
{
  double chunk = 128.0 * 1024; // NCCL_NVLS_CHUNKSIZE
  for (const auto& [steps, least] : {std::pair(64.0, 64.0), std::pair(8.0, 32.0), std::pair(2.0, 16.0)})
    if (bytes.value() < steps * concurrent * chunk)
      chunk = std::min(chunk, least * 1024);
  return Bytes(chunk);
}

/** Returns the chunk of a channel of NVLSTree, which is shorter on four nodes or more (ncclNvlsTuning in
 * src/transport/nvls.cc). */
Bytes nvls_tree_chunk(Bytes bytes, double concurrent, int nodes)
{
  double chunk = (nodes < 4 ? 128.0 : 64.0) * 1024;
  for (const auto& [steps, least] : {std::pair(4.0, 64.0), std::pair(1.0, 32.0)})
    if (bytes.value() < steps * concurrent * chunk)
      chunk = std::min(chunk, least * 1024);
  return Bytes(chunk);
}

/** Adds the heads of all nodes, GPU @p gpu of each, to a lane, connected by a tree or over the switches of the network.
 */
void connect_heads(NcclLane& lane, const Nodes& nodes, int gpu, const std::vector<int>* parents)
{
  const auto head = [&](int node) {
    const std::vector<int>& its = nodes.ranks[index_at(node)];
    return its[index_at(gpu) % its.size()];
  };
  const int number = nodes.number();
  for (int node = 0; node < number; ++node) {
    const int own = head(node);
    if (not parents) {
      lane.beyond[index_at(own)] = head((node + 1) % number);
      lane.behind[index_at(own)] = head((node + number - 1) % number);
    } else if (const int parent = (*parents)[index_at(node)]; parent != NcclLane::NOBODY) {
      lane.parent[index_at(own)] = head(parent);
      lane.children[index_at(head(parent))].push_back(own);
    }
  }
}

/** Returns a lane without connections. */
NcclLane lane_of_two_levels(const Nodes& nodes)
{
  NcclLane lane;
  const std::size_t ranks = nodes.node.size();
  lane.parent.assign(ranks, NcclLane::NOBODY);
  lane.children.resize(ranks);
  lane.beyond.assign(ranks, NcclLane::NOBODY);
  lane.behind.assign(ranks, NcclLane::NOBODY);
  return lane;
}

/** Connects each GPU of a node with the next one. */
void connect_neighbours(NcclLane& lane, const Nodes& nodes)
{
  lane.next.assign(nodes.node.size(), NcclLane::NOBODY);
  lane.previous.assign(nodes.node.size(), NcclLane::NOBODY);
  for (const std::vector<int>& its : nodes.ranks)
    for (std::size_t at = 0; its.size() > 1 && at < its.size(); ++at) {
      const int next                = its[(at + 1) % its.size()];
      lane.next[index_at(its[at])]  = next;
      lane.previous[index_at(next)] = its[at];
    }
}

/** Plans NVLSTree, and NVLS and CollNetDirect on several nodes. All stages run at the rate of the tuner's model. */
void plan_two_levels(NcclPlan& plan, const NcclTuner& tuner, NcclRanks in, Bytes bytes)
{
  const NcclAlgorithm algorithm = plan.choice.algorithm;
  const bool nvls               = algorithm != NcclAlgorithm::collnet_direct;
  const bool trees              = algorithm == NcclAlgorithm::nvls_tree;
  const int gpus                = in.ranks / in.nodes;
  const int heads               = std::min(plan.choice.channels, gpus);
  const double concurrent       = static_cast<double>(plan.choice.channels) * heads;
  const BytesPerSecond rate =
      tuner.channel_rate(plan.choice, plan.collective, in) * static_cast<double>(plan.choice.channels);
  if (nvls)
    plan.choice.chunk = trees ? nvls_tree_chunk(bytes, concurrent, in.nodes) : nvls_chunk(bytes, concurrent);
  const double others   = gpus - 1;
  const Seconds within  = tuner.step_latency(algorithm, plan.choice.protocol, in, false);
  const Seconds between = tuner.step_latency(algorithm, plan.choice.protocol, in, true);
  for (const bool second : trees ? std::vector{false, true} : std::vector{false}) {
    NcclLane lane = lane_of_two_levels(plan.nodes);
    lane.share    = trees ? 0.5 : 1.0;
    lane.chunk    = plan.choice.chunk * (concurrent * lane.share);
    lane.near     = nvls ? (1 + 1.0 / gpus) / 2 : others / gpus;
    lane.far      = 1.0 / heads;
    lane.within   = {nvls ? within / 2.0 : within + NcclTuner::COLLNET_GPU * others, rate * (lane.share * lane.near)};
    lane.between  = {between, rate * (lane.share * lane.far)};
    connect_neighbours(lane, plan.nodes);
    const std::vector<int> parents = trees ? nccl_tree(in.nodes, second) : std::vector<int>();
    for (int head = 0; head < heads; ++head)
      connect_heads(lane, plan.nodes, first_gpu(head, heads, gpus), trees ? &parents : nullptr);
    plan.lanes.push_back(std::move(lane));
  }
}

/** Plans CollNetChain: each channel has a chain per node, from whose head sums go to the network. */
void plan_collnet_chain(NcclPlan& plan, const NcclTuner& tuner, NcclRanks in)
{
  const BytesPerSecond rate = tuner.channel_rate(plan.choice, plan.collective, in);
  for (const auto& [place, channels] : channels_of_lanes(plan.choice, plan.nodes)) {
    const double number = channels;
    NcclLane lane       = lane_of_two_levels(plan.nodes);
    lane.share          = number / plan.choice.channels;
    lane.chunk          = plan.choice.chunk * number;
    lane.within         = {tuner.step_latency(plan.choice.algorithm, plan.choice.protocol, in, false), rate * number};
    lane.between        = {tuner.step_latency(plan.choice.algorithm, plan.choice.protocol, in, true), rate * number};
    for (const std::vector<int>& its : plan.nodes.ranks) {
      const std::vector<int> chain = from_gpu(its, place.first);
      for (std::size_t at = 1; at < chain.size(); ++at) {
        lane.parent[index_at(chain[at])] = chain[at - 1];
        lane.children[index_at(chain[at - 1])].push_back(chain[at]);
      }
    }
    connect_heads(lane, plan.nodes, place.first, nullptr);
    plan.lanes.push_back(std::move(lane));
  }
}

/** Plans PAT: one lane per distance, whose messages contain the blocks of all trees. */
void plan_pat(NcclPlan& plan, const NcclTuner& tuner, NcclRanks in)
{
  const double channels     = plan.choice.channels;
  const BytesPerSecond rate = tuner.channel_rate(plan.choice, plan.collective, in) * channels;
  const Seconds network     = tuner.step_latency(NcclAlgorithm::pat, plan.choice.protocol, in, true);
  for (int distance = 1; distance < in.ranks; distance *= 2) {
    const int blocks = (in.ranks - distance + 2 * distance - 1) / (2 * distance);
    NcclLane lane;
    lane.chunk   = plan.choice.chunk * channels;
    lane.far     = blocks;
    lane.between = {network / NcclTuner::PAT_OVERLAP + NcclTuner::PAT_BLOCK * blocks, rate};
    plan.lanes.push_back(std::move(lane));
  }
}

/** Plans NVLS: the traffic between a GPU and the NVSwitches takes the time of the tuner's model. A call fills two
 * additional stages, in which GPUs copy a chunk of each channel to their buffers for the NVSwitches, and results out of
 * them. */
void plan_nvls(NcclPlan& plan, const NcclTuner& tuner, NcclRanks in, Bytes bytes)
{
  const bool sums         = plan.collective == NcclCollective::allreduce;
  const double concurrent = static_cast<double>(plan.choice.channels) * in.ranks;
  const BytesPerSecond rate =
      tuner.channel_rate(plan.choice, plan.collective, in) * static_cast<double>(plan.choice.channels);
  NcclLane lane;
  bytes               = std::max(bytes, Bytes(1));
  plan.volume         = bytes * (sums ? 1.0 + 1.0 / in.ranks : 1.0);
  plan.choice.chunk   = nvls_chunk(bytes, concurrent);
  lane.within.rate    = rate * (plan.volume / bytes);
  lane.within.latency = tuner.step_latency(NcclAlgorithm::nvls, plan.choice.protocol, in, false);
  plan.end.latency    = std::min(plan.choice.chunk * concurrent, bytes) / rate * tuner.machine().nvls_stages;
  plan.lanes.push_back(std::move(lane));
}

} // namespace

std::vector<int> nccl_tree(int nodes, bool second)
{
  // A node's parent has the next bit set instead of its lowest one, or none if there is no such node.
  std::vector<int> first(index_at(nodes), NcclLane::NOBODY);
  for (unsigned node = 1; std::cmp_less(node, nodes); ++node) {
    const unsigned lowest = node & (~node + 1);
    const unsigned parent = (node ^ lowest) | (lowest << 1U);
    first[node]           = static_cast<int>(std::cmp_less(parent, nodes) ? parent : node ^ lowest);
  }
  if (not second)
    return first;
  const auto moved = [nodes](int node) { return nodes % 2 == 0 ? nodes - 1 - node : (node + 1) % nodes; };
  std::vector<int> other(index_at(nodes), NcclLane::NOBODY);
  for (int node = 0; node < nodes; ++node)
    if (first[index_at(node)] != NcclLane::NOBODY)
      other[index_at(moved(node))] = moved(first[index_at(node)]);
  return other;
}

Nodes nodes_of_gpus(const HostCall& call, int gpus)
{
  std::map<int, int> ranks;
  for (int rank = 0; call.host && rank < call.ranks; ++rank)
    if (const auto [other, is_new] = ranks.emplace(call.host(rank), rank); not is_new)
      throw UserError("ranks " + std::to_string(other->second) + " and " + std::to_string(rank) +
                      " share a GPU, but NCCL needs one for each rank: a host of the fabric; run with fewer ranks, and "
                      "one a host, or take a fabric with more GPUs");
  HostCall by_node = call;
  by_node.nodes    = {};
  by_node.host     = [&call, gpus](int rank) { return (call.host ? call.host(rank) : rank) / gpus; };
  return Nodes::of(by_node);
}

std::vector<NcclAlgorithm> nccl_executable(const Nodes& nodes, NcclCollective collective)
{
  std::vector<NcclAlgorithm> all{NcclAlgorithm::ring, NcclAlgorithm::tree, NcclAlgorithm::pat};
  const bool sums = collective == NcclCollective::allreduce;
  const bool even = nodes.level.back().size() == nodes.ranks.size(); // ranks on all nodes
  if (nodes.number() == 1 || (sums && even))
    all.push_back(NcclAlgorithm::nvls);
  if (sums && even)
    all.insert(all.end(), {NcclAlgorithm::nvls_tree, NcclAlgorithm::collnet_direct, NcclAlgorithm::collnet_chain});
  return all;
}

namespace {

/** Plans the algorithms that are neither rings nor trees; returns false for rings and trees. */
bool plan_others(NcclPlan& plan, const NcclTuner& tuner, NcclRanks in, Bytes bytes)
{
  if (plan.collective == NcclCollective::alltoall) {
    plan_alltoall(plan, tuner, in);
    return true;
  }
  switch (plan.choice.algorithm) {
    case NcclAlgorithm::ring:
    case NcclAlgorithm::tree:
      return false;
    case NcclAlgorithm::pat:
      plan_pat(plan, tuner, in);
      return true;
    case NcclAlgorithm::collnet_chain:
      plan_collnet_chain(plan, tuner, in);
      return true;
    default:
      if (in.nodes == 1)
        plan_nvls(plan, tuner, in, bytes);
      else
        plan_two_levels(plan, tuner, in, bytes);
      return true;
  }
}

} // namespace

NcclPlan nccl_plan(const NcclTuner& tuner, const HostCall& call, Nodes nodes, NcclCollective collective)
{
  const NcclRanks in      = ranks_on(call, nodes);
  const Bytes vector      = call.bytes(call.to(0)); // for a Reduce_scatter with equal blocks: one block
  const Bytes bytes       = vector * (has_blocks(collective) ? static_cast<double>(call.ranks) : 1.0);
  const NcclChoice choice = collective == NcclCollective::alltoall
                                ? tuner.messages(in)
                                : tuner.choose(collective, in, bytes, nccl_executable(nodes, collective));
  NcclPlan plan{.collective = collective, .choice = choice, .nodes = std::move(nodes), .lanes = {}, .vector = vector};
  const NcclAlgorithm algorithm = plan.choice.algorithm;
  const NcclProtocol protocol   = plan.choice.protocol;
  plan.wire                     = wire_factor(protocol);
  plan.begin.latency            = tuner.base_latency(algorithm, protocol);
  if (plan_others(plan, tuner, in, bytes))
    return plan;
  const bool ring           = algorithm == NcclAlgorithm::ring;
  const bool long_chunks    = ring && protocol == NcclProtocol::simple;
  const Bytes step          = step_of_a_channel(plan, call.ranks);
  const bool short_step     = protocol == NcclProtocol::simple && step <= Bytes(SHORTEST_SLICE);
  plan.slices               = ring && not short_step ? tuner.machine().ring_slices : 1;
  plan.window               = SLOTS / (long_chunks ? RING_SLOTS : 1) * plan.slices;
  const BytesPerSecond rate = tuner.channel_rate(plan.choice, collective, in);
  for (const auto& [place, channels] : channels_of_lanes(plan.choice, plan.nodes)) {
    const double number = channels;
    NcclLane lane;
    lane.share  = number / plan.choice.channels;
    lane.chunk  = plan.choice.chunk * number;
    lane.within = {tuner.step_latency(algorithm, protocol, in, false), rate * plan.wire * number};
    const Connection usual{tuner.step_latency(algorithm, protocol, in, true), rate * plan.wire * number};
    const Bytes message = step * plan.wire / static_cast<double>(plan.slices);
    lane.between        = between_nodes(tuner.machine(), usual, number, message);
    lane.late           = between_nodes(tuner.machine(), usual, number, message, true);
    if (ring)
      connect_ring(lane, plan.nodes, place.first);
    else
      connect_tree(lane, plan.nodes, place.first, place.second);
    plan.lanes.push_back(std::move(lane));
  }
  const bool in_turns = ring && (collective == NcclCollective::allreduce || has_blocks(collective));
  if (in_turns) // each rank copies the last chunk received out of the connection's slots
    plan.end.latency = std::min(bytes / static_cast<double>(call.ranks) / static_cast<double>(plan.choice.channels),
                                plan.choice.chunk) /
                       rate * tuner.machine().ring_copies;
  return plan;
}

} // namespace weft
