// SPDX-License-Identifier: LGPL-2.1-only
#include "faults/recovery.hpp"

#include "base/units.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <utility>

namespace weft {
namespace {

/** Encoding of agenda entries: index of a remainder, or a batch number with this bit. */
constexpr std::uint64_t BATCH_BIT = std::uint64_t{1} << 63U;

} // namespace

Recovery::Recovery(Agenda& agenda, FlowNetwork& flows, FabricState& actual, FabricState& known,
                   const RecoveryModel& model)
    : agenda_(agenda), flows_(flows), actual_(actual), known_(known), model_(model), pools_(flows, actual, known)
{
  if (model.timeout <= Seconds())
    throw std::logic_error("a retransmission timeout must be more than zero");
  flows.cut_into(*this);
}

void Recovery::set(FabricState& state, const FabricChange& change) const
{
  if (change.what == FabricChange::What::link)
    state.set_link(change.number, change.over);
  else if (change.what == FabricChange::What::device)
    state.set_switch(change.number, change.over);
}

std::vector<LinkId> Recovery::links_of(const FabricChange& change) const
{
  if (change.what != FabricChange::What::device)
    return {change.number};
  const Fabric& fabric    = actual_.fabric();
  const VertexId vertex   = fabric.host_count() + change.number;
  std::vector<LinkId> all = {};
  for (LinkId id = 0; std::cmp_less(id, fabric.links().size()); ++id)
    if (fabric.link(id).from == vertex || fabric.link(id).to == vertex)
      all.push_back(id);
  return all;
}

std::string Recovery::name_of(const FabricChange& change) const
{
  const Fabric& fabric = actual_.fabric();
  return change.what == FabricChange::What::device ? "switch " + fabric.topology().switch_name(change.number)
                                                   : "link " + fabric.link(change.number).name;
}

void Recovery::set_bandwidth(LinkId link)
{
  const double factor = in_force_.bandwidth(link);
  flows_.set_capacity(link, factor * actual_.fabric().link(link).bandwidth.value());
  pools_.set_factor(link, factor);
  if (packets_)
    packets_->set_bandwidth(link, BytesPerSecond(factor * actual_.fabric().link(link).bandwidth.value()));
}

void Recovery::set_loss(LinkId link)
{
  flows_.set_loss(link, in_force_.loss(link));
  pools_.set_loss(link, in_force_.loss(link));
  if (packets_)
    packets_->set_loss(link, in_force_.loss(link));
}

bool Recovery::apply(const std::vector<FabricChange>& changes)
{
  std::vector<LinkId> links;
  for (const FabricChange& change : changes) {
    const std::vector<LinkId> its = links_of(change);
    links.insert(links.end(), its.begin(), its.end());
  }
  std::ranges::sort(links);
  links.erase(std::ranges::unique(links).begin(), links.end());
  std::vector<bool> was_up;
  was_up.reserve(links.size());
  for (const LinkId link : links)
    was_up.push_back(actual_.link_is_up(link));

  std::vector<FabricChange> to_learn;
  for (const FabricChange& change : changes) {
    const bool changes_what_is_up = in_force_.apply(change);
    if (change.what == FabricChange::What::bandwidth)
      set_bandwidth(change.number);
    else if (change.what == FabricChange::What::loss)
      set_loss(change.number);
    if (not changes_what_is_up)
      continue;
    set(actual_, change);
    to_learn.push_back(change);
    if (not change.over)
      latest_ = name_of(change) + " is down";
  }
  const bool learns = not to_learn.empty();
  if (learns) {
    agenda_.add(agenda_.now() + model_.detection + model_.convergence, *this, BATCH_BIT | batches_.size());
    batches_.push_back(std::move(to_learn));
  }
  std::vector<int> off;
  std::vector<int> on;
  for (std::size_t at = 0; at < links.size(); ++at)
    if (const bool is_up = actual_.link_is_up(links[at]); is_up != was_up[at])
      (is_up ? on : off).push_back(links[at]);
  flows_.turn_on(on);
  flows_.turn_off(off);
  pools_.update(links);
  if (packets_) {
    packets_->turn_on(on);
    packets_->turn_off(off);
  }
  return learns;
}

void Recovery::cut(CutFlow rest)
{
  // A flow of start() has a single message.
  if (rest.from < 0 && rest.messages.front().receiver->cut(rest.messages.front().number, rest.part, latest_))
    return;
  (rest.lost ? counts_.lost : counts_.cut) += static_cast<std::int64_t>(rest.messages.size());
  if (idle_.empty()) {
    idle_.push_back(rests_.size());
    rests_.emplace_back();
  }
  const std::size_t place = idle_.back();
  idle_.pop_back();
  rests_[place] = {std::move(rest), 0, agenda_.now().value()};
  await(place);
}

/** Schedules the next retransmission of a remainder. */
void Recovery::await(std::size_t place)
{
  Rest& rest = rests_[place];
  agenda_.add(rest.flow.since + model_.time_of(++rest.timeouts), *this, place);
}

void Recovery::retry(std::size_t place)
{
  Rest& rest          = rests_[place];
  const double waited = agenda_.now().value() - rest.cut;
  const auto messages = static_cast<std::int64_t>(rest.flow.messages.size());
  if (flows_.resume(rest.flow)) {
    counts_.resumed += messages;
    counts_.waited_s += waited * static_cast<double>(messages);
    counts_.longest_waiting_s = std::max(counts_.longest_waiting_s, waited);
    idle_.push_back(place);
  } else if (rest.timeouts > model_.retries) {
    give_up(place);
  } else {
    await(place);
  }
}

/** Names a failed link on a flow's route. */
std::string Recovery::obstacle(const CutFlow& flow) const
{
  const Fabric& fabric = actual_.fabric();
  std::vector<int> way = flow.way.resources;
  if (flow.from >= 0) {
    Route route;
    fabric.route(flow.from, flow.to, route);
    way = route.links;
  }
  for (const int resource : way)
    if (std::cmp_less(resource, fabric.links().size()) && not actual_.link_is_up(resource))
      return "link " + fabric.link(resource).name + " is down";
  return "routing has not learnt of all repairs";
}

void Recovery::give_up(std::size_t place)
{
  const CutFlow flow = std::move(rests_[place].flow);
  counts_.given_up += static_cast<std::int64_t>(flow.messages.size());
  const Topology& topology = actual_.fabric().topology();
  const auto ends          = flow.from >= 0 ? std::optional(std::pair(flow.from, flow.to))
                                            : flow.messages.front().receiver->ends_of(flow.messages.front().number);
  const std::string who =
      ends ? topology.vertex_name(ends->first) + " cannot reach " + topology.vertex_name(ends->second)
           : "data cannot pass";
  const std::string why = model_.give_up_message(who, agenda_.now(), obstacle(flow));
  idle_.push_back(place);
  for (const InFlight& one : flow.messages)
    one.receiver->failed(one.number, why);
}

RecoveryCounts Recovery::counts() const
{
  RecoveryCounts all = counts_;
  if (packets_)
    all += packets_->recovery_counts();
  return all;
}

void Recovery::due(std::uint64_t what)
{
  if ((what & BATCH_BIT) == 0) {
    retry(what);
    return;
  }
  const FabricEpoch before = known_.epoch();
  std::vector<LinkId> links;
  for (const FabricChange& change : std::exchange(batches_[what & ~BATCH_BIT], {})) {
    set(known_, change);
    std::ranges::copy(links_of(change), std::back_inserter(links));
  }
  if (known_.epoch() == before)
    return;
  pools_.update(links);
  flows_.forget_routes();
  if (packets_)
    packets_->forget_routes();
  for (const auto& converged : converged_)
    converged();
}

} // namespace weft
