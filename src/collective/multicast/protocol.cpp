// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/protocol.hpp"

#include "collective/multicast/recursive_doubling.hpp"

#include <stdexcept>
#include <utility>

namespace weft {
namespace {

using Kind = MulticastSignal::Kind;

} // namespace

void MulticastCounts::add(const MulticastCounts& other)
{
  requests += other.requests;
  fetched += other.fetched;
  timer_expiries += other.timer_expiries;
  duplicates += other.duplicates;
}

MulticastProtocol::MulticastProtocol(MulticastShape shape, MulticastActions& actions)
    : shape_(std::move(shape)), actions_(actions), ranks_(static_cast<std::size_t>(shape_.ranks)),
      next_in_chain_(shape_.blocks.size(), -1)
{
  std::int64_t all = 0;
  for (const MulticastBlock& block : shape_.blocks)
    all += block.chunks;
  for (Rank& rank : ranks_) {
    rank.complete.resize(shape_.blocks.size());
    rank.missing = all;
    rank.due     = all;
  }
  for (std::size_t block = 0; block < shape_.blocks.size(); ++block) {
    Rank& root           = at(shape_.blocks[block].root);
    root.block           = static_cast<int>(block);
    root.complete[block] = true;
    root.missing -= shape_.blocks[block].chunks;
    root.due -= shape_.blocks[block].chunks;
  }
  for (const std::vector<int>& chain : shape_.chains) {
    at(shape_.blocks[static_cast<std::size_t>(chain.front())].root).activated = true;
    for (std::size_t step = 1; step < chain.size(); ++step)
      next_in_chain_[static_cast<std::size_t>(chain[step - 1])] = chain[step];
  }
}

void MulticastProtocol::enter_phase(int rank, MulticastPhase phase)
{
  at(rank).phase = phase;
  actions_.enters(rank, phase);
}

void MulticastProtocol::enter(int rank)
{
  at(rank).entered = true;
  enter_phase(rank, MulticastPhase::barrier);
  go_on_with_barrier(rank);
}

void MulticastProtocol::go_on_with_barrier(int rank)
{
  Rank& its                              = at(rank);
  const std::vector<BarrierStep> barrier = recursive_doubling(rank, shape_.ranks);
  for (; its.step < barrier.size(); ++its.step, its.sent = false) {
    const BarrierStep& step = barrier[its.step];
    if (step.sends && not std::exchange(its.sent, true))
      actions_.send(rank, step.peer, {Kind::barrier, step.round, {}});
    if (step.expects && not its.heard.contains(step.round))
      return;
  }
  enter_phase(rank, MulticastPhase::multicast);
  if (its.missing > 0)
    actions_.set_timer(rank, its.missing);
  start_if_it_is_its_turn(rank);
  finish_if_all_is_there(rank);
}

void MulticastProtocol::start_if_it_is_its_turn(int rank)
{
  Rank& its = at(rank);
  // Also in recovery and later: a chain may be slower than some receivers' timers.
  if (its.phase != MulticastPhase::barrier && its.activated && its.block >= 0 && not std::exchange(its.started, true))
    actions_.multicast(its.block);
}

void MulticastProtocol::injected(int block)
{
  const int root    = shape_.blocks[static_cast<std::size_t>(block)].root;
  at(root).injected = true;
  if (const int next = next_in_chain_[static_cast<std::size_t>(block)]; next >= 0)
    actions_.send(root, shape_.blocks[static_cast<std::size_t>(next)].root, {Kind::activation, 0, {}});
  finish_if_all_is_there(root);
}

void MulticastProtocol::signalled(int rank, const MulticastSignal& signal)
{
  Rank& its = at(rank);
  switch (signal.kind) {
    case Kind::barrier:
      its.heard.insert(signal.round);
      if (its.entered && its.phase == MulticastPhase::barrier)
        go_on_with_barrier(rank);
      return;
    case Kind::activation:
      its.activated = true;
      start_if_it_is_its_turn(rank);
      return;
    case Kind::request:
      acknowledge(rank, signal.blocks);
      return;
    case Kind::acknowledgement:
      read(rank, signal.blocks);
      return;
    case Kind::final:
      its.final = true;
      leave_if_done(rank);
      return;
  }
  throw std::logic_error("no such signal");
}

void MulticastProtocol::arrived(int rank, int block, ChunkRun run)
{
  at(rank).due -= run.count;
  add(rank, block, run, shape_.blocks[static_cast<std::size_t>(block)].root);
}

void MulticastProtocol::fetched(int rank, const std::vector<MulticastFetch>& what)
{
  for (const MulticastFetch& fetch : what)
    for (const ChunkRun& run : fetch.runs) {
      at(rank).counts.fetched += run.count;
      add(rank, fetch.block, run, left(rank));
    }
}

void MulticastProtocol::add(int rank, int block, ChunkRun run, int from)
{
  Rank& its                 = at(rank);
  const auto number         = static_cast<std::size_t>(block);
  const std::int64_t chunks = shape_.blocks[number].chunks;
  std::int64_t added        = 0;
  if (its.complete[number]) {
    added = 0;
  } else if (run.count == chunks && not its.partial.contains(block)) { // the common case: all chunks at once
    actions_.store(rank, block, run, from);
    added = chunks;
  } else {
    ChunkBitmap& bitmap = its.partial.try_emplace(block, chunks).first->second;
    for (const ChunkRun& fresh : bitmap.add(run)) {
      actions_.store(rank, block, fresh, from);
      added += fresh.count;
    }
  }
  its.counts.duplicates += run.count - added;
  its.missing -= added;
  const auto bitmap = its.partial.find(block);
  if (added == chunks || (added > 0 && bitmap->second.missing_count() == 0))
    complete(rank, block);
}

void MulticastProtocol::complete(int rank, int block)
{
  Rank& its = at(rank);
  its.partial.erase(block);
  its.complete[static_cast<std::size_t>(block)] = true;
  if (its.wanted.erase(block) > 0)
    acknowledge(rank, {block});
  finish_if_all_is_there(rank);
}

std::vector<ChunkRun> MulticastProtocol::missing(int rank, int block) const
{
  const Rank& its = ranks_[static_cast<std::size_t>(rank)];
  if (its.complete[static_cast<std::size_t>(block)])
    return {};
  const auto bitmap = its.partial.find(block);
  return bitmap != its.partial.end()
             ? bitmap->second.missing()
             : std::vector<ChunkRun>{{0, shape_.blocks[static_cast<std::size_t>(block)].chunks}};
}

void MulticastProtocol::expired(int rank)
{
  Rank& its = at(rank);
  if (its.missing == 0)
    return;
  ++its.counts.timer_expiries;
  if (actions_.hears(rank)) {
    actions_.set_timer_after_silence(rank);
    return;
  }
  MulticastSignal request{Kind::request, 0, {}};
  for (int block = 0; std::cmp_less(block, shape_.blocks.size()); ++block)
    if (not its.complete[static_cast<std::size_t>(block)])
      request.blocks.push_back(block);
  enter_phase(rank, MulticastPhase::recovery);
  ++its.counts.requests;
  actions_.send(rank, left(rank), request);
}

void MulticastProtocol::acknowledge(int rank, const std::vector<int>& blocks)
{
  Rank& its = at(rank);
  MulticastSignal answer{Kind::acknowledgement, 0, {}};
  for (const int block : blocks) {
    if (its.complete[static_cast<std::size_t>(block)])
      answer.blocks.push_back(block);
    else
      its.wanted.insert(block);
  }
  if (not answer.blocks.empty())
    actions_.send(rank, (rank + 1) % shape_.ranks, answer);
}

void MulticastProtocol::read(int rank, const std::vector<int>& blocks)
{
  std::vector<MulticastFetch> what;
  for (const int block : blocks)
    if (std::vector<ChunkRun> runs = missing(rank, block); not runs.empty())
      what.push_back({block, std::move(runs)});
  if (not what.empty())
    actions_.fetch(rank, left(rank), what);
}

void MulticastProtocol::finish_if_all_is_there(int rank)
{
  const Rank& its   = at(rank);
  const bool active = its.phase == MulticastPhase::multicast || its.phase == MulticastPhase::recovery;
  if (not active || its.missing > 0 || (its.block >= 0 && not its.injected))
    return;
  enter_phase(rank, MulticastPhase::handshake);
  actions_.send(rank, left(rank), {Kind::final, 0, {}});
  leave_if_done(rank);
}

void MulticastProtocol::leave_if_done(int rank)
{
  const Rank& its = at(rank);
  if (its.phase != MulticastPhase::handshake || not its.final)
    return;
  ++over_;
  enter_phase(rank, MulticastPhase::over);
}

} // namespace weft
