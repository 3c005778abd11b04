// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/execution/execution.hpp"

#include <utility>

namespace weft {
namespace {

/** Payload in bytes of a request or acknowledgement per block (a number), and of a read per run of
 *  chunks (an address and a length). */
constexpr double BLOCK_NUMBER = 4;
constexpr double RUN_TO_READ  = 16;

} // namespace

MulticastExecution::MulticastExecution(const MulticastService& service, MulticastOwner& owner,
                                       const MulticastCall& call)
    : service_(service), owner_(owner), call_(call), flows_(service, owner, call, *this), protocol_(call.shape, *this),
      ranks_(static_cast<std::size_t>(call.ranks()))
{
  if (service.recovery)
    service.recovery->running.push_back(this);
}

MulticastExecution::~MulticastExecution()
{
  if (service_.recovery)
    service_.recovery->end(*this);
}

void MulticastExecution::enter(int rank)
{
  at(rank).start = at(rank).since = service_.carrier.now();
  protocol_.enter(rank);
}

// ---- Time

void MulticastExecution::after(Seconds time, std::function<void()> action)
{
  if (time == Seconds())
    action();
  else
    delay(time, std::move(action));
}

std::size_t MulticastExecution::delay(Seconds time, std::function<void()> action)
{
  if (idle_.empty()) {
    idle_.push_back(delayed_.size());
    delayed_.emplace_back();
  }
  const std::size_t number = idle_.back();
  idle_.pop_back();
  delayed_[number] = {std::move(action), owner_.keep(), service_.carrier.start_timer(time, *this, number)};
  return number;
}

/** Takes an action, whose position becomes free. */
MulticastExecution::Delayed MulticastExecution::take(std::size_t number)
{
  idle_.push_back(number);
  return std::exchange(delayed_[number], {});
}

void MulticastExecution::due(std::uint64_t number)
{
  const Delayed its = take(number); // keeps the owner, and with it this object
  its.action();
}

void MulticastExecution::cancel(std::size_t number)
{
  service_.carrier.cancel_timer(take(number).timer);
}

void MulticastExecution::set_timer(int rank, Seconds time)
{
  at(rank).timer = delay(time, [this, rank] {
    at(rank).timer = NONE;
    protocol_.expired(rank);
  });
}

// ---- Actions of the protocol

void MulticastExecution::send(int from, int to, const MulticastSignal& signal)
{
  const double blocks = BLOCK_NUMBER * static_cast<double>(signal.blocks.size());
  flows_.message(from, to, Bytes(blocks), [this, to, signal] { protocol_.signalled(to, signal); });
}

void MulticastExecution::fetch(int rank, int from, const std::vector<MulticastFetch>& what)
{
  Bytes data;
  std::size_t runs = 0;
  for (const MulticastFetch& fetch : what)
    for (const ChunkRun& run : fetch.runs) {
      data += bytes_of(call_.model, call_.size(fetch.block), run);
      ++runs;
    }
  fetched_bytes_ += data.value();
  flows_.message(rank, from, Bytes(RUN_TO_READ * static_cast<double>(runs)), [this, rank, from, what, data] {
    flows_.message(from, rank, data, [this, rank, what] { protocol_.fetched(rank, what); });
  });
}

void MulticastExecution::set_timer(int rank, std::int64_t chunks)
{
  set_timer(rank, flows_.time_on_cable(rank) * static_cast<double>(chunks) + call_.model.cutoff_slack);
}

void MulticastExecution::set_timer_after_silence(int rank)
{
  const double since = flows_.last_heard(rank) - service_.carrier.now().value();
  set_timer(rank, Seconds(since) + call_.model.cutoff_slack);
}

void MulticastExecution::enters(int rank, MulticastPhase phase)
{
  Rank& its         = at(rank);
  const Seconds now = service_.carrier.now();
  its.times.add(its.phase, (now - its.since).value());
  its.phase = phase;
  its.since = now;
  if (phase == MulticastPhase::multicast)
    flows_.reception().begin(rank);
  if (phase != MulticastPhase::handshake && phase != MulticastPhase::over)
    return;
  if (const std::size_t timer = std::exchange(its.timer, NONE); timer != NONE)
    cancel(timer);
  flows_.reception().end(rank);
  if (phase == MulticastPhase::over)
    owner_.rank_ended(rank);
}

// ---- Results

MulticastRank MulticastExecution::seen(int rank) const
{
  MulticastRank its{flows_.drops(rank), protocol_.counts(rank), at(rank).times};
  // Every rank has all chunks, so those still in flight, or in a staging ring, arrive as duplicates.
  its.counts.duplicates += protocol_.due(rank) - its.drops.all;
  return its;
}

MulticastTraffic MulticastExecution::traffic() const
{
  MulticastTraffic all = flows_.moved();
  all.fetched_bytes    = fetched_bytes_;
  return all;
}

} // namespace weft
