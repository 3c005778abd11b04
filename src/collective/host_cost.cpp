// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host_cost.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <unordered_map>

namespace weft {
namespace {

/** Ways that are looked at for a round; they are spread evenly over the ranks. */
constexpr std::size_t SAMPLED_WAYS = 16;

/** What the messages of a round meet, where @p partner says to whom a rank sends (itself: nobody). */
HostCost::Round survey(const Fabric& fabric, std::span<const VertexId> rank_hosts,
                       const std::function<std::size_t(std::size_t)>& partner)
{
  HostCost::Round round{Seconds(), BytesPerSecond(std::numeric_limits<double>::infinity())};
  std::unordered_map<VertexId, int> senders;
  std::vector<std::size_t> leaving;
  for (std::size_t rank = 0; rank < rank_hosts.size(); ++rank) {
    if (rank_hosts[partner(rank)] == rank_hosts[rank])
      continue;
    leaving.push_back(rank);
    round.ranks_a_host = std::max(round.ranks_a_host, ++senders[rank_hosts[rank]]);
  }
  round.between_hosts    = not leaving.empty();
  const std::size_t step = std::max<std::size_t>(1, leaving.size() / SAMPLED_WAYS);
  Route way;
  for (std::size_t at = 0; at < leaving.size(); at += step) {
    way.clear();
    fabric.route(rank_hosts[leaving[at]], rank_hosts[partner(leaving[at])], way);
    round.latency = std::max(round.latency, fabric.latency(way));
    for (const LinkId link : way.links)
      round.bandwidth = std::min(round.bandwidth, fabric.link(link).bandwidth);
  }
  return round;
}

/** The blocks of an Alltoall below which Open MPI takes Bruck's algorithm. */
Bytes bruck_below(int ranks)
{
  if (ranks < 16)
    return {};
  if (ranks < 64 || (512 <= ranks && ranks < 2048))
    return Bytes(512);
  return Bytes(ranks < 4096 ? 1024 : 2048);
}

} // namespace

HostCost::HostCost(const Fabric& fabric, std::span<const VertexId> rank_hosts)
    : fabric_(fabric), ranks_(static_cast<int>(rank_hosts.size()))
{
  const std::size_t ranks = rank_hosts.size();
  for (std::size_t distance = 1; distance < ranks; distance *= 2)
    doubling_.push_back(survey(fabric, rank_hosts, [=](std::size_t rank) {
      const std::size_t other = rank ^ distance;
      return other < ranks ? other : rank;
    }));
  neighbours_ = survey(fabric, rank_hosts, [=](std::size_t rank) { return (rank + 1) % ranks; });
}

/** docs/models.md, "Point to point", with the cable shared by the ranks of a host. */
Seconds HostCost::message_time(const Round& round, Bytes size) const
{
  const HostModel& host = fabric_.host();
  if (not round.between_hosts) // a platform of SimGrid's does not say what messages within a host cost
    return host.loopback_bandwidth > BytesPerSecond()
               ? host.loopback_latency + (size + SMPI_ENVELOPE) / host.loopback_bandwidth
               : Seconds();
  const PointToPointSegment& factors = fabric_.segment(size);
  return round.latency * factors.latency_factor + (size + SMPI_ENVELOPE) * static_cast<double>(round.ranks_a_host) /
                                                      (round.bandwidth * factors.bandwidth_factor);
}

/** A round of a binomial tree: of the ranks that exchange in recursive doubling, few send, seldom two of a host. */
Seconds HostCost::tree_time(std::size_t exponent, Bytes size) const
{
  Round round        = doubling_[exponent];
  round.ranks_a_host = std::min(round.ranks_a_host, 1);
  return message_time(round, size);
}

/** Rounds of exchanges among the largest power of two of ranks. */
std::size_t HostCost::exchanges() const
{
  return std::has_single_bit(static_cast<unsigned>(ranks_)) ? doubling_.size() : doubling_.size() - 1;
}

/** The ranks beyond the largest power of two hand @p size bytes to a neighbour, or get them from it. */
Seconds HostCost::folding(Bytes size) const
{
  return std::has_single_bit(static_cast<unsigned>(ranks_)) ? Seconds() : message_time(doubling_.front(), size);
}

Seconds HostCost::recursive_doubling(Bytes message) const
{
  Seconds time = folding(message) * 2.0;
  for (std::size_t j = 0; j < exchanges(); ++j)
    time += message_time(doubling_[j], message);
  return time;
}

/** Recursive halving, or its reverse: half of the data to the neighbour, half of that at twice the distance, ... */
Seconds HostCost::halving(Bytes message) const
{
  Seconds time;
  for (std::size_t j = 0; j < exchanges(); ++j) {
    message = message / 2;
    time += message_time(doubling_[j], message);
  }
  return time;
}

Seconds HostCost::binomial(Bytes message) const
{
  Seconds time;
  for (std::size_t j = 0; j < doubling_.size(); ++j)
    time += tree_time(j, message);
  return time;
}

/** SMPI's eager messages: their sender goes on at once. */
bool HostCost::eager(Bytes message) const
{
  return message < (fabric_.mpi() ? fabric_.mpi()->eager_threshold : MpiModel().eager_threshold);
}

/** Ranks but the root at the top of a subtree of 2^exponent ranks, if there are so many. */
int HostCost::ranks_at_height(std::size_t exponent) const
{
  const auto others = static_cast<unsigned>(ranks_ - 1);
  return static_cast<int>((others >> exponent) - (others >> (exponent + 1)));
}

/** A subtree of 2^k ranks is together after k rounds. Its top leaves then, or, if its message waits for the receiver, a
 *  round later. Of several segments each is received when the one before has been, but for those of ranks with none
 * below them, which only send. */
Seconds HostCost::binomial_reduce(Bytes message, Bytes segment) const
{
  const double more = segment < message ? std::ceil(message / segment) - 1 : 0;
  Seconds sum;
  Seconds together;
  Seconds round;
  for (std::size_t j = 0; j < doubling_.size(); ++j) {
    round                = tree_time(j, segment);
    const Seconds leaves = together + (eager(segment) ? Seconds() : round) + (j > 0 ? round * more : Seconds());
    sum += leaves * static_cast<double>(ranks_at_height(j));
    together += round;
  }
  return (sum + together + round * more) / static_cast<double>(ranks_);
}

/** A rank leaves when the message has come, a round for each bit of its number. A rank with messages for j + 1 others
 * or more sends all of them at once, over its one cable. */
Seconds HostCost::binomial_bcast(Bytes message) const
{
  if (not eager(message))
    return binomial(message);
  Seconds sum;
  for (std::size_t j = 0; j < doubling_.size(); ++j) {
    const auto half    = static_cast<int>(1U << j);
    const int whole    = ranks_ / (2 * half) * half;
    const int rest     = ranks_ - 2 * whole - half;
    Round round        = doubling_[j];
    round.ranks_a_host = static_cast<int>(std::min(j + 2, doubling_.size()));
    sum += message_time(round, message) * static_cast<double>(whole + std::max(0, rest));
  }
  return sum / static_cast<double>(ranks_);
}

/** What the decision tables of Open MPI 4.1 take, as SMPI has them (src/smpi/colls/smpi_openmpi_selector.cpp of SimGrid
 *  4.1), where that is far from the best: a ring for large Reduce_scatters of few ranks, Bruck's Alltoall for small
 *  blocks, and for Reduces of 8 ranks and more a binomial tree, in segments of 1 KiB up to a size that grows with the
 *  ranks. */
std::optional<Seconds> HostCost::as_open_mpi_has_it(const CollectiveKind& kind, Bytes message) const
{
  if (kind.movement == Movement::reduce && ranks_ >= 8) {
    const bool segmented = message >= Bytes(2048) && ranks_ > 0.6016 / 1024 * message.value() + 1.3496;
    return binomial_reduce(message, segmented ? Bytes(1024) : message);
  }
  const Bytes rings_from(ranks_ < 32 ? 262144 : 524288);
  if (kind.movement == Movement::reduce_scatter && 4 <= ranks_ && ranks_ < 64 && message >= rings_from)
    return ring(message / ranks_);
  if (kind.movement == Movement::alltoall && message / ranks_ < bruck_below(ranks_))
    return bruck_to_each(message / ranks_);
  return std::nullopt;
}

/** Scatter (or gather) of @p message bytes in a binomial tree: over the distance 2^j go the blocks of 2^j ranks. */
Seconds HostCost::binomial_scatter(Bytes message) const
{
  Seconds time;
  for (std::size_t j = 0; j < doubling_.size(); ++j)
    time += tree_time(j, message * std::exp2(j) / ranks_);
  return time;
}

Seconds HostCost::ring(Bytes block) const
{
  return message_time(neighbours_, block) * (ranks_ - 1);
}

/** Every rank sends a block to every other, at growing distances; the round that has the farthest stands for all. */
Seconds HostCost::pairwise(Bytes block) const
{
  return message_time(doubling_.back(), block) * (ranks_ - 1);
}

/** Allgather by recursive doubling; for numbers that are no power of two, Bruck's has the same rounds. */
Seconds HostCost::bruck(Bytes block) const
{
  Seconds time;
  for (std::size_t j = 0; j < doubling_.size(); ++j)
    time += message_time(doubling_[j], block * std::min(std::exp2(j), ranks_ - std::exp2(j)));
  return time;
}

/** Alltoall by Bruck's: over the distance 2^j go the blocks of all ranks whose distance has that bit. */
Seconds HostCost::bruck_to_each(Bytes block) const
{
  Seconds time;
  for (std::size_t j = 0; j < doubling_.size(); ++j) {
    const auto half  = static_cast<int>(1U << j);
    const int blocks = ranks_ / (2 * half) * half + std::max(0, ranks_ % (2 * half) - half);
    time += message_time(doubling_[j], block * blocks);
  }
  return time;
}

/** Every rank starts its sends to all others together: their latencies pass at once, their bytes one after the other.
 */
Seconds HostCost::all_at_once(Bytes block) const
{
  Round round = doubling_.back();
  round.ranks_a_host *= ranks_ - 1;
  return message_time(round, block);
}

Seconds HostCost::dissemination() const
{
  Seconds time;
  for (const Round& round : doubling_)
    time += message_time(round, Bytes());
  return time;
}

Seconds HostCost::time(const CollectiveKind& kind, Bytes message, const std::string& algorithm) const
{
  const std::optional<Seconds> known =
      algorithm == "ompi" && ranks_ > 1 ? as_open_mpi_has_it(kind, message) : std::nullopt;
  return known ? *known : time(kind, message);
}

Seconds HostCost::time(const CollectiveKind& kind, Bytes message) const
{
  if (ranks_ < 2)
    return {};
  const Bytes block = message / ranks_;
  if (kind.movement == Movement::allreduce)
    return std::min({recursive_doubling(message), halving(message) * 2.0 + folding(message) * 2.0, ring(block) * 2.0});
  if (kind.movement == Movement::reduce)
    return std::min(binomial_reduce(message, message), halving(message) + folding(message) + binomial_scatter(message));
  if (kind.movement == Movement::reduce_scatter)
    return std::min(halving(message) + folding(message) + folding(block), pairwise(block));
  if (kind.movement == Movement::bcast)
    return std::min(binomial_bcast(message), binomial_scatter(message) + std::min(bruck(block), ring(block)));
  if (kind.movement == Movement::allgather)
    return std::min(bruck(message), ring(message));
  if (kind.movement == Movement::alltoall)
    return std::min(bruck_to_each(block), all_at_once(block));
  if (kind.movement == Movement::barrier)
    return dissemination();
  throw std::logic_error("no algorithm is known for " + std::string(kind.name));
}

} // namespace weft
