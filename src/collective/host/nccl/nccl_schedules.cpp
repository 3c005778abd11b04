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

/** Messages of a share of a vector, in chunks of which the last one may be shorter. */
struct NcclChunks {
  int number;
  Bytes full; ///< bytes on the wire of a slice of a chunk,
  Bytes last; ///< and of the last chunk

  NcclChunks(const NcclPlan& plan, Bytes bytes, Bytes chunk)
      : number(std::max(1, static_cast<int>(std::ceil(bytes / chunk - 1e-9)))), full(chunk * plan.wire / plan.slices),
        last((bytes - chunk * (number - 1.0)) * plan.wire / plan.slices)
  {
  }
  Bytes slice(int chunk) const { return chunk + 1 < number ? full : last; }
};

/** Rank's view of a lane. */
struct LaneRank {
  const NcclPlan& plan;
  const NcclLane& lane;
  int rank;

  /** Returns the step that sends to another rank over the lane's connection. */
  Step send_to(int peer, Bytes bytes) const
  {
    const bool near = plan.node[static_cast<std::size_t>(rank)] == plan.node[static_cast<std::size_t>(peer)];
    return on(near ? lane.within : lane.between, isend(peer, bytes));
  }
  int neighbour(int distance) const
  {
    const int ranks = static_cast<int>(lane.order.size());
    const int at    = lane.position[static_cast<std::size_t>(rank)];
    return lane.order[static_cast<std::size_t>((at + distance + ranks) % ranks)];
  }
};

/** Ring in which each chunk makes @p hops hops: a rank sends its own, passes on those that it receives, and keeps the
 * last one. */
Schedule pass_around(LaneRank at, NcclChunks chunks, int hops)
{
  const int previous = at.neighbour(-1);
  const int next     = at.neighbour(1);
  const int slices   = at.plan.slices;
  const int each     = std::max(1, hops * slices); // messages of a chunk
  const int messages = chunks.number * each;
  std::deque<Request> coming;
  int posted = 0;
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
          const Request sent = co_yield at.send_to(next, chunks.slice(chunk));
          co_yield wait(sent);
        }
      }
}

/** Receives each message from all of @p from, then sends it to all of @p to. */
Schedule relay(LaneRank at, NcclChunks chunks, std::vector<int> from, std::vector<int> to)
{
  const int messages = chunks.number * at.plan.slices;
  std::vector<std::deque<Request>> coming(from.size());
  int posted = 0;
  for (int message = 0; message < messages; ++message) {
    for (; posted < std::min(messages, message + at.plan.window); ++posted)
      for (std::size_t index = 0; index < from.size(); ++index)
        coming[index].push_back(co_yield irecv(from[index], chunks.slice(posted / at.plan.slices)));
    for (std::deque<Request>& requests : coming) {
      co_yield wait(requests.front());
      requests.pop_front();
    }
    std::vector<Request> sent;
    sent.reserve(to.size());
    for (const int peer : to)
      sent.push_back(co_yield at.send_to(peer, chunks.slice(message / at.plan.slices)));
    for (const Request one : sent)
      co_yield wait(one);
  }
}

/** Returns the steps of a rank in a chain from the root of a Bcast, or to that of a Reduce. */
Schedule chain(const HostCall& call, LaneRank at, NcclChunks chunks)
{
  const bool reduces = at.plan.collective == NcclCollective::reduce;
  const int first    = reduces ? at.lane.position[static_cast<std::size_t>(call.root)] + 1
                               : at.lane.position[static_cast<std::size_t>(call.root)];
  const int place    = (at.lane.position[static_cast<std::size_t>(at.rank)] - first + 2 * call.ranks) % call.ranks;
  std::vector<int> from;
  std::vector<int> to;
  if (place > 0)
    from.push_back(at.neighbour(-1));
  if (place + 1 < call.ranks)
    to.push_back(at.neighbour(1));
  return relay(at, chunks, std::move(from), std::move(to));
}

/** Adds the strands of a rank on a lane, whose messages have the tag @p tag: of a tree, sums go up while results go
 * down. */
void add_strands(std::vector<ConcurrentSchedule>& strands, const HostCall& call, LaneRank at, int tag)
{
  const auto add                  = [&strands, tag](Schedule steps) { strands.push_back({std::move(steps), tag}); };
  const NcclCollective collective = at.plan.collective;
  const Bytes share               = at.plan.vector * at.lane.share;
  if (at.plan.choice.algorithm == NcclAlgorithm::tree) {
    const NcclChunks chunks(at.plan, share, at.lane.chunk);
    const std::vector<int>& children = at.lane.children[static_cast<std::size_t>(at.rank)];
    const int parent                 = at.lane.parent[static_cast<std::size_t>(at.rank)];
    const bool is_root               = parent == NcclLane::NOBODY;
    add(relay(at, chunks, children, is_root ? children : std::vector{parent}));
    if (not is_root)
      add(relay(at, chunks, {parent}, children));
    return;
  }
  if (collective == NcclCollective::broadcast || collective == NcclCollective::reduce) {
    add(chain(call, at, NcclChunks(at.plan, share, at.lane.chunk)));
    return;
  }
  const bool both   = collective == NcclCollective::allreduce; // reduce-scatter, then allgather
  const Bytes block = both ? share / static_cast<double>(call.ranks) : share;
  add(pass_around(at, NcclChunks(at.plan, block, at.lane.chunk), (both ? 2 : 1) * (call.ranks - 1)));
}

/** Meets all ranks, then carries what a GPU exchanges with the NVSwitches over its links. */
Schedule nvls(const HostCall& call, const NcclPlan& plan, int rank)
{
  for (int distance = 1; distance < call.ranks; distance *= 2) {
    const Request met = co_yield irecv((rank + call.ranks - distance) % call.ranks, Bytes());
    co_yield isend((rank + distance) % call.ranks, Bytes());
    co_yield wait(met);
  }
  const Request left = co_yield irecv((rank + call.ranks - 1) % call.ranks, plan.volume);
  co_yield on(plan.lanes.front().within, isend((rank + 1) % call.ranks, plan.volume));
  co_yield wait(left);
  co_yield wait_all();
}

} // namespace

Schedule nccl_steps(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const NcclPlan& plan = *call.nccl;
  co_yield pause(plan.begin);
  if (plan.choice.algorithm == NcclAlgorithm::nvls) {
    co_yield nvls(call, plan, rank);
  } else {
    std::vector<ConcurrentSchedule> strands;
    int tag = TAGS;
    for (const NcclLane& lane : plan.lanes)
      add_strands(strands, call, {plan, lane, rank}, tag++);
    co_yield together(std::move(strands));
  }
  co_yield pause(plan.end);
}

} // namespace weft
