// SPDX-License-Identifier: LGPL-2.1-only
#include "flow/flow_network.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft {
namespace {

/** What is due of a flow: its number, and the version of it that was meant. */
constexpr unsigned VERSION_BITS = 24;

std::uint64_t due_of(FlowNumber flow, std::uint32_t version)
{
  return (static_cast<std::uint64_t>(flow) << VERSION_BITS) | (version & ((1U << VERSION_BITS) - 1));
}

} // namespace

FlowNetwork::FlowNetwork(Agenda& agenda, Ways& ways, std::vector<double> capacities, int hosts, Others* others,
                         bool folds)
    : agenda_(agenda), ways_(ways), others_(others), folds_(folds), vary_(ways.vary()),
      fixed_capacities_(vary_ ? capacities : std::vector<double>()), capacities_(std::move(capacities)),
      users_(capacities_.size()), recent_(static_cast<std::size_t>(hosts)), visited_(capacities_.size()),
      fair_share_(capacities_.size())
{
  agenda.tell(*this);
}

/** For a message from that host. Its messages are much alike, so the way of the last one may be this one's. */
FlowNumber FlowNetwork::borrow(int from)
{
  FlowNumber& idle = recent_[static_cast<std::size_t>(from)].idle;
  if (idle == NONE) {
    flows_.emplace_back();
    return flows_.size() - 1;
  }
  return std::exchange(idle, flows_[idle].next_idle);
}

/** The flow of an equal message that starts now, too. */
FlowNetwork::Flow* FlowNetwork::same(int from, int to, double bytes, double missed)
{
  const Recent& recent = recent_[static_cast<std::size_t>(from)];
  if (recent.time != agenda_.now().value())
    return nullptr;
  for (std::size_t at = 0; at < recent.count; ++at) {
    Flow& flow = flows_[recent.flows[at]];
    if (flow.state == State::starting && flow.from == from && flow.to == to && flow.bytes == bytes &&
        flow.missed == missed && flow.since == recent.time)
      return &flow;
  }
  return nullptr;
}

void FlowNetwork::send(int from, int to, Bytes bytes, double missed, Receiving& receiver, std::uint64_t message)
{
  ++work_.messages;
  if (Flow* const flow = folds_ && ways_.repeats() ? same(from, to, bytes.value(), missed) : nullptr) {
    flow->messages.push_back({&receiver, message});
    ways_.repeat(flow->way, from, to, bytes);
    return;
  }
  ++work_.flows;
  const FlowNumber number = borrow(from);
  Flow& flow              = flows_[number];
  if (flow.to == to && flow.bytes == bytes.value() && flow.missed == missed && not vary_ && ways_.repeats()) {
    ways_.repeat(flow.way, from, to, bytes);
  } else {
    flow.way.resources.clear();
    ways_.find(from, to, bytes, missed, flow.way);
  }
  flow.state  = State::starting;
  flow.from   = from;
  flow.to     = to;
  flow.missed = missed;
  flow.bytes  = bytes.value();
  flow.since  = agenda_.now().value();
  flow.messages.push_back({&receiver, message});
  const double joins = flow.since + flow.way.latency;
  // Whoever shares with nobody ends when it is known to.
  agenda_.add(Seconds(flow.way.resources.empty() ? joins + flow.way.volume / flow.way.bound : joins), *this,
              due_of(number, flow.version));

  Recent& recent = recent_[static_cast<std::size_t>(from)];
  if (recent.time != flow.since) {
    recent.time  = flow.since;
    recent.next  = 0;
    recent.count = 0;
  }
  recent.flows[recent.next] = number;
  recent.next               = (recent.next + 1) % REMEMBERED;
  recent.count              = std::max(recent.count, recent.next == 0 ? REMEMBERED : recent.next);
}

void FlowNetwork::due(std::uint64_t what)
{
  const FlowNumber number = what >> VERSION_BITS;
  const Flow& flow        = flows_[number];
  if (what != due_of(number, flow.version))
    return; // it has been told to end at another time
  if (flow.state == State::starting && not flow.way.resources.empty())
    join(number);
  else
    end(number);
}

void FlowNetwork::join(FlowNumber number)
{
  Flow& flow             = flows_[number];
  flow.left              = flow.way.volume;
  flow.since             = agenda_.now().value();
  flow.sharing.resources = flow.way.resources;
  flow.sharing.bound     = flow.way.bound;
  flow.sharing.weight    = 1 / flow.way.penalty;
  flow.sharing.copies    = static_cast<double>(flow.messages.size());
  flow.sharing.rate      = 0;
  flow.state             = State::flowing;
  if (others_ && std::ranges::any_of(flow.way.resources, [this](int resource) { return others_->use(resource); })) {
    for (const int resource : flow.way.resources)
      yield(resource);
    hand_over(number);
    return;
  }
  bool alone = true;
  for (const int resource : flow.way.resources) {
    std::vector<FlowNumber>& users = users_[static_cast<std::size_t>(resource)];
    if (not users.empty())
      alone = false; // or it uses it more than once
    users.push_back(number);
  }
  if (not alone) {
    joined_or_left_.insert(joined_or_left_.end(), flow.way.resources.begin(), flow.way.resources.end());
    return;
  }
  if (vary_)
    ask_capacities(flow.way.resources);
  double rate = flow.way.bound;
  for (const int resource : flow.way.resources)
    rate = std::min(rate, capacities_[static_cast<std::size_t>(resource)] / flow.sharing.copies);
  set_rate(flow, rate);
  tell(number);
}

void FlowNetwork::leave(FlowNumber number)
{
  for (const int resource : flows_[number].way.resources) {
    std::vector<FlowNumber>& users = users_[static_cast<std::size_t>(resource)];
    const auto found               = std::ranges::find(users, number);
    *found                         = users.back();
    users.pop_back();
    if (not users.empty())
      joined_or_left_.push_back(resource);
  }
}

/** Of resources whose users have changed. */
void FlowNetwork::ask_capacities(const std::vector<int>& resources)
{
  for (const int resource : resources) {
    const auto at   = static_cast<std::size_t>(resource);
    capacities_[at] = ways_.capacity(resource, fixed_capacities_[at]);
  }
}

/** What waited for it; its number may be another flow's after that. */
std::vector<FlowNetwork::Message> FlowNetwork::release(FlowNumber number)
{
  Flow& flow = flows_[number];
  if (flow.state == State::flowing)
    leave(number);
  if (vary_)
    ways_.left(flow.way);
  flow.state = State::idle;
  ++flow.version;
  flow.next_idle = std::exchange(recent_[static_cast<std::size_t>(flow.from)].idle, number);
  return std::exchange(flow.messages, std::move(spare_));
}

void FlowNetwork::end(FlowNumber number)
{
  std::vector<Message> messages = release(number);
  for (const Message& one : messages)
    one.receiver->arrived(one.number);
  messages.clear();
  spare_ = std::move(messages);
}

void FlowNetwork::ends_elsewhere(FlowNumber flow, Seconds time)
{
  agenda_.add(time, *this, due_of(flow, flows_[flow].version));
}

void FlowNetwork::fails_elsewhere(FlowNumber flow, const std::string& why)
{
  for (const Message& one : release(flow))
    one.receiver->failed(one.number, why);
}

void FlowNetwork::advance(Flow& flow) const
{
  const double now = agenda_.now().value();
  flow.left        = std::max(0.0, flow.left - flow.sharing.rate * (now - flow.since));
  flow.since       = now;
}

/** It ends when it has sent what is left at this rate, and is not told so yet. */
void FlowNetwork::set_rate(Flow& flow, double rate) const
{
  advance(flow);
  flow.sharing.rate = rate;
  flow.ends         = flow.since + flow.left / rate;
  flow.told         = false;
  ++flow.version;
}

void FlowNetwork::tell(FlowNumber number)
{
  Flow& flow = flows_[number];
  if (not std::exchange(flow.told, true))
    agenda_.add(Seconds(flow.ends), *this, due_of(number, flow.version));
}

/** All flows that share with those of a resource, directly or through others; none where they are known to be that of
 *  another one already. */
void FlowNetwork::collect(int resource)
{
  component_.clear();
  const auto add = [this](int one) {
    if (std::exchange(visited_[static_cast<std::size_t>(one)], visit_) == visit_)
      return;
    for (const FlowNumber number : users_[static_cast<std::size_t>(one)])
      if (std::exchange(flows_[number].visited, visit_) != visit_)
        component_.push_back(number);
  };
  add(resource);
  // It grows. NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t at = 0; at < component_.size(); ++at)
    for (const int next : flows_[component_[at]].way.resources)
      add(next);
}

void FlowNetwork::settle()
{
  ++visit_;
  if (vary_)
    ask_capacities(joined_or_left_);
  for (const int resource : joined_or_left_) {
    collect(resource);
    if (not component_.empty())
      share();
  }
  joined_or_left_.clear();
}

/** The flows of component_ get their rates. When the first of them ends, the others get new ones, so that they need not
 *  be told now when they would end. */
void FlowNetwork::share()
{
  ++work_.solved;
  sharing_.clear();
  rates_.clear();
  for (const FlowNumber number : component_) {
    sharing_.push_back(&flows_[number].sharing);
    rates_.push_back(flows_[number].sharing.rate);
  }
  fair_share_.solve(sharing_, capacities_);
  double first = std::numeric_limits<double>::infinity();
  for (std::size_t at = 0; at < component_.size(); ++at) {
    Flow& flow        = flows_[component_[at]];
    const double rate = std::exchange(flow.sharing.rate, rates_[at]);
    if (rate != rates_[at])
      set_rate(flow, rate);
    first = std::min(first, flow.ends);
  }
  for (const FlowNumber number : component_)
    if (Agenda::same(first, flows_[number].ends))
      tell(number);
}

void FlowNetwork::hand_over(FlowNumber number)
{
  Flow& flow = flows_[number];
  advance(flow);
  flow.state = State::elsewhere;
  ++flow.version;
  // Nothing is left of one that ends now, and nobody carries out nothing.
  constexpr double NOTHING = 1e-3;
  if (flow.left < NOTHING)
    ends_elsewhere(number, agenda_.now());
  else
    others_->take(number, flow.way, flow.left, flow.messages.size());
}

void FlowNetwork::yield(int resource)
{
  if (users_[static_cast<std::size_t>(resource)].empty())
    return;
  ++visit_;
  collect(resource);
  for (const FlowNumber number : component_) {
    for (const int one : flows_[number].way.resources)
      users_[static_cast<std::size_t>(one)].clear();
    hand_over(number);
  }
}

} // namespace weft
