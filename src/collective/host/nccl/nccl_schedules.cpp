// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/nccl/nccl_schedules.hpp"

#include "collective/host/nccl/nccl_plan.hpp"
#include "collective/host/steps/concurrent.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>
#include <vector>

namespace weft {
namespace {

/** Messages of a share of a vector, in chunks; the last one may be shorter. */
struct NcclChunks {
  int number;
  Bytes full; ///< bytes on the wire of a slice of a full chunk
  Bytes last; ///< bytes on the wire of a slice of the last chunk

  NcclChunks(const NcclPlan& plan, Bytes bytes, Bytes chunk)
      : number(std::max(1, static_cast<int>(std::ceil(bytes / chunk - 1e-9)))), full(chunk * plan.wire / plan.slices),
        last((bytes - chunk * (number - 1.0)) * plan.wire / plan.slices)
  {
  }
  Bytes slice(int chunk) const { return chunk + 1 < number ? full : last; }
};

/** Peer rank, and the tag of messages exchanged with it; 0: the strand's tag. */
struct LanePeer {
  int rank;
  int tag = 0;
};

/** A rank's view of a lane. */
struct LaneRank {
  const NcclPlan& plan;
  const NcclLane& lane;
  int rank;

  bool is_near(int peer) const
  {
    const std::vector<int>& node = plan.nodes.node;
    return node[static_cast<std::size_t>(rank)] == node[static_cast<std::size_t>(peer)];
  }
  Bytes message(int peer, Bytes bytes) const { return bytes * (is_near(peer) ? lane.near : lane.far); }
  /** Returns the step that sends a step's data of @p bytes to a peer over the lane's connection, after @p before
   * messages of a ring. */
  Step send_to(LanePeer peer, Bytes bytes, int before = 0) const
  {
    Step step       = isend(peer.rank, message(peer.rank, bytes));
    step.tag        = peer.tag;
    const bool late = before >= plan.window && plan.choice.algorithm == NcclAlgorithm::ring;
    return on(is_near(peer.rank) ? lane.within : late ? lane.late : lane.between, step);
  }
  Step receive_from(LanePeer peer, Bytes bytes) const
  {
    Step step = irecv(peer.rank, message(peer.rank, bytes));
    step.tag  = peer.tag;
    return step;
  }
  int neighbour(int distance) const
  {
    const int ranks = static_cast<int>(lane.order.size());
    const int at    = lane.position[static_cast<std::size_t>(rank)];
    return lane.order[static_cast<std::size_t>((at + distance + ranks) % ranks)];
  }
};

/** Ring in which each chunk makes @p hops hops: a rank sends its own chunk, forwards those that it receives, and keeps
 * the last one. */
Schedule pass_around(LaneRank at, NcclChunks chunks, int hops)
{
  const int previous = at.neighbour(-1);
  const int next     = at.neighbour(1);
  const int slices   = at.plan.slices;
  const int each     = std::max(1, hops * slices); // messages per chunk
  const int messages = chunks.number * each;
  std::deque<Request> coming;
  int posted = 0;
  int sends  = 0;
  for (int taken = 0, chunk = 0; chunk < chunks.number; ++chunk)
    for (int hop = 0; hop <= hops; ++hop)
      for (int slice = 0; slice < slices; ++slice) {
        for (; posted < std::min(messages, taken + at.plan.window); ++posted)
          coming.push_back(co_yield irecv(previous, chunks.slice(posted / each)));
        if (hop > 0) {
          co_yield wait(coming.front());
          coming.pop_front();
          ++taken;
        }
        if (hop < hops) {
          const Request sent = co_yield at.send_to({next}, chunks.slice(chunk), sends++);
          co_yield wait(sent);
        }
      }
}

/** Receives each message from all of @p from, then sends it to all of @p to. */
Schedule relay(LaneRank at, NcclChunks chunks, std::vector<LanePeer> from, std::vector<LanePeer> to)
{
  const int messages = chunks.number * at.plan.slices;
  std::vector<std::deque<Request>> coming(from.size());
  int posted = 0;
  for (int message = 0; message < messages; ++message) {
    for (; posted < std::min(messages, message + at.plan.window); ++posted)
      for (std::size_t index = 0; index < from.size(); ++index)
        coming[index].push_back(co_yield at.receive_from(from[index], chunks.slice(posted / at.plan.slices)));
    for (std::deque<Request>& requests : coming) {
      co_yield wait(requests.front());
      requests.pop_front();
    }
    std::vector<Request> sent;
    sent.reserve(to.size());
    for (const LanePeer peer : to)
      sent.push_back(co_yield at.send_to(peer, chunks.slice(message / at.plan.slices)));
    for (const Request one : sent)
      co_yield wait(one);
  }
}

/** Returns the steps of a rank in a chain from the root of a Bcast, or to the root of a Reduce. */
Schedule chain(const HostCall& call, LaneRank at, NcclChunks chunks)
{
  const bool reduces = at.plan.collective == NcclCollective::reduce;
  const int first    = reduces ? at.lane.position[static_cast<std::size_t>(call.root)] + 1
                               : at.lane.position[static_cast<std::size_t>(call.root)];
  const int place    = (at.lane.position[static_cast<std::size_t>(at.rank)] - first + 2 * call.ranks) % call.ranks;
  std::vector<LanePeer> from;
  std::vector<LanePeer> to;
  if (place > 0)
    from.push_back({at.neighbour(-1)});
  if (place + 1 < call.ranks)
    to.push_back({at.neighbour(1)});
  return relay(at, chunks, std::move(from), std::move(to));
}

/** Returns entry @p rank of a list, which the lane may not have. */
int peer_in(const std::vector<int>& list, int rank)
{
  return list.empty() ? NcclLane::NOBODY : list[static_cast<std::size_t>(rank)];
}

/** Adds the strands of a rank in a tree, and in algorithms of two levels: sums of later chunks go up while results of
 * earlier ones go down. Between the GPUs of a node, results travel in the opposite direction to contributions, with the
 * tag @p back. */
void add_up_and_down(std::vector<ConcurrentSchedule>& strands, LaneRank at, int tag, int back)
{
  const auto add = [&strands, tag](Schedule steps) { strands.push_back({std::move(steps), tag}); };
  const NcclChunks chunks(at.plan, at.plan.vector * at.lane.share, at.lane.chunk);
  std::vector<LanePeer> contributions;
  std::vector<LanePeer> results;
  for (const int child : at.lane.children[static_cast<std::size_t>(at.rank)]) {
    contributions.push_back({child});
    results.push_back({child});
  }
  if (const int next = peer_in(at.lane.next, at.rank); next != NcclLane::NOBODY) {
    const int previous = peer_in(at.lane.previous, at.rank);
    contributions.push_back({previous});
    results.push_back({previous, back});
    add(relay(at, chunks, {}, {{next}}));
    add(relay(at, chunks, {{next, back}}, {}));
  }
  const int parent = at.lane.parent[static_cast<std::size_t>(at.rank)];
  const int beyond = peer_in(at.lane.beyond, at.rank);
  if (parent != NcclLane::NOBODY) {
    add(relay(at, chunks, std::move(contributions), {{parent}}));
    add(relay(at, chunks, {{parent}}, std::move(results)));
  } else if (beyond != NcclLane::NOBODY) {
    add(relay(at, chunks, std::move(contributions), {{beyond}}));
    add(relay(at, chunks, {{peer_in(at.lane.behind, at.rank)}}, std::move(results)));
  } else {
    add(relay(at, chunks, std::move(contributions), std::move(results)));
  }
}

/** Adds the strands of a rank on a lane, whose messages use the tag @p tag or the next one. */
void add_strands(std::vector<ConcurrentSchedule>& strands, const HostCall& call, LaneRank at, int tag)
{
  const auto add                  = [&strands, tag](Schedule steps) { strands.push_back({std::move(steps), tag}); };
  const NcclCollective collective = at.plan.collective;
  const Bytes share               = at.plan.vector * at.lane.share;
  if (at.plan.choice.algorithm != NcclAlgorithm::ring)
    return add_up_and_down(strands, at, tag, tag + 1);
  if (collective == NcclCollective::broadcast || collective == NcclCollective::reduce) {
    add(chain(call, at, NcclChunks(at.plan, share, at.lane.chunk)));
    return;
  }
  const bool both   = collective == NcclCollective::allreduce; // reduce-scatter, then allgather
  const Bytes block = both ? share / static_cast<double>(call.ranks) : share;
  add(pass_around(at, NcclChunks(at.plan, block, at.lane.chunk), (both ? 2 : 1) * (call.ranks - 1)));
}

/** Exchanges a block with each rank, with several exchanges in flight. */
Schedule exchange_with_all(const HostCall& call, LaneRank at)
{
  std::deque<Request> open;
  for (int distance = 1; distance < call.ranks; ++distance) {
    open.push_back(co_yield irecv((at.rank + call.ranks - distance) % call.ranks, at.plan.vector));
    open.push_back(co_yield at.send_to({(at.rank + distance) % call.ranks}, at.plan.vector));
    for (; std::cmp_greater_equal(open.size(), 2 * at.plan.window); open.pop_front())
      co_yield wait(open.front());
  }
  co_yield wait_all();
}

/** Synchronises with the ranks of @p group, in which the rank has the index @p place. */
Schedule meet(std::vector<int> group, int place)
{
  const int ranks = static_cast<int>(group.size());
  for (int distance = 1; distance < ranks; distance *= 2) {
    const Request met = co_yield irecv(group[static_cast<std::size_t>((place + ranks - distance) % ranks)], Bytes());
    co_yield isend(group[static_cast<std::size_t>((place + distance) % ranks)], Bytes());
    co_yield wait(met);
  }
}

/** Synchronises with the GPUs of the node. */
Schedule meet_on_node(const NcclPlan& plan, int rank)
{
  const auto at = static_cast<std::size_t>(rank);
  return meet(plan.nodes.ranks[static_cast<std::size_t>(plan.nodes.node[at])], plan.nodes.place[at]);
}

/** Synchronises with all ranks: the ranks of the node, then the ranks with the same index on other nodes. */
Schedule meet_all(const NcclPlan& plan, int rank)
{
  const auto at = static_cast<std::size_t>(rank);
  co_yield meet_on_node(plan, rank);
  co_yield meet(plan.nodes.level[static_cast<std::size_t>(plan.nodes.place[at])], plan.nodes.across[at]);
}

/** Exchanges the blocks of PAT's trees, chunk by chunk: an Allgather begins at the largest distance, a Reduce-Scatter
 * runs in the reverse order and direction. */
Schedule pat(const HostCall& call, const NcclPlan& plan, int rank)
{
  const bool gathers = plan.collective == NcclCollective::allgather;
  const int lanes    = static_cast<int>(plan.lanes.size());
  const NcclChunks chunks(plan, plan.vector, plan.lanes.front().chunk);
  for (int chunk = 0; chunk < chunks.number; ++chunk)
    for (int step = 0; step < lanes; ++step) {
      const int number   = gathers ? lanes - 1 - step : step;
      const int distance = static_cast<int>(1U << static_cast<unsigned>(number));
      const int above    = (rank + distance) % call.ranks;
      const int below    = (rank + call.ranks - distance) % call.ranks;
      const LaneRank at{plan, plan.lanes[static_cast<std::size_t>(number)], rank};
      const Request coming = co_yield at.receive_from({gathers ? below : above}, chunks.slice(chunk));
      const Request sent   = co_yield at.send_to({gathers ? above : below}, chunks.slice(chunk));
      co_yield wait(coming);
      co_yield wait(sent);
    }
}

/** Synchronises with all ranks, then moves the data that a GPU exchanges with the NVSwitches over its links. */
Schedule nvls(const HostCall& call, const NcclPlan& plan, int rank)
{
  co_yield meet_on_node(plan, rank);
  const Request left = co_yield irecv((rank + call.ranks - 1) % call.ranks, plan.volume);
  co_yield on(plan.lanes.front().within, isend((rank + 1) % call.ranks, plan.volume));
  co_yield wait(left);
  co_yield wait_all();
}

} // namespace

Schedule nccl_steps(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const NcclPlan& plan          = *call.nccl;
  const NcclAlgorithm algorithm = plan.choice.algorithm;
  co_yield pause(plan.begin);
  if (plan.collective == NcclCollective::alltoall) {
    co_yield exchange_with_all(call, {plan, plan.lanes.front(), rank});
  } else if (algorithm == NcclAlgorithm::nvls && plan.nodes.number() == 1) {
    co_yield nvls(call, plan, rank);
  } else if (algorithm == NcclAlgorithm::pat) {
    co_yield pat(call, plan, rank);
  } else {
    const bool two_levels = algorithm != NcclAlgorithm::ring && algorithm != NcclAlgorithm::tree;
    if (algorithm == NcclAlgorithm::nvls_tree)
      co_yield meet_on_node(plan, rank);
    else if (two_levels)
      co_yield meet_all(plan, rank);
    std::vector<ConcurrentSchedule> strands;
    int tag = TAGS;
    for (const NcclLane& lane : plan.lanes) {
      add_strands(strands, call, {plan, lane, rank}, tag);
      tag += 2;
    }
    if (algorithm == NcclAlgorithm::ring && strands.size() == 1)
      co_yield strands.front().steps; // all ranks have exactly one strand, so a wait for any of several is unnecessary
    else
      co_yield together(std::move(strands));
    if (two_levels)
      co_yield meet_on_node(plan, rank);
  }
  co_yield pause(plan.end);
}

} // namespace weft
