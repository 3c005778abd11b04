// SPDX-License-Identifier: LGPL-2.1-only
/* Faults of links under one multicast call. Flows that one fault cuts are handled together at the end of its instant:
 * first what the blocks reach, then the flows behind, the ends of what was cut, and the rates of the others. */
#include "collective/multicast/execution/flows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace weft {
namespace {

/** Rounding of the part of a flow. */
constexpr double PART_ROUNDING = 1e-12;

/** Returns the numbers from @p first to @p end - 1. */
std::vector<std::int64_t> numbers(std::int64_t first, std::int64_t end)
{
  std::vector<std::int64_t> all(static_cast<std::size_t>(std::max<std::int64_t>(0, end - first)));
  std::iota(all.begin(), all.end(), first);
  return all;
}

/** Returns the union of runs of chunks. */
std::vector<ChunkRun> united(const std::vector<ChunkRun>& runs, ChunkRun other)
{
  std::vector<std::int64_t> chunks = numbers(other.first, other.first + other.count);
  for (const ChunkRun& run : runs)
    std::ranges::copy(numbers(run.first, run.first + run.count), std::back_inserter(chunks));
  return runs_of(std::move(chunks));
}

} // namespace

void MulticastFlows::begin_faults(const Shared& departure)
{
  for (const int block : departure->blocks)
    departure->sizes.push_back(call_.size(block));
  departure->reach.emplace(call_.model, departure->plan, departure->sizes, static_cast<int>(call_.group.trees.size()));
  departure->pieces.resize(departure->plan.flows.size());
  departure->over_cable.resize(departure->plan.arrivals.size());
  std::erase_if(flying_, [](const std::weak_ptr<Departure>& one) { return one.expired(); });
  flying_.push_back(departure);
}

void MulticastFlows::start_piece(const Shared& departure, std::size_t flow, StreamFlow its, Seconds sharing)
{
  Piece& piece = departure->pieces[flow];
  piece.flows  = true;
  its.wire     = its.wire * piece.size;
  if (piece.carried > 0)
    its.links.front().wire = Bytes(); // has been counted
  piece.number =
      carrier_.start_breakable_flow(its, Seconds(), sharing, call_.identity.world,
                                    [this, departure, flow, arrived = owner_.when_arrived([this, departure, flow] {
                                      Piece& its_piece = departure->pieces[flow];
                                      its_piece.flows  = false;
                                      its_piece.carried += its_piece.size;
                                      ended(departure, flow);
                                    })](const FlowResult& result) {
                                      if (result.left > 0)
                                        cut(departure, flow, result.left);
                                      else
                                        arrived(result);
                                    });
}

void MulticastFlows::cut(const Shared& departure, std::size_t flow, double left)
{
  Piece& piece = departure->pieces[flow];
  piece.flows  = false;
  piece.carried += piece.size * (1 - left);
  ++recovery()->cut_branches;
  cuts_.emplace_back(departure, flow);
  if (cuts_.size() == 1)
    listener_.later([this] { stop_cut_flows(); });
}

void MulticastFlows::stop_cut_flows()
{
  std::vector<std::pair<Shared, std::size_t>> cuts = std::exchange(cuts_, {});
  std::ranges::stable_sort(cuts, {}, &std::pair<Shared, std::size_t>::second); // flows come after those that feed them
  std::vector<Shared> departures;
  for (const auto& [departure, flow] : cuts) {
    departure->reach->stop(flow, departure->pieces[flow].carried);
    if (std::ranges::find(departures, departure) == departures.end())
      departures.push_back(departure);
  }
  for (const auto& [departure, flow] : cuts)
    close_port(departure, flow);
  for (const Shared& departure : departures)
    adjust(departure);
  for (const auto& [departure, flow] : cuts)
    end_cut_flow(departure, flow);
  change_rates(*departures.back());
}

/** Ends a flow that was cut. A root sends on, into a cable that carries nothing. */
void MulticastFlows::end_cut_flow(const Shared& departure, std::size_t flow)
{
  if (departure->is_first(flow)) {
    const StreamFlow& its = departure->plan.flows[flow].flow;
    listener_.after(its.wire * (1 - departure->pieces[flow].carried) / its.rate_limit,
                    [this, departure, flow] { ended(departure, flow); });
    pass_on(departure, flow);
  } else {
    departure->waits_for[flow] = 0;
    complete(departure, flow);
  }
}

/** Determines what a switch without room has dropped of what it could not send any more, if the cable of a host has
 * failed. */
void MulticastFlows::close_port(const Shared& departure, std::size_t flow)
{
  if (ports_.empty() || departure->plan.members[flow].empty() || departure->fed_by[flow] == 0)
    return;
  departure->fed_by[flow] = 0;
  fed(*departure, flow, [this, &departure](std::size_t feeding) { return carried(*departure, feeding); });
}

/** Returns the part of a flow that its link has carried so far. */
double MulticastFlows::carried(const Departure& departure, std::size_t flow) const
{
  const Piece& piece = departure.pieces[flow];
  return piece.flows ? piece.carried + piece.size * (1 - carrier_.left_of_flow(piece.number)) : piece.carried;
}

/** Shortens flows to what they still get. If the slowest one pauses the others, gives all of them its pace. */
void MulticastFlows::adjust(const Shared& departure)
{
  std::vector<std::size_t> changed;
  for (std::size_t flow = 0; flow < departure->pieces.size(); ++flow)
    if (const Piece& piece = departure->pieces[flow];
        piece.flows &&
        (call_.model.pauses() || departure->reach->total(flow) < piece.carried + piece.size - PART_ROUNDING))
      changed.push_back(flow);
  for (const std::size_t flow : changed)
    departure->pieces[flow].flows = take_rest(*departure, flow) > PART_ROUNDING;
  if (call_.model.pauses())
    departure->slowest = slowest(*departure);
  for (const std::size_t flow : changed)
    if (departure->pieces[flow].flows)
      start_flow(departure, flow);
    else
      ended(departure, flow);
}

/** Takes a flow off its link. Returns the part of it that is left to carry. */
double MulticastFlows::take_rest(Departure& departure, std::size_t flow)
{
  Piece& piece = departure.pieces[flow];
  piece.carried += piece.size * (1 - carrier_.cancel_flow(piece.number));
  piece.size = std::max(0.0, departure.reach->total(flow) - piece.carried);
  return piece.size;
}

/** Returns the time that a flow takes on an otherwise idle network. */
Seconds MulticastFlows::time_of(const Departure& departure, std::size_t flow) const
{
  const MulticastFlow& its = departure.plan.flows[flow];
  const Seconds planned    = its.flow.wire / its.flow.rate_limit;
  return recovery() ? std::max(planned, its.own / recovery()->bandwidth(departure.link(flow))) : planned;
}

/** Returns the time of the slowest flow that is on the network, or about to start. */
Seconds MulticastFlows::slowest(const Departure& departure) const
{
  Seconds longest;
  for (std::size_t flow = 0; flow < departure.plan.flows.size(); ++flow)
    if (departure.pieces.empty() || departure.pieces[flow].flows)
      longest = std::max(longest, time_of(departure, flow));
  return longest;
}

/** Returns the time that the call's blocks take through the switches and the cable of each member; 0 for one that
 *  nothing reaches. */
std::vector<Seconds> MulticastFlows::switching_now(const Departure& departure) const
{
  const MulticastPlan& plan = whole_ ? *whole_ : departure.plan;
  std::vector<Seconds> times(plan.flows.size());
  std::vector<bool> carries(plan.flows.size());
  std::vector<Seconds> of_members(plan.arrivals.size());
  for (std::size_t flow = 0; flow < plan.flows.size(); ++flow) {
    const MulticastFlow& its = plan.flows[flow];
    const LinkId link        = its.flow.links.front().link;
    carries[flow]            = its.after.empty();
    times[flow]              = its.after.empty() ? Seconds() : its.own / recovery()->bandwidth(link);
    for (const std::size_t feeding : its.after)
      if (carries[feeding]) {
        carries[flow] = true;
        times[flow]   = std::max(times[flow], times[feeding]);
      }
    if (whole_ ? not recovery()->actual.link_is_up(link) : departure.reach->is_stopped(flow))
      carries[flow] = false;
    for (const int member : plan.members[flow])
      if (Seconds& time = of_members[static_cast<std::size_t>(member)]; carries[flow])
        time = std::max(time, times[flow]);
  }
  return of_members;
}

void MulticastFlows::change_rates(const Departure& departure)
{
  if (not backpressure_)
    return;
  backpressure_->set_rates(carrier_.now(), receive_rates(departure));
  await_backpressure();
}

void MulticastFlows::change_bandwidths()
{
  Shared latest;
  for (const std::weak_ptr<Departure>& one : flying_)
    if (const Shared departure = one.lock()) {
      adjust(departure);
      latest = departure;
    }
  if (latest)
    change_rates(*latest);
}

/** Counts what one of the flows to a member has not brought. A full port serves what it had room for first. */
void MulticastFlows::count_arrival(int member, Departure& departure, std::size_t flow)
{
  const BlockReach& reach = *departure.reach;
  if (ports_.empty()) {
    if (reach.any_stopped())
      count_losses(member, departure, reach.not_carried(flow));
    return;
  }
  const double part = reach.is_stopped(flow) ? departure.pieces[flow].carried : 1;
  departure.over_cable[static_cast<std::size_t>(member)] += whole_chunks(part, reach.chunks(flow));
}

/** Adds chunks that faults have lost to those that the ranks of a member do not get. */
void MulticastFlows::count_losses(int member, const Departure& departure, const std::vector<BlockReach::Loss>& losses)
{
  for (const auto& [root, chunks] : losses) {
    auto& of_block = losses_[static_cast<std::size_t>(departure.blocks[root])];
    of_block.resize(hearing_.size());
    for (const int rank : ranks_at_[static_cast<std::size_t>(member)]) {
      std::vector<ChunkRun>& lost = of_block[static_cast<std::size_t>(rank)];
      std::vector<ChunkRun> all   = united(lost, chunks);
      const std::int64_t more     = count_chunks(all) - count_chunks(lost);
      lost                        = std::move(all);
      drops_[static_cast<std::size_t>(rank)].all += more;
      recovery()->lost_chunks += more;
    }
  }
}

/** Returns the chunks that the cable of a rank's host has carried of @p runs, and counts the others. */
std::vector<BlockRun> MulticastFlows::carried_of(int rank, const Departure& departure, std::vector<BlockRun> runs)
{
  const std::int64_t all  = count_chunks(runs);
  const std::int64_t came = departure.over_cable[member_of(rank)];
  if (came >= all)
    return runs;
  drops_[static_cast<std::size_t>(rank)].all += all - came;
  recovery()->lost_chunks += all - came;
  return interleaved_without(runs, numbers(came, all));
}

} // namespace weft
