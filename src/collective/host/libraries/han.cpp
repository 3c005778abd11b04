// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/libraries/han.hpp"

#include "collective/host/algorithms/allgather.hpp"
#include "collective/host/algorithms/allreduce.hpp"
#include "collective/host/algorithms/barrier.hpp"
#include "collective/host/algorithms/bcast.hpp"
#include "collective/host/algorithms/gather_scatter.hpp"
#include "collective/host/algorithms/reduce.hpp"
#include "collective/host/engine/nodes.hpp"
#include "collective/host/libraries/nonblocking.hpp"
#include "collective/host/steps/concurrent.hpp"
#include "collective/host/steps/pieces.hpp"
#include "collective/host/steps/within_nodes.hpp"

#include <memory>
#include <span>
#include <utility>

namespace weft {
namespace {

std::shared_ptr<const Nodes> nodes_of(const HostCall& call)
{
  return call.nodes ? call.nodes : std::make_shared<const Nodes>(Nodes::of(call));
}

/** Returns whether there are several hosts, some with several ranks. */
bool several(const Nodes& nodes)
{
  return nodes.shared() && nodes.number() > 1;
}

Schedule with_own_call(HostCall flat, int rank, MakeSchedule otherwise)
{
  co_yield within(flat, rank, otherwise);
}

/** Executes the call as if no two ranks shared a host. A separate function, so that the frames of ranks that use hosts
 * do not reserve space for the modified call. */
Schedule without_hosts(const HostCall& call, int rank, MakeSchedule otherwise)
{
  HostCall flat = call;
  flat.host     = {};
  flat.nodes    = {};
  ++flat.depth;
  return with_own_call(std::move(flat), rank, otherwise);
}

/** Ordered ranks, and the position of one of them. */
struct RankGroup {
  const std::vector<int>& ranks;
  int place;

  int size() const { return static_cast<int>(ranks.size()); }
};

/** Call of HAN on a communicator of its own. Kept small, since each rank's frame holds several. */
struct GroupCall {
  const HostCall& whole;
  RankGroup group;
  std::string_view collective;
  int root;
  MakeSchedule otherwise; ///< algorithm if no library chooses one
  bool shares_host         = false;
  const Pipeline* pipeline = nullptr;

  /** Executes the call with @p count elements to the end. */
  Schedule run(Elements count) const
  {
    return among(std::span(group.ranks), part(count, whole.blocking), group.place, otherwise);
  }
  /** Returns the non-blocking form as a strand for concurrent execution. */
  ConcurrentSchedule in_background(Elements count, int tag) const
  {
    return {among(std::span(group.ranks), part(count, false), group.place, otherwise), tag};
  }

private:
  HostCall part(Elements count, bool blocking) const
  {
    HostCall made    = part_of(whole, collective, group.ranks.size(), root);
    made.count       = count;
    made.blocking    = blocking;
    made.within_host = shares_host;
    made.pipeline    = pipeline;
    return made;
  }
};

/** Positions of a rank and of the root on both levels. */
struct Levels {
  RankGroup low;
  RankGroup up;
  int low_root;
  int up_root;

  Levels(const Nodes& nodes, int rank, int root)
      : low{nodes.ranks[at(nodes.node, rank)], nodes.place[index(rank)]},
        up{nodes.level[at(nodes.place, rank)], nodes.across[index(rank)]}, low_root(nodes.place[index(root)]),
        up_root(nodes.across[index(root)])
  {
  }
  /** Returns whether the rank communicates with other hosts. */
  bool leads() const { return low.place == low_root; }

private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  static std::size_t at(const std::vector<int>& numbers, int rank) { return index(numbers[index(rank)]); }
};

// Tags keep concurrent libnbc calls apart from each other and from messages within hosts.
constexpr int WITHIN       = 0;
constexpr int BETWEEN      = 1;
constexpr int BETWEEN_BACK = 2;

// A copy moves three cache lines per line of data: it reads the source, reads the destination before it overwrites it,
// and writes it. A sum reads two lines and writes one. In a Reduce within a host, a rank performs about one of each,
// and reads its send buffer for the first time; its other operands are partial sums. In a Bcast, a rank reads data that
// its parent has just written, and overwrites its receive buffer.
constexpr double FRESH_IN_REDUCE = 1.0 / 6;
constexpr double FRESH_IN_BCAST  = 2.0 / 3;

/** Cache reuse by the segments of a call: @p buffers per rank, @p segments segments in flight. */
struct Reuse {
  Pipeline reduce;  ///< within a host
  Pipeline bcast;   ///< within a host
  Pipeline between; ///< between hosts: the leaders' segments have been reduced before, or arrive for the Bcast

  Reuse(const HostCall& call, const Segments& segments, int buffers, int at_once)
      : Reuse(call.bytes(segments.length) * (buffers * at_once))
  {
  }

private:
  explicit Reuse(Bytes in_flight)
      : reduce{in_flight, FRESH_IN_REDUCE}, bcast{in_flight, FRESH_IN_BCAST}, between{in_flight, 0}
  {
  }
};

/** Executes a rank's work within its host while segments cross between hosts; parts with 0 elements are skipped. */
Schedule low_reduce_and_bcast(const GroupCall& reduce, Elements reduced, const GroupCall& bcast, Elements copied)
{
  if (reduced > 0)
    co_yield reduce.run(reduced);
  if (copied > 0)
    co_yield bcast.run(copied);
}

bool ignores(const Nodes& nodes, const HostCall& call)
{
  const bool by_leaders = call.collective == "allreduce" || call.collective == "barrier";
  return not(by_leaders ? several(nodes) : nodes.even()) || not call.commutative;
}

} // namespace

bool han_ignores_hosts(const HostCall& call)
{
  return ignores(*nodes_of(call), call);
}

Schedule han_barrier(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const auto nodes = nodes_of(call);
  if (ignores(*nodes, call)) {
    co_yield without_hosts(call, rank, barrier_recursive_doubling);
    co_return;
  }
  const Levels levels(*nodes, rank, 0);
  const GroupCall low{call, levels.low, "barrier", 0, barrier_recursive_doubling, true};
  const GroupCall up{call, levels.up, "barrier", 0, barrier_recursive_doubling};
  co_yield low.run(0);
  if (levels.leads())
    co_yield up.run(0);
  co_yield low.run(0);
}

Schedule han_bcast(const HostCall& call, int rank, Tuning tuning)
{
  const auto nodes = nodes_of(call);
  if (ignores(*nodes, call)) {
    co_yield without_hosts(call, rank, bcast_binomial);
    co_return;
  }
  const Levels levels(*nodes, rank, call.root);
  const Segments segments = Segments::of(call, call.count, tuning.segment);
  const Reuse reuse(call, segments, 1, 2);
  const GroupCall low{call, levels.low, "bcast", levels.low_root, bcast_binomial, true, &reuse.bcast};
  const GroupCall up{call, levels.up, "bcast", levels.up_root, bcast_binomial, false, &reuse.bcast};
  if (levels.leads() && segments.number() > 0)
    co_yield up.run(segments.at(0));
  for (Elements index = 0; index < segments.number(); ++index) {
    std::vector<ConcurrentSchedule> task;
    if (levels.leads() && index + 1 < segments.number())
      task.push_back(up.in_background(segments.at(index + 1), BETWEEN));
    task.push_back({low.run(segments.at(index)), WITHIN});
    co_yield together(std::move(task));
  }
}

Schedule han_reduce(const HostCall& call, int rank, Tuning tuning)
{
  const auto nodes = nodes_of(call);
  if (ignores(*nodes, call)) {
    co_yield without_hosts(call, rank, reduce_in_order_binary);
    co_return;
  }
  const Levels levels(*nodes, rank, call.root);
  const Segments segments = Segments::of(call, call.count, tuning.segment);
  const Reuse reuse(call, segments, 2, 2);
  const GroupCall low{call, levels.low, "reduce", levels.low_root, reduce_binomial, true, &reuse.reduce};
  const GroupCall up{call, levels.up, "reduce", levels.up_root, nbc_reduce_binomial, false, &reuse.between};
  if (segments.number() > 0)
    co_yield low.run(segments.at(0));
  for (Elements index = 0; index < segments.number(); ++index) {
    std::vector<ConcurrentSchedule> task;
    if (levels.leads())
      task.push_back(up.in_background(segments.at(index), BETWEEN));
    if (index + 1 < segments.number())
      task.push_back({low.run(segments.at(index + 1)), WITHIN});
    co_yield together(std::move(task));
  }
}

Schedule han_allreduce(const HostCall& call, int rank, Tuning tuning)
{
  const auto nodes = nodes_of(call);
  if (ignores(*nodes, call)) {
    co_yield without_hosts(call, rank, allreduce_recursive_doubling);
    co_return;
  }
  const Levels levels(*nodes, rank, 0);
  const Segments segments = Segments::of(call, call.count, tuning.segment);
  const Reuse reuse(call, segments, 2, 4);
  const GroupCall low_reduce{call, levels.low, "reduce", 0, reduce_binomial, true, &reuse.reduce};
  const GroupCall low_bcast{call, levels.low, "bcast", 0, bcast_binomial, true, &reuse.bcast};
  const GroupCall up_reduce{call, levels.up, "reduce", 0, nbc_reduce_binomial, false, &reuse.between};
  const GroupCall up_bcast{call, levels.up, "bcast", 0, nbc_bcast_binomial, false, &reuse.between};
  const auto is_one = [&](Elements index) { return index >= 0 && index < segments.number(); };
  // Four segments are in flight: one is reduced within hosts, one between hosts, one broadcast between hosts, and one
  // within hosts.
  for (Elements last = -3; last < segments.number(); ++last) {
    std::vector<ConcurrentSchedule> task;
    if (levels.leads() && is_one(last + 1))
      task.push_back(up_bcast.in_background(segments.at(last + 1), BETWEEN_BACK));
    if (levels.leads() && is_one(last + 2))
      task.push_back(up_reduce.in_background(segments.at(last + 2), BETWEEN));
    task.push_back({low_reduce_and_bcast(low_reduce, is_one(last + 3) ? segments.at(last + 3) : 0, low_bcast,
                                         is_one(last) ? segments.at(last) : 0),
                    WITHIN});
    co_yield together(std::move(task));
  }
}

Schedule han_gather(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const auto nodes = nodes_of(call);
  if (ignores(*nodes, call)) {
    co_yield without_hosts(call, rank, gather_binomial);
    co_return;
  }
  const Levels levels(*nodes, rank, call.root);
  const GroupCall low{call, levels.low, "gather", levels.low_root, gather_binomial, true};
  const GroupCall up{call, levels.up, "gather", levels.up_root, gather_binomial};
  co_yield low.run(call.count);
  if (levels.leads())
    co_yield up.run(call.count * levels.low.size());
}

Schedule han_scatter(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const auto nodes = nodes_of(call);
  if (ignores(*nodes, call)) {
    co_yield without_hosts(call, rank, scatter_binomial);
    co_return;
  }
  const Levels levels(*nodes, rank, call.root);
  const GroupCall low{call, levels.low, "scatter", levels.low_root, scatter_binomial, true};
  const GroupCall up{call, levels.up, "scatter", levels.up_root, scatter_binomial};
  if (levels.leads())
    co_yield up.run(call.count * levels.low.size());
  co_yield low.run(call.count);
}

Schedule han_allgather(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const auto nodes = nodes_of(call);
  if (ignores(*nodes, call)) {
    co_yield without_hosts(call, rank, allgather_bruck);
    co_return;
  }
  const Levels levels(*nodes, rank, 0);
  const GroupCall gather{call, levels.low, "gather", 0, gather_binomial, true};
  const GroupCall up{call, levels.up, "allgather", 0, allgather_bruck};
  const GroupCall bcast{call, levels.low, "bcast", 0, bcast_binomial, true};
  co_yield gather.run(call.count);
  if (levels.leads())
    co_yield up.run(call.count * levels.low.size());
  co_yield bcast.run(call.count * call.ranks);
}

} // namespace weft
