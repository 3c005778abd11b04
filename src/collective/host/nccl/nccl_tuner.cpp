// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/nccl/nccl_tuner.hpp"

#include "base/error.hpp"
#include "collective/host/nccl/nccl_filter.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

namespace weft {
namespace {

/** Returns the column of values for a number of nodes. */
std::size_t column_of(int nodes)
{
  return nodes <= 2 ? static_cast<std::size_t>(nodes - 1) : 2;
}

int whole_log2(std::uint64_t value)
{
  return static_cast<int>(std::bit_width(value)) - 1;
}

int all_channels(const NcclGraph& its)
{
  return its.channels * its.copies;
}

double ranks_per_node(NcclRanks in)
{
  return static_cast<double>(in.ranks) / in.nodes;
}

/** Returns the steps of a ring (nsteps). */
int ring_steps(NcclCollective collective, int ranks)
{
  switch (collective) {
    case NcclCollective::allreduce:
      return 2 * (ranks - 1);
    case NcclCollective::allgather:
    case NcclCollective::reduce_scatter:
      return ranks - 1;
    default:
      return ranks;
  }
}

bool is_of_blocks(NcclCollective collective)
{
  return collective == NcclCollective::allgather || collective == NcclCollective::reduce_scatter;
}

bool is_collnet(NcclAlgorithm algorithm)
{
  return algorithm == NcclAlgorithm::collnet_direct || algorithm == NcclAlgorithm::collnet_chain;
}

bool is_nvls(NcclAlgorithm algorithm)
{
  return algorithm == NcclAlgorithm::nvls || algorithm == NcclAlgorithm::nvls_tree;
}

/** Returns whether @p among contains an algorithm, or is empty. */
bool is_among(NcclAlgorithm algorithm, std::span<const NcclAlgorithm> among)
{
  return among.empty() || std::ranges::count(among, algorithm) > 0;
}

/** Returns NCCL's name of a collective in its variables. */
std::string_view name_in_variables(NcclCollective collective)
{
  switch (collective) {
    case NcclCollective::broadcast:
      return "broadcast";
    case NcclCollective::reduce:
      return "reduce";
    case NcclCollective::allgather:
      return "allgather";
    case NcclCollective::reduce_scatter:
      return "reducescatter";
    default:
      return "allreduce";
  }
}

} // namespace

NcclTuner::NcclTuner(NcclConstants constants, NcclMachine machine)
    : constants_(std::move(constants)), machine_(std::move(machine))
{
  if (not constants_.bandwidth.contains(machine_.architecture))
    throw UserError("NCCL " + constants_.name + " does not know GPUs of architecture \"" +
                    std::string(to_text(machine_.architecture)) + "\"; use a later version");
  check_nccl_list("NCCL_ALGO", machine_.algo, names_of<NcclAlgorithm>());
  check_nccl_list("NCCL_PROTO", machine_.proto, names_of<NcclProtocol>());
}

const NcclBandwidth& NcclTuner::bandwidth() const
{
  return constants_.bandwidth.at(machine_.architecture);
}

/** Returns the graph of an algorithm; null if the machine cannot run it. */
const NcclGraph* NcclTuner::graph(NcclAlgorithm algorithm, NcclRanks in) const
{
  return machine_.graph(algorithm, in.ranks / in.nodes);
}

/** Returns whether NCCL has an algorithm for a collective on this machine. */
bool NcclTuner::is_possible(NcclAlgorithm algorithm, NcclProtocol protocol, NcclCollective collective,
                            NcclRanks in) const
{
  if (collective == NcclCollective::alltoall || not graph(algorithm, in) ||
      (protocol == NcclProtocol::ll128 && machine_.ll128 == NcclAbility::no))
    return false;
  if (algorithm == NcclAlgorithm::ring)
    return true;
  if (collective == NcclCollective::broadcast || collective == NcclCollective::reduce)
    return false;
  if (algorithm == NcclAlgorithm::pat)
    return is_new() && is_of_blocks(collective) && in.ranks == in.nodes && protocol == NcclProtocol::simple;
  if (is_of_blocks(collective) && (not is_new() || algorithm == NcclAlgorithm::tree ||
                                   algorithm == NcclAlgorithm::collnet_chain || algorithm == NcclAlgorithm::nvls_tree))
    return false;
  if (algorithm != NcclAlgorithm::tree && protocol != NcclProtocol::simple)
    return false;
  const bool collnet = machine_.collnet == NcclAbility::yes;
  if (is_collnet(algorithm))
    return collnet && in.nodes > 1;
  if (algorithm == NcclAlgorithm::nvls)
    return in.nodes == 1 || collnet;
  return algorithm != NcclAlgorithm::nvls_tree || in.nodes > 1;
}

/** Returns whether NCCL_ALGO and NCCL_PROTO allow an algorithm and protocol. */
bool NcclTuner::is_allowed(NcclAlgorithm algorithm, NcclProtocol protocol, NcclCollective collective) const
{
  const std::string_view name = name_in_variables(collective);
  return nccl_allows(machine_.algo, name, to_text(algorithm)) && nccl_allows(machine_.proto, name, to_text(protocol));
}

/** Returns the bandwidth of a channel of NVLS or NVLSTree since 2.27: one GPU of the channel's @p graph drives the
 * NVSwitch, the other GPUs follow. */
BytesPerSecond NcclTuner::nvls_channel(const NcclGraph& its, NcclCollective collective, NcclRanks in) const
{
  const double gpus          = its.channels;
  const double ppn           = ranks_per_node(in);
  BytesPerSecond intra       = its.intra * bandwidth().nvls_efficiency * ((gpus - 1) / gpus);
  intra                      = intra * (collective == NcclCollective::allreduce ? 2.0 : (ppn - 1) / ppn);
  const bool tree            = its.of == NcclAlgorithm::nvls_tree;
  const BytesPerSecond least = std::min(intra, its.inter * (tree && in.nodes <= 2 ? 2.0 : 1.0));
  return tree ? std::min(least, bandwidth().nvls_tree.at(column_of(in.nodes))) : least;
}

/** Returns the largest bandwidth of all channels with LL: by GPU on one node, by CPU on several. */
BytesPerSecond NcclTuner::most_with_ll(NcclRanks in) const
{
  const auto by_cpu = machine_.cpu == CpuVendor::amd ? GpuArchitecture::ampere : GpuArchitecture::volta;
  return (in.nodes == 1 ? bandwidth() : constants_.bandwidth.at(by_cpu)).ll.at(column_of(in.nodes));
}

BytesPerSecond NcclTuner::ring_bandwidth(BytesPerSecond bus, NcclProtocol protocol, NcclCollective collective,
                                         NcclRanks in) const
{
  const bool sums = collective == NcclCollective::allreduce || collective == NcclCollective::reduce;
  if (protocol == NcclProtocol::ll)
    return std::min(most_with_ll(in), bus * (is_new() ? 0.5 : in.nodes > 1 || sums ? 0.25 : 1.0 / 3));
  if (protocol == NcclProtocol::simple)
    return bus;
  const double channels = graph(NcclAlgorithm::ring, in)->channels;
  return std::min(bus * (is_new() || ranks_per_node(in) >= 2 ? 0.92 : 0.7),
                  bandwidth().ring_ll128.at(column_of(in.nodes)) * channels);
}

BytesPerSecond NcclTuner::tree_bandwidth(BytesPerSecond bus, NcclProtocol protocol, NcclRanks in) const
{
  const std::size_t at  = column_of(in.nodes);
  const double channels = graph(NcclAlgorithm::tree, in)->channels;
  bus                   = std::min(bus * 0.92, bandwidth().tree.at(at) * channels);
  if (protocol == NcclProtocol::ll)
    bus = std::min(bus / 3.8, most_with_ll(in));
  if (protocol == NcclProtocol::ll128)
    bus = std::min(bus * (in.nodes == 1 ? 7.0 / 9 : 120.0 / 128), bandwidth().tree_ll128.at(at) * channels);
  return machine_.simple_tree == NcclAbility::yes ? bus * 0.85 : bus;
}

/** Returns the bandwidth of CollNetDirect, whose channels share a NIC if a node has more GPUs than channels. */
BytesPerSecond NcclTuner::collnet_bandwidth(const NcclGraph& its, NcclCollective collective, NcclRanks in) const
{
  const double ppn = ranks_per_node(in);
  if (is_of_blocks(collective))
    return std::min(its.intra, its.inter * 0.9) * ppn;
  const double channels     = its.channels;
  const double gpus_per_nic = ppn / channels;
  const BytesPerSecond bus  = its.intra * channels / (gpus_per_nic - (gpus_per_nic - 1) / 2);
  return machine_.architecture >= GpuArchitecture::hopper ? bus * 0.85 : bus;
}

/** Returns the bandwidth of all channels with a protocol (busBw). */
BytesPerSecond NcclTuner::bus_bandwidth(const NcclGraph& its, NcclProtocol protocol, NcclCollective collective,
                                        NcclRanks in) const
{
  const double channels    = its.channels;
  const BytesPerSecond bus = (in.nodes <= 2 || is_collnet(its.of) ? its.intra : its.inter) * channels;
  switch (its.of) {
    case NcclAlgorithm::ring:
      return ring_bandwidth(bus, protocol, collective, in);
    case NcclAlgorithm::tree:
      return tree_bandwidth(bus, protocol, in);
    case NcclAlgorithm::collnet_direct:
      return collnet_bandwidth(its, collective, in);
    case NcclAlgorithm::pat:
      return bus * 0.75;
    case NcclAlgorithm::nvls:
    case NcclAlgorithm::nvls_tree:
      return is_new() ? nvls_channel(its, collective, in) * channels : bus;
    default:
      return bus;
  }
}

/** Returns the ratio of the larger buffer's bytes to bytes on the bus. */
double NcclTuner::ratio(NcclAlgorithm algorithm, NcclCollective collective, NcclRanks in) const
{
  if (algorithm != NcclAlgorithm::ring && is_of_blocks(collective))
    return 1;
  if (algorithm == NcclAlgorithm::ring || (is_new() && is_nvls(algorithm)))
    return static_cast<double>(in.ranks) / ring_steps(collective, in.ranks);
  if (algorithm == NcclAlgorithm::nvls)
    return 5.0 / 6;
  return algorithm == NcclAlgorithm::nvls_tree ? 0.7 * in.nodes / (2.0 * (in.nodes - 1)) : 0.5;
}

Seconds NcclTuner::base_latency(NcclAlgorithm algorithm, NcclProtocol protocol) const
{
  return constants_.latency.at(index_of(algorithm)).base.at(index_of(protocol));
}

BytesPerSecond NcclTuner::channel_rate(const NcclChoice& choice, NcclCollective collective, NcclRanks in) const
{
  const NcclGraph& its     = *graph(choice.algorithm, in);
  const BytesPerSecond bus = bus_bandwidth(its, choice.protocol, collective, in) / all_channels(its);
  return choice.algorithm == NcclAlgorithm::ring ? bus : bus * ratio(choice.algorithm, collective, in);
}

Seconds NcclTuner::step_latency(NcclAlgorithm algorithm, NcclProtocol protocol, NcclRanks in, bool between_nodes) const
{
  const NcclGraph& its    = *graph(algorithm, in);
  const std::size_t at    = index_of(protocol);
  const NcclLatency& own  = constants_.latency.at(index_of(algorithm));
  const NcclLatency& tree = constants_.latency.at(index_of(NcclAlgorithm::tree));
  if (not between_nodes)
    return (its.links == GpuLinks::nvlink ? own.nvlink : own.pcie).at(at);
  const bool flushes = protocol == NcclProtocol::simple; // reads back from the NIC after each message
  return (is_new() && in.ranks == in.nodes ? tree : own).network.at(at) + its.network_latency * (flushes ? 2.0 : 1.0);
}

Seconds NcclTuner::ring_latency(const NcclGraph& graph_of_ring, NcclProtocol protocol, NcclCollective collective,
                                NcclRanks in) const
{
  const std::size_t at = index_of(protocol);
  const int steps      = ring_steps(collective, in.ranks);
  const bool within    = in.nodes == 1;
  if (collective == NcclCollective::broadcast || collective == NcclCollective::reduce) {
    const auto of = [&](NcclAlgorithm one) {
      const NcclLatency& its = constants_.latency.at(index_of(one));
      if (not within)
        return its.network.at(at);
      return (graph_of_ring.links == GpuLinks::nvlink ? its.nvlink : its.pcie).at(at);
    };
    if (graph_of_ring.same_channels == NcclAbility::yes)
      return of(NcclAlgorithm::ring);
    return of(protocol == NcclProtocol::simple ? NcclAlgorithm::tree : NcclAlgorithm::ring) * steps;
  }
  const double overhead =
      within ? 0 : (machine_.cpu == CpuVendor::amd ? 2e-6 : 1e-6) * (protocol == NcclProtocol::simple ? 3 : 1);
  const Seconds intra = std::max(step_latency(NcclAlgorithm::ring, protocol, in, false), Seconds(overhead));
  const int twice     = collective == NcclCollective::allreduce ? 2 : 1;
  int between         = within ? 0 : twice * (in.nodes - 1);
  if (not is_new())
    between = twice == 1 ? in.nodes - 1 : within ? 0 : 2 * in.nodes;
  return intra * (steps - between) + step_latency(NcclAlgorithm::ring, protocol, in, true) * between;
}

Seconds NcclTuner::latency(const NcclGraph& its, NcclProtocol protocol, NcclCollective collective, NcclRanks in) const
{
  const Seconds base  = constants_.latency.at(index_of(its.of)).base.at(index_of(protocol));
  const Seconds intra = step_latency(its.of, protocol, in, false);
  const Seconds net   = step_latency(its.of, protocol, in, true);
  const int log_nodes = whole_log2(static_cast<std::uint64_t>(in.nodes));
  const int on_a_node = in.ranks / in.nodes;
  const double others = on_a_node - 1;
  switch (its.of) {
    case NcclAlgorithm::ring:
      return base + ring_latency(its, protocol, collective, in);
    case NcclAlgorithm::tree:
      return base + (intra * others + net * log_nodes) * 2.0;
    case NcclAlgorithm::collnet_direct:
      return base + (intra * std::min(1.0, others) + COLLNET_GPU * others) * 2.0 + net;
    case NcclAlgorithm::collnet_chain:
      return base + intra * (2.0 * others) + net;
    case NcclAlgorithm::nvls:
      return is_new() ? intra + (in.nodes > 1 ? net : Seconds()) : base;
    case NcclAlgorithm::nvls_tree:
      if (is_new())
        return base + intra + net * (2.0 * log_nodes);
      return base + constants_.latency.at(index_of(its.of)).network.at(index_of(protocol)) * (2.0 * (in.nodes - 1));
    default: // PAT
      return base + net * log_nodes / PAT_OVERLAP + PAT_BLOCK * in.ranks;
  }
}

std::vector<NcclOption> NcclTuner::options(NcclCollective collective, NcclRanks in) const
{
  std::vector<NcclOption> all;
  for (const auto& [algorithm, name] : Names<NcclAlgorithm>::ROWS)
    for (const auto& [protocol, its_name] : Names<NcclProtocol>::ROWS) {
      if (not is_possible(algorithm, protocol, collective, in))
        continue;
      const NcclGraph& its     = *graph(algorithm, in);
      const BytesPerSecond bus = bus_bandwidth(its, protocol, collective, in);
      if (bus > BytesPerSecond())
        all.push_back(
            {algorithm, protocol, latency(its, protocol, collective, in), bus * ratio(algorithm, collective, in)});
    }
  return all;
}

/** Returns the time that the tuner predicts. */
Seconds NcclTuner::time(const NcclOption& option, NcclCollective collective, NcclRanks in, Bytes bytes) const
{
  Seconds latency       = option.latency;
  BytesPerSecond rate   = option.bandwidth;
  const bool sums       = collective == NcclCollective::allreduce;
  const auto& corrected = constants_.tree_correction.at(index_of(option.protocol));
  const auto units      = static_cast<std::uint64_t>(bytes.value()) >> 6U;
  const int size        = whole_log2(units);
  if (option.algorithm == NcclAlgorithm::tree && sums && size >= 0 && std::cmp_less(size, corrected.size()))
    rate = rate * corrected[static_cast<std::size_t>(size)];
  // Steps of a ring over the network slow each other down once its messages are long.
  constexpr double LONG = 64;
  if (option.algorithm == NcclAlgorithm::ring && option.protocol == NcclProtocol::simple && in.nodes > 1 && sums &&
      bytes.value() / (all_channels(*graph(NcclAlgorithm::ring, in)) * static_cast<double>(in.ranks)) >= LONG)
    latency = latency * (machine_.architecture < GpuArchitecture::ampere ? 1.9 : 1.4);
  return latency + bytes / rate;
}

NcclChoice NcclTuner::choose(NcclCollective collective, NcclRanks in, Bytes bytes,
                             std::span<const NcclAlgorithm> among) const
{
  std::optional<NcclChoice> best;
  for (const NcclOption& one : options(collective, in)) {
    if (not is_among(one.algorithm, among) || not is_allowed(one.algorithm, one.protocol, collective))
      continue;
    const Seconds its = time(one, collective, in, bytes);
    if (not best || its < best->time)
      best = NcclChoice{one.algorithm, one.protocol, its, 0, 0, {}};
  }
  if (not best)
    fail(collective, in, among);
  choose_channels(*best, collective, in, bytes);
  return *best;
}

void NcclTuner::fail(NcclCollective collective, NcclRanks in, std::span<const NcclAlgorithm> among) const
{
  std::vector<std::string> possible;
  for (const NcclOption& one : options(collective, in))
    if (is_among(one.algorithm, among))
      possible.push_back(std::string(to_text(one.algorithm)) + " with " + std::string(to_text(one.protocol)));
  throw UserError("NCCL_ALGO \"" + machine_.algo + "\" and NCCL_PROTO \"" + machine_.proto +
                  "\" leave no algorithm for " + std::string(to_text(collective)) + " of " + std::to_string(in.ranks) +
                  " ranks on " + std::to_string(in.nodes) + " nodes; " + (among.empty() ? "this machine" : "runs") +
                  " can execute: " + join(possible));
}

/** Chooses channels, threads and chunk: reduces channels, then threads, until each thread has enough work. */
void NcclTuner::choose_channels(NcclChoice& choice, NcclCollective collective, NcclRanks in, Bytes bytes) const
{
  const NcclGraph& its = *graph(choice.algorithm, in);
  choice.channels      = std::max(all_channels(its), machine_.least_channels);
  if (machine_.most_channels > 0)
    choice.channels = std::min(choice.channels, machine_.most_channels);
  const bool ring   = choice.algorithm == NcclAlgorithm::ring;
  const bool simple = choice.protocol == NcclProtocol::simple;
  choice.threads    = choice.protocol == NcclProtocol::ll128 || is_nvls(choice.algorithm) ? 640 : 512;
  if (ring && simple && (its.intra * static_cast<double>(its.channels)).value() <= 12e9)
    choice.threads = 256;
  double threshold = simple ? 64 : 8;
  if (ring && choice.protocol == NcclProtocol::ll)
    threshold *= in.ranks;
  const auto is_little = [&] { return bytes.value() < choice.channels * choice.threads * threshold; };
  if (not is_nvls(choice.algorithm) && not is_collnet(choice.algorithm)) {
    while (is_little() && choice.channels > std::max(1, machine_.least_channels))
      --choice.channels;
    while (is_little() && choice.threads % 128 == 0)
      choice.threads /= 2;
  }
  constexpr double RING_SLOTS = 4; // ALLREDUCE_CHUNKSTEPS and others (src/include/collectives.h)
  choice.chunk = slot(choice.protocol) / wire_factor(choice.protocol) * (ring && simple ? RING_SLOTS : 1);
  shorten_chunk(choice, collective, in, bytes);
}

/** Shortens the chunk for short messages, so that enough chunks are in flight (computeColl and calcCollChunking in
 * src/enqueue.cc). With Simple, trees do so in 2.18 only. */
void NcclTuner::shorten_chunk(NcclChoice& choice, NcclCollective collective, NcclRanks in, Bytes bytes) const
{
  constexpr double KIB   = 1024;
  const auto halve_while = [&](double chunks, double least) {
    while (std::floor(bytes / (choice.chunk * static_cast<double>(choice.channels))) < chunks &&
           choice.chunk.value() > least)
      choice.chunk = choice.chunk / 2.0;
  };
  const double gpus  = ranks_per_node(in);
  const double nodes = whole_log2(static_cast<std::uint64_t>(in.nodes));
  if (choice.algorithm == NcclAlgorithm::pat) {
    halve_while(collective == NcclCollective::allgather ? 32 : 16, 64 * KIB);
  } else if (choice.algorithm == NcclAlgorithm::collnet_direct) {
    const double heads = std::min<double>(gpus, choice.channels);
    const double depth = gpus > 1 ? 2 : 1;
    halve_while(depth * 64 * heads, 128 * KIB);
    halve_while(depth * 8 * heads, 32 * KIB);
  } else if (choice.algorithm == NcclAlgorithm::collnet_chain) {
    choice.chunk = std::min(choice.chunk, Bytes(256 * KIB));
    halve_while(gpus * 64, 128 * KIB);
    halve_while(gpus * 8, 64 * KIB);
    halve_while(gpus, 32 * KIB);
  } else if (choice.algorithm != NcclAlgorithm::tree) {
    return;
  } else if (choice.protocol == NcclProtocol::ll128) {
    const double steps = 1 + nodes + 0.1 * gpus;
    halve_while(steps * 64 / gpus, 128 * KIB);
    halve_while(steps * 16 / gpus, 32 * KIB);
  } else if (choice.protocol == NcclProtocol::simple && not is_new()) {
    const double depth = gpus - 1 + nodes;
    halve_while(depth * 8, 128 * KIB);
    halve_while(depth * 4, 64 * KIB);
    halve_while(depth, 32 * KIB);
  }
}

NcclChoice NcclTuner::messages(NcclRanks in) const
{
  constexpr double MESSAGE_BYTES = 128.0 * 1024; // NCCL_P2P_NET_CHUNKSIZE
  const int channels             = all_channels(*graph(NcclAlgorithm::ring, in));
  return {NcclAlgorithm::ring, NcclProtocol::simple, Seconds(), channels, 512, Bytes(MESSAGE_BYTES)};
}

Bytes NcclTuner::slot(NcclProtocol protocol) const
{
  constexpr double SLOTS = 8; // NCCL_STEPS
  switch (protocol) {
    case NcclProtocol::ll:
      return Bytes(8.0 * 512 * 16); // lines per thread, threads, bytes per line
    case NcclProtocol::ll128:
      return Bytes(120.0 * 640 * 8); // words per thread, threads, bytes per word
    default:
      return (machine_.buffer > Bytes() ? machine_.buffer : Bytes(4.0 * 1024 * 1024)) / SLOTS;
  }
}

double wire_factor(NcclProtocol protocol)
{
  switch (protocol) {
    case NcclProtocol::ll:
      return 2;
    case NcclProtocol::ll128:
      return 128.0 / 120;
    default:
      return 1;
  }
}

} // namespace weft
