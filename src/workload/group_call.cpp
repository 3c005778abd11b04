// SPDX-License-Identifier: LGPL-2.1-only
#include "workload/group_call.hpp"

#include "collective/host/nccl/nccl_library.hpp"

#include <algorithm>
#include <cmath>

namespace weft {

Schedule PlannedCall::schedule(int rank) const
{
  return NcclLibrary::algorithm(*call.nccl).schedule(call, rank, {});
}

namespace {

constexpr double PICOSECOND = 1e-12;

struct EndsOfRanks : RankCallbacks {
  Agenda& agenda;
  std::vector<double> at;
  explicit EndsOfRanks(Agenda& its_agenda, std::size_t ranks) : agenda(its_agenda), at(ranks) {}
  void rank_ended(int rank) override { at[static_cast<std::size_t>(rank)] = agenda.now().value(); }
};

} // namespace

std::vector<double> ends_of_call(const CallNetwork& network, const std::vector<int>& hosts,
                                 const std::function<Schedule(int rank)>& schedule,
                                 const std::vector<std::int64_t>& before)
{
  Agenda& agenda    = network.agenda;
  const double last = agenda.now().value() + PICOSECOND * static_cast<double>(*std::ranges::max_element(before));
  EndsOfRanks ends(agenda, before.size());
  Execution execution(agenda, network.messages, network.costs, hosts, schedule, ends, network.memory);
  for (std::size_t rank = 0; rank < before.size(); ++rank)
    execution.enter(static_cast<int>(rank), Seconds(last - PICOSECOND * static_cast<double>(before[rank])));
  while (std::isfinite(agenda.next().value()))
    agenda.run_until(agenda.next());
  for (double& end : ends.at)
    end -= last;
  return ends.at;
}

namespace {

std::vector<double> executed_on(const CallNetwork& network, const PlannedCall& call,
                                const std::vector<std::int64_t>& before)
{
  return ends_of_call(network, call.hosts, [&call](int rank) { return call.schedule(rank); }, before);
}

/** Returns the maximum number of messages of a rank in flight. */
int flows_of(const NcclPlan& plan)
{
  const int lanes = static_cast<int>(plan.lanes.size());
  if (plan.collective == NcclCollective::alltoall)
    return plan.window;
  const bool one = plan.choice.algorithm == NcclAlgorithm::ring || plan.choice.algorithm == NcclAlgorithm::nvls;
  constexpr int UP_AND_DOWN = 6; // of a tree: to a parent and up to three children, and to neighbours
  return one ? lanes : lanes * UP_AND_DOWN;
}

} // namespace

const std::vector<double>& KnownCalls::ends(const std::shared_ptr<const PlannedCall>& call, int wiring,
                                            const std::vector<double>& entered)
{
  const double last = *std::ranges::max_element(entered);
  Signature signature{call->call.nccl.get(), wiring, {}};
  auto& before = std::get<2>(signature);
  before.reserve(entered.size());
  for (const double time : entered)
    before.push_back(std::llround((last - time) / PICOSECOND));
  if (const auto found = known_.find(signature); found != known_.end())
    return found->second.ends;
  if (known_.size() == MOST) {
    known_.clear();
    forgot_ = true;
  }
  ++executed_;
  std::vector<double> times = executed_on(network_, *call, before);
  return known_.emplace(std::move(signature), Known{call, std::move(times)}).first->second.ends;
}

bool KnownCalls::hold_on(const CallNetwork& other) const
{
  const auto holds = [&other](const auto& one) {
    const auto times = executed_on(other, *one.second.call, std::get<2>(one.first));
    return std::ranges::equal(times, one.second.ends,
                              [](double now, double then) { return std::abs(now - then) <= 2 * PICOSECOND; });
  };
  return not forgot_ && std::ranges::all_of(known_, holds);
}

int KnownCalls::most_flows() const
{
  int most = 1;
  for (const auto& [signature, known] : known_)
    most = std::max(most, flows_of(*known.call->call.nccl));
  return most;
}

SteppedCall::SteppedCall(std::uint64_t number, std::shared_ptr<const PlannedCall> planned, const CallNetwork& network,
                         GroupCallEnds& ends)
    : GroupCall(number, std::move(planned), ends), agenda_(network.agenda),
      execution_(
          network.agenda, network.messages, network.costs, this->planned()->hosts,
          [this](int rank) { return this->planned()->schedule(rank); }, *this, network.memory)
{
}

KnownCall::KnownCall(std::uint64_t number, std::shared_ptr<const PlannedCall> planned, Agenda& agenda,
                     KnownCalls& known, int wiring, GroupCallEnds& ends)
    : GroupCall(number, std::move(planned), ends), agenda_(agenda), known_(known), wiring_(wiring),
      times_(this->planned()->hosts.size())
{
}

void KnownCall::entered(int rank)
{
  const Seconds now                      = agenda_.now();
  times_[static_cast<std::size_t>(rank)] = now.value();
  if (not is_complete())
    return;
  const auto& after = known_.ends(planned(), wiring_, times_);
  for (std::size_t at = 0; at < after.size(); ++at)
    agenda_.add(now + Seconds(after[at]), *this, at);
}

} // namespace weft
