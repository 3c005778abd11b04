// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/nccl/nccl_plan.hpp"

#include "base/error.hpp"
#include "collective/host/engine/nodes.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace weft {
namespace {

constexpr int SLOTS       = 8; // NCCL_STEPS
constexpr int RING_SLOTS  = 4; // ALLREDUCE_CHUNKSTEPS and others
constexpr int RING_SLICES = 2; // of a chunk: its slots over ALLREDUCE_SLICESTEPS

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

/** Returns the GPU of a node of @p gpus at which channel @p channel of @p channels begins. */
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

/** Orders the ranks of a ring: those of a node, then those of the next one. */
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

/** Lanes of a plan: channels by first GPU and tree. The channels of a node alone use the same links. */
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

/** Returns the chunk of a channel of NVLS: smaller for short vectors (calcCollChunking in src/enqueue.cc). */
Bytes nvls_chunk(Bytes bytes, double concurrent)
{
  double chunk = 128.0 * 1024; // NCCL_NVLS_CHUNKSIZE
  for (const auto& [steps, least] : {std::pair(64.0, 64.0), std::pair(8.0, 32.0), std::pair(2.0, 16.0)})
    if (bytes.value() < steps * concurrent * chunk)
      chunk = std::min(chunk, least * 1024);
  return Bytes(chunk);
}

/** Plans NVLS: the traffic of a GPU with the NVSwitches takes the time of the tuner's model. A call fills two more
 * stages, in which GPUs copy a chunk of each channel to their buffers for the NVSwitches, and results out of them. */
void plan_nvls(NcclPlan& plan, const NcclTuner& tuner, NcclRanks in, Bytes bytes)
{
  const bool sums         = plan.collective == NcclCollective::allreduce;
  const double concurrent = static_cast<double>(plan.choice.channels) * in.ranks;
  const BytesPerSecond rate =
      tuner.channel_rate(plan.choice, plan.collective, in) * static_cast<double>(plan.choice.channels);
  constexpr double STAGES = 2;
  NcclLane lane;
  bytes               = std::max(bytes, Bytes(1));
  plan.volume         = bytes * (sums ? 1.0 + 1.0 / in.ranks : 1.0);
  plan.choice.chunk   = nvls_chunk(bytes, concurrent);
  lane.within.rate    = rate * (plan.volume / bytes);
  lane.within.latency = tuner.step_latency(NcclAlgorithm::nvls, plan.choice.protocol, in, false);
  plan.end.latency    = std::min(plan.choice.chunk * concurrent, bytes) / rate * STAGES;
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

std::vector<NcclAlgorithm> nccl_executable(const Nodes& nodes)
{
  std::vector<NcclAlgorithm> all{NcclAlgorithm::ring, NcclAlgorithm::tree};
  if (nodes.number() == 1)
    all.push_back(NcclAlgorithm::nvls);
  return all;
}

NcclPlan nccl_plan(const NcclTuner& tuner, const HostCall& call, const Nodes& nodes, NcclCollective collective)
{
  const NcclRanks in = ranks_on(call, nodes);
  const Bytes vector = call.bytes(call.to(0)); // of a Reduce_scatter with equal blocks: of one of them
  const Bytes bytes  = vector * (has_blocks(collective) ? static_cast<double>(call.ranks) : 1.0);
  NcclPlan plan{.collective = collective,
                .choice     = tuner.choose(collective, in, bytes, nccl_executable(nodes)),
                .node       = nodes.node,
                .lanes      = {},
                .vector     = vector};
  const NcclAlgorithm algorithm = plan.choice.algorithm;
  const NcclProtocol protocol   = plan.choice.protocol;
  plan.wire                     = wire_factor(protocol);
  plan.begin.latency            = tuner.base_latency(algorithm, protocol);
  if (algorithm == NcclAlgorithm::nvls) {
    plan_nvls(plan, tuner, in, bytes);
    return plan;
  }
  const bool ring           = algorithm == NcclAlgorithm::ring;
  const bool long_chunks    = ring && protocol == NcclProtocol::simple;
  plan.slices               = ring ? RING_SLICES : 1;
  plan.window               = SLOTS / (long_chunks ? RING_SLOTS : 1) * plan.slices;
  const BytesPerSecond rate = tuner.channel_rate(plan.choice, collective, in);
  for (const auto& [place, channels] : channels_of_lanes(plan.choice, nodes)) {
    const double number = channels;
    NcclLane lane;
    lane.share   = number / plan.choice.channels;
    lane.chunk   = plan.choice.chunk * number;
    lane.within  = {tuner.step_latency(algorithm, protocol, in, false), rate * plan.wire * number};
    lane.between = {tuner.step_latency(algorithm, protocol, in, true), rate * plan.wire * number};
    if (ring)
      connect_ring(lane, nodes, place.first);
    else
      connect_tree(lane, nodes, place.first, place.second);
    plan.lanes.push_back(std::move(lane));
  }
  const bool in_turns = ring && (collective == NcclCollective::allreduce || has_blocks(collective));
  if (in_turns) // each rank copies the last chunk that it has received out of the connection's slots
    plan.end.latency = std::min(bytes / static_cast<double>(call.ranks) / static_cast<double>(plan.choice.channels),
                                plan.choice.chunk) /
                       rate;
  return plan;
}

} // namespace weft
