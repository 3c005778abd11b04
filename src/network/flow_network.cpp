// SPDX-License-Identifier: LGPL-2.1-only
#include "network/flow_network.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace weft {
namespace {

/** What is due of a flow or a group: its number, and the version of it that was meant. */
constexpr unsigned VERSION_BITS    = 24;
constexpr std::uint64_t GROUPS_BIT = std::uint64_t{1} << 63U;

std::uint64_t due_of(std::size_t number, std::uint32_t version)
{
  return (static_cast<std::uint64_t>(number) << VERSION_BITS) | (version & ((1U << VERSION_BITS) - 1));
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
  const std::size_t number = (what & ~GROUPS_BIT) >> VERSION_BITS;
  if ((what & GROUPS_BIT) != 0) {
    if (what == (due_of(number, groups_[number].version) | GROUPS_BIT)) // else it was told to end at another time
      end_members(number, groups_[number].version);
    return;
  }
  const Flow& flow = flows_[number];
  if (what != due_of(number, flow.version))
    return;
  if (flow.state == State::starting && not flow.way.resources.empty())
    join(number);
  else
    end(number);
}

/** The members that end now, at least one. What waited for them may do anything. */
void FlowNetwork::end_members(GroupNumber number, std::uint32_t version)
{
  const auto next_ends = [this, number, version] {
    const Group& group = groups_[number];
    return group.version == version && not group.members.empty() &&
           Agenda::same(agenda_.now().value(),
                        group.since + (group.members.front().until - group.served) / group.sharing.rate);
  };
  do {
    std::vector<Member>& members = groups_[number].members;
    const FlowNumber flow        = members.front().flow;
    std::ranges::pop_heap(members, Member::later);
    members.pop_back();
    end(flow);
  } while (next_ends());
}

/** The group of the flows that go such a way; NONE where there are none. */
FlowNetwork::GroupNumber FlowNetwork::group_of(const FlowWay& way) const
{
  for (const GroupNumber number : users_[static_cast<std::size_t>(way.resources.front())]) {
    const SharingFlow& its = groups_[number].sharing;
    if (its.bound == way.bound && its.weight == 1 / way.penalty && its.resources == way.resources)
      return number;
  }
  return NONE;
}

FlowNetwork::GroupNumber FlowNetwork::open_group(const FlowWay& way)
{
  if (idle_groups_.empty()) {
    idle_groups_.push_back(groups_.size());
    groups_.emplace_back();
  }
  const GroupNumber number = idle_groups_.back();
  idle_groups_.pop_back();
  Group& group            = groups_[number];
  group.sharing.resources = way.resources;
  group.sharing.bound     = way.bound;
  group.sharing.weight    = 1 / way.penalty;
  group.sharing.copies    = 0;
  group.sharing.rate      = 0;
  group.served            = 0;
  group.since             = agenda_.now().value();
  return number;
}

void FlowNetwork::join(FlowNumber number)
{
  Flow& flow                        = flows_[number];
  const std::vector<int>& resources = flow.way.resources;
  flow.state                        = State::flowing;
  if (others_ && std::ranges::any_of(resources, [this](int resource) { return others_->use(resource); })) {
    for (const int resource : resources)
      yield(resource);
    hand_over(number, flow.way.volume);
    return;
  }
  bool alone = false;
  flow.group = group_of(flow.way);
  if (flow.group == NONE) {
    alone      = true;
    flow.group = open_group(flow.way);
    for (const int resource : resources) {
      std::vector<GroupNumber>& users = users_[static_cast<std::size_t>(resource)];
      if (not users.empty())
        alone = false; // or it uses it more than once
      users.push_back(flow.group);
    }
  }
  Group& group = groups_[flow.group];
  advance(group);
  group.sharing.copies += static_cast<double>(flow.messages.size());
  group.changed = true;
  group.members.push_back({group.served + flow.way.volume, joined_++, number});
  std::ranges::push_heap(group.members, Member::later);
  if (not alone) {
    joined_or_left_.insert(joined_or_left_.end(), resources.begin(), resources.end());
    return;
  }
  if (vary_)
    ask_capacities(resources);
  double rate = flow.way.bound;
  for (const int resource : resources)
    rate = std::min(rate, capacities_[static_cast<std::size_t>(resource)] / group.sharing.copies);
  set_rate(group, rate);
  tell(flow.group);
}

/** Its group counts it among its members no more. */
void FlowNetwork::leave(FlowNumber number)
{
  const Flow& flow = flows_[number];
  Group& group     = groups_[flow.group];
  group.sharing.copies -= static_cast<double>(flow.messages.size());
  group.changed    = true;
  const bool empty = group.members.empty();
  for (const int resource : flow.way.resources) {
    std::vector<GroupNumber>& users = users_[static_cast<std::size_t>(resource)];
    if (empty) {
      const auto found = std::ranges::find(users, flow.group);
      *found           = users.back();
      users.pop_back();
    }
    if (not users.empty())
      joined_or_left_.push_back(resource);
  }
  if (empty) {
    ++group.version;
    idle_groups_.push_back(flow.group);
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

void FlowNetwork::advance(Group& group) const
{
  const double now = agenda_.now().value();
  group.served += group.sharing.rate * (now - group.since);
  group.since = now;
}

/** Its next member ends when it has sent what is left at this rate, and is not told so yet. */
void FlowNetwork::set_rate(Group& group, double rate) const
{
  advance(group);
  group.sharing.rate = rate;
  group.ends         = group.since + std::max(0.0, group.members.front().until - group.served) / rate;
  group.told         = false;
  group.changed      = false;
  ++group.version;
}

void FlowNetwork::tell(GroupNumber number)
{
  Group& group = groups_[number];
  if (not std::exchange(group.told, true))
    agenda_.add(Seconds(group.ends), *this, due_of(number, group.version) | GROUPS_BIT);
}

/** All groups that share with those of a resource, directly or through others; none where they are known to be those of
 *  another one already. */
void FlowNetwork::collect(int resource)
{
  component_.clear();
  const auto add = [this](int one) {
    if (std::exchange(visited_[static_cast<std::size_t>(one)], visit_) == visit_)
      return;
    for (const GroupNumber number : users_[static_cast<std::size_t>(one)])
      if (std::exchange(groups_[number].visited, visit_) != visit_)
        component_.push_back(number);
  };
  add(resource);
  // It grows. NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t at = 0; at < component_.size(); ++at)
    for (const int next : groups_[component_[at]].sharing.resources)
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

/** The groups of component_ get their rates. When the first flow of them ends, the others get new ones, so that they
 *  need not be told now when they would end. */
void FlowNetwork::share()
{
  ++work_.solved;
  sharing_.clear();
  rates_.clear();
  for (const GroupNumber number : component_) {
    sharing_.push_back(&groups_[number].sharing);
    rates_.push_back(groups_[number].sharing.rate);
  }
  fair_share_.solve(sharing_, capacities_);
  double first = std::numeric_limits<double>::infinity();
  for (std::size_t at = 0; at < component_.size(); ++at) {
    Group& group      = groups_[component_[at]];
    const double rate = std::exchange(group.sharing.rate, rates_[at]);
    if (rate != rates_[at] || group.changed)
      set_rate(group, rate);
    first = std::min(first, group.ends);
  }
  for (const GroupNumber number : component_)
    if (Agenda::same(first, groups_[number].ends))
      tell(number);
}

/** @p left bytes of each of its copies. */
void FlowNetwork::hand_over(FlowNumber number, double left)
{
  Flow& flow = flows_[number];
  flow.state = State::elsewhere;
  ++flow.version;
  // Nothing is left of one that ends now, and nobody carries out nothing.
  constexpr double NOTHING = 1e-3;
  if (left < NOTHING)
    ends_elsewhere(number, agenda_.now());
  else
    others_->take(number, flow.way, left, flow.messages.size());
}

void FlowNetwork::yield(int resource)
{
  if (users_[static_cast<std::size_t>(resource)].empty())
    return;
  ++visit_;
  collect(resource);
  for (const GroupNumber number : component_) {
    Group& group = groups_[number];
    for (const int one : group.sharing.resources)
      users_[static_cast<std::size_t>(one)].clear();
    advance(group);
    ++group.version;
    std::vector<Member> members = std::exchange(group.members, {});
    idle_groups_.push_back(number);
    std::ranges::sort(members, {}, &Member::joined);
    for (const Member& one : members)
      hand_over(one.flow, std::max(0.0, one.until - group.served));
  }
}

} // namespace weft
