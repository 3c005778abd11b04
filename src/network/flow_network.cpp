// SPDX-License-Identifier: LGPL-2.1-only
#include "network/flow_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace weft {
namespace {

/** Encoding of agenda entries: the number of a flow or group with the version of its expected end, NEXT_END for the
 * earliest end of groups that share links, or UPDATE. */
constexpr unsigned VERSION_BITS    = 24;
constexpr std::uint64_t GROUPS_BIT = std::uint64_t{1} << 63U;
constexpr std::uint64_t NEXT_END   = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t UPDATE     = NEXT_END - 1; // merged changes are due
constexpr double NOTHING           = 1e-3;         // bytes: a flow with fewer bytes left ends now

std::uint64_t due_of(std::size_t number, std::uint32_t version)
{
  return (static_cast<std::uint64_t>(number) << VERSION_BITS) | (version & ((1U << VERSION_BITS) - 1));
}

/** Returns a hash of resources (FNV-1a, draft-eastlake-fnv, on words instead of octets). */
std::uint32_t hash_of(const std::vector<int>& resources)
{
  constexpr std::uint32_t BASIS = 2166136261;
  constexpr std::uint32_t PRIME = 16777619;
  std::uint32_t hash            = BASIS;
  for (const int resource : resources)
    hash = (hash ^ static_cast<std::uint32_t>(resource)) * PRIME;
  return hash;
}

} // namespace

FlowNetwork::FlowNetwork(Agenda& agenda, MessageRoutes& ways, const std::vector<double>& capacities, int vertices,
                         bool folds)
    : agenda_(agenda), ways_(ways), folds_(folds), vary_(ways.vary()), special_(vary_), follows_(ways.follows()),
      reports_ends_(vary_ || follows_), fixed_capacities_(vary_ ? capacities : std::vector<double>()),
      fair_share_(capacities), recent_(static_cast<std::size_t>(vertices)), resources_(capacities.size())
{
  agenda.tell(*this);
}

void FlowNetwork::set_resolution(TimeResolution resolution)
{
  updates_.set_resolution(resolution);
  if (resolution.automatic && not follows_)
    queues_.emplace(resources_);
}

void FlowNetwork::share_by_class(std::vector<int> tails, bool of_source)
{
  classes_.emplace(std::move(tails));
  class_of_source_ = of_source;
  special_         = true;
}

/** Returns an idle flow for a message from vertex @p from (-1: for a flow of start()): the flow that last started
 * there, or a new one. Consecutive messages of a vertex are similar, so its route can often be reused. */
FlowNumber FlowNetwork::borrow(int from)
{
  FlowNumber& idle = idle_of(from);
  if (idle == NONE) {
    flows_.emplace_back();
    return flows_.size() - 1;
  }
  return std::exchange(idle, flows_[idle].next_idle);
}

/** Returns the flow of an equal message that starts at this instant and whose latency began at @p since; null if there
 * is none. */
FlowNetwork::Flow* FlowNetwork::same(int from, int to, double bytes, double missed, double since)
{
  const Recent& recent = recent_[static_cast<std::size_t>(from)];
  if (recent.time != agenda_.now().value())
    return nullptr;
  for (std::size_t at = 0; at < recent.count; ++at) {
    Flow& flow = flows_[recent.flows[at]];
    if (flow.state == State::starting && flow.from == from && flow.to == to && flow.bytes == bytes &&
        flow.missed == missed && flow.since == since)
      return &flow;
  }
  return nullptr;
}

/** Sends a message whose latency began at @p since. */
void FlowNetwork::send_since(double since, int from, int to, Bytes bytes, double missed, Receiving& receiver,
                             std::uint64_t message)
{
  ++work_.messages;
  if (Flow* const flow = folds_ && ways_.repeats() ? same(from, to, bytes.value(), missed, since) : nullptr) {
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
    if (loses())
      flow.way.volume *= losses_->effort(flow.way.resources);
  }
  flow.state  = State::starting;
  flow.from   = from;
  flow.to     = to;
  flow.missed = missed;
  flow.bytes  = bytes.value();
  flow.since  = since;
  flow.part   = 1;
  flow.messages.push_back({&receiver, message});
  begin_latency(number);

  Recent& recent = recent_[static_cast<std::size_t>(from)];
  if (const double now = agenda_.now().value(); recent.time != now) {
    recent.time  = now;
    recent.next  = 0;
    recent.count = 0;
  }
  recent.flows[recent.next] = number;
  recent.next               = (recent.next + 1) % REMEMBERED;
  recent.count              = std::max(recent.count, recent.next == 0 ? REMEMBERED : recent.next);
}

void FlowNetwork::send_on_sockets(const SocketMessage& message, Receiving& receiver, std::uint64_t number)
{
  if (message.from_socket == SocketMessage::UNKNOWN) {
    send_since(message.since.value_or(agenda_.now()).value(), message.from, message.to, message.bytes, message.missed,
               receiver, number);
    return;
  }
  ++work_.messages;
  ++work_.flows;
  const FlowNumber flow_number = borrow(message.from);
  Flow& flow                   = flows_[flow_number];
  flow.way.resources.clear();
  ways_.find_on_sockets(message, flow.way);
  if (loses())
    flow.way.volume *= losses_->effort(flow.way.resources);
  flow.state  = State::starting;
  flow.from   = message.from;
  flow.to     = message.to;
  flow.missed = message.missed;
  flow.bytes  = -message.bytes.value(); // its route depends on its sockets
  flow.since  = agenda_.now().value();
  flow.part   = 1;
  flow.messages.push_back({&receiver, number});
  begin_latency(flow_number);
}

void FlowNetwork::work(const SocketWork& work, Receiving& receiver, std::uint64_t number)
{
  FlowRoute way;
  ways_.find_work(work, way);
  start(way, agenda_.now(), receiver, number);
}

void FlowNetwork::start(const FlowRoute& way, Seconds time, Receiving& receiver, std::uint64_t message)
{
  const FlowNumber number = borrow(-1);
  Flow& flow              = flows_[number];
  flow.way                = way;
  flow.state              = State::starting;
  flow.since              = time.value();
  flow.part               = 1;
  flow.messages.push_back({&receiver, message});
  if (follows_)
    ways_.entered(way);
  begin_latency(number);
}

void FlowNetwork::begin_latency(FlowNumber number)
{
  const Flow& flow   = flows_[number];
  const double joins = std::max(agenda_.now().value(), flow.since + flow.way.latency);
  if (not off_.empty() && is_off(flow.way.resources)) {
    agenda_.add(Seconds(flow.since), *this, due_of(number, flow.version)); // the flow is cut at that time
    return;
  }
  // The end of a flow that shares no resource is known.
  agenda_.add(Seconds(flow.way.resources.empty() ? joins + flow.way.volume / flow.way.bound : joins), *this,
              due_of(number, flow.version));
}

void FlowNetwork::due(std::uint64_t what)
{
  if (what == NEXT_END) {
    end_groups();
    return;
  }
  if (what == UPDATE) // settle() follows
    return;
  const std::size_t number = (what & ~GROUPS_BIT) >> VERSION_BITS;
  if ((what & GROUPS_BIT) != 0) {
    if (what == (due_of(number, groups_[number].version) | GROUPS_BIT)) // otherwise the end has been rescheduled
      end_members(static_cast<GroupNumber>(number), groups_[number].version);
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

/** Ends the members of a group that are due now, at least one. Their receivers may call back into the network. */
void FlowNetwork::end_members(GroupNumber number, std::uint32_t version)
{
  const auto next_ends = [this, number, version] {
    const Group& group = groups_[number];
    return group.version == version && not group.members.empty() &&
           Agenda::same(agenda_.now().value(), group.since + (group.members.front().until - group.served) / group.rate);
  };
  do {
    std::vector<Member>& members = groups_[number].members;
    const FlowNumber flow        = members.front().flow;
    std::ranges::pop_heap(members, Member::later);
    members.pop_back();
    end(flow);
  } while (next_ends());
}

/** Ends the members that are due now in groups that share links, in the order in which they joined; none if the
 * earliest end has moved since its agenda entry was made. */
void FlowNetwork::end_groups()
{
  const double now = agenda_.now().value();
  if (next_end_ <= now || Agenda::same(now, next_end_))
    next_end_ = NEVER;
  ending_.clear();
  while (ends_.next() <= now || Agenda::same(now, ends_.next())) {
    const GroupNumber number = ends_.top();
    ends_.remove(ends_.top());
    ending_.push_back({groups_[number].members.front().joined, number, groups_[number].version});
  }
  if (not std::ranges::is_sorted(ending_, {}, &Ending::joined))
    std::ranges::sort(ending_, {}, &Ending::joined);
  // A receiver may change further groups.
  for (const Ending& one : ending_)
    if (groups_[one.group].version == one.version)
      end_members(one.group, one.version);
}

/** Returns the group of flows with this route, whose resources have this hash; NO_GROUP if there is none. */
FlowNetwork::GroupNumber FlowNetwork::group_of(const FlowRoute& way, std::uint32_t hash) const
{
  for (const IncrementalFairShare::User& user : fair_share_.users(way.resources.front()))
    if (hashes_[user.flow] == hash && fair_share_.is_like(user.flow, way.resources, 1 / way.penalty, way.bound))
      return user.flow;
  return NO_GROUP;
}

FlowNetwork::GroupNumber FlowNetwork::open_group(const FlowRoute& way, double copies)
{
  const GroupNumber number = fair_share_.add(way.resources, 1 / way.penalty, way.bound, copies);
  if (number == groups_.size()) {
    groups_.emplace_back();
    hashes_.emplace_back();
  }
  Group& group = groups_[number];
  group.rate   = 0;
  group.served = 0;
  group.since  = agenda_.now().value();
  group.opened = group.since;
  return number;
}

inline FlowNetwork::GroupNumber FlowNetwork::enter_group(const FlowRoute& way, double copies)
{
  const std::uint32_t hash = hash_of(way.resources);
  GroupNumber group        = group_of(way, hash);
  if (group == NO_GROUP) {
    group          = open_group(way, copies);
    hashes_[group] = hash;
  } else {
    fair_share_.add_copies(group, copies);
  }
  return group;
}

FlowNetwork::GroupNumber FlowNetwork::enter_group_of_class(int share_class, const FlowRoute& way, double copies)
{
  for (const IncrementalFairShare::User& user : fair_share_.users(way.resources.front()))
    if (classes_->class_of(user.flow) == share_class &&
        fair_share_.is_like(user.flow, way.resources, 1 / way.penalty, way.bound)) {
      const GroupNumber group = user.flow;
      fair_share_.add_copies(group, copies);
      return group;
    }
  const GroupNumber group = open_group(way, copies);
  classes_->set_class(group, share_class);
  return group;
}

FlowNetwork::GroupNumber FlowNetwork::enter_specially(const Flow& flow, double copies)
{
  if (vary_)
    ask_capacities(flow.way.resources);
  if (not classes_)
    return enter_group(flow.way, copies);
  return enter_group_of_class(class_of_source_ && flow.from >= 0 ? flow.from : flow.way.share_class, flow.way, copies);
}

/** Cuts a flow that starts over a resource that is off. Returns false for such a flow, and for one whose latency has
 * not passed: the resource was off when it started, and came back at the same instant. */
bool FlowNetwork::may_join(FlowNumber number)
{
  const Flow& flow   = flows_[number];
  const double now   = agenda_.now().value();
  const double joins = flow.since + flow.way.latency;
  if (is_off(flow.way.resources)) {
    cutting_->cut(take_rest(number, flow.way.volume, now));
    return false;
  }
  if (joins <= now || Agenda::same(joins, now))
    return true;
  begin_latency(number);
  return false;
}

void FlowNetwork::join(FlowNumber number)
{
  Flow& flow = flows_[number];
  if (not off_.empty() && not may_join(number))
    return;
  flow.state = State::flowing;
  if (has_turn(flow)) {
    queue(number);
    return;
  }
  count_long_flow(flow);
  const auto copies = static_cast<double>(flow.messages.size());
  flow.group        = special_ ? enter_specially(flow, copies) : enter_group(flow.way, copies);
  Group& group      = groups_[flow.group];
  advance(group);
  group.members.push_back({group.served + flow.way.volume, joined_++, number});
  std::ranges::push_heap(group.members, Member::later);
  group.volume = flow.way.volume;
  if (fair_share_.has_changed(flow.group)) {
    note_change(flow.group);
    return;
  }
  set_rate(group, fair_share_.rate(flow.group));
  agenda_.add(Seconds(group.ends), *this, due_of(flow.group, group.version) | GROUPS_BIT);
}

/** Returns whether a flow that joins is queued at its links: a short message between hosts, on links without long
 * flows, at least one of which has a crowd or a queue. */
inline bool FlowNetwork::has_turn(const Flow& flow) const
{
  if (not queues_ || flow.way.volume >= SHORT_MESSAGE.value() || flow.from == flow.to || special_)
    return false;
  const double now     = agenda_.now().value();
  const auto has_crowd = [this, now](int resource) {
    return fair_share_.users(resource).size() > LinkQueues::CROWD || not queues_->is_idle(resource, now);
  };
  const auto shares = [this](int resource) {
    return queues_->has_long_flow(resource) || fair_share_.capacity(resource) <= 0;
  };
  return std::ranges::any_of(flow.way.resources, has_crowd) && std::ranges::none_of(flow.way.resources, shares);
}

/** Returns the bytes that the flows on a resource have yet to send. */
double FlowNetwork::unsent(int resource) const
{
  double bytes = 0;
  for (const IncrementalFairShare::User& user : fair_share_.users(resource)) {
    const Group& group = groups_[user.flow];
    const double sent  = served(group);
    for (const Member& one : group.members)
      bytes += std::max(0.0, one.until - sent) * static_cast<double>(flows_[one.flow].messages.size());
  }
  return bytes;
}

/** Adds a flow to the queues of its links, and schedules its end. */
void FlowNetwork::queue(FlowNumber number)
{
  Flow& flow         = flows_[number];
  const double now   = agenda_.now().value();
  const double bytes = flow.way.volume * static_cast<double>(flow.messages.size());
  double end         = now + flow.way.volume / flow.way.bound;
  for (const int resource : flow.way.resources) {
    const double capacity = fair_share_.capacity(resource);
    if (queues_->is_idle(resource, now))
      queues_->begin(resource, now + unsent(resource) / capacity);
    end = std::max(end, queues_->add(resource, bytes / capacity));
  }
  flow.state = State::queued;
  work_.queued += flow.messages.size();
  agenda_.add(Seconds(end), *this, due_of(number, flow.version));
}

inline void FlowNetwork::count_long_flow(Flow& flow)
{
  flow.counted = queues_ && flow.way.volume >= SHORT_MESSAGE.value();
  if (flow.counted)
    queues_->add_long_flow(flow.way.resources);
}

inline void FlowNetwork::uncount_long_flow(Flow& flow)
{
  if (std::exchange(flow.counted, false))
    queues_->remove_long_flow(flow.way.resources);
}

/** Removes a flow from its group's number of copies. */
void FlowNetwork::leave(FlowNumber number)
{
  Flow& flow   = flows_[number];
  Group& group = groups_[flow.group];
  uncount_long_flow(flow);
  if (not group.members.empty()) {
    fair_share_.add_copies(flow.group, -static_cast<double>(flow.messages.size()));
    note_change(flow.group);
    return;
  }
  ++group.version;
  ends_.remove(flow.group);
  fair_share_.remove(flow.group);
  if (fair_share_.needs_update()) // otherwise the flow was alone
    note_change(NO_GROUP);
}

/** Queries the new capacities of resources whose users have changed. */
void FlowNetwork::ask_capacities(const std::vector<int>& resources)
{
  for (const int resource : resources)
    fair_share_.set_capacity(resource, ways_.capacity(resource, fixed_capacities_[static_cast<std::size_t>(resource)]));
}

/** Frees a flow and returns its messages; its number may be reused afterwards. */
std::vector<InFlight> FlowNetwork::release(FlowNumber number)
{
  Flow& flow = flows_[number];
  if (flow.state == State::flowing)
    leave(number);
  if (reports_ends_)
    ways_.left(flow.way);
  flow.state = State::idle;
  ++flow.version;
  flow.next_idle = std::exchange(idle_of(flow.from), number);
  return std::exchange(flow.messages, std::move(spare_));
}

void FlowNetwork::end(FlowNumber number)
{
  if (loses())
    lose_last_packets(number);
  std::vector<InFlight> messages = release(number);
  for (const InFlight& one : messages)
    one.receiver->arrived(one.number);
  messages.clear();
  spare_ = std::move(messages);
}

/** Cuts the messages whose last packet a link loses from a flow that ends. */
void FlowNetwork::lose_last_packets(FlowNumber number)
{
  Flow& flow               = flows_[number];
  const double probability = flow.from < 0 ? 0 : losses_->lost(flow.way.resources);
  if (probability <= 0)
    return;
  std::vector<InFlight> messages;
  std::vector<InFlight> arriving;
  for (const InFlight& one : flow.messages)
    (losses_->draw() < probability ? messages : arriving).push_back(one);
  if (messages.empty())
    return;
  flow.messages = std::move(arriving);
  CutFlow rest;
  rest.from     = flow.from;
  rest.to       = flow.to;
  rest.bytes    = Bytes(std::abs(flow.bytes));
  rest.missed   = flow.missed;
  rest.part     = rest.bytes > Bytes() ? std::min(flow.part, losses_->packet() / rest.bytes) : 1;
  rest.lost     = true;
  rest.since    = agenda_.now();
  rest.messages = std::move(messages);
  cutting_->cut(std::move(rest));
}

double FlowNetwork::load(int resource, Seconds now) const
{
  double sum = 0;
  for (const IncrementalFairShare::User& user : fair_share_.users(resource))
    if (not Agenda::same(groups_[user.flow].opened, now.value()))
      sum += user.load;
  return sum;
}

bool FlowNetwork::carries_foreground() const
{
  return std::ranges::any_of(flows_, [](const Flow& flow) {
    return std::ranges::any_of(flow.messages, [](const InFlight& message) {
      return dynamic_cast<const BackgroundReceiver*>(message.receiver) == nullptr;
    });
  });
}

void FlowNetwork::advance(Group& group, double time) const
{
  group.served += group.rate * (time - group.since);
  group.since = time;
}

void FlowNetwork::advance(Group& group) const
{
  advance(group, agenda_.now().value());
}

/** Sets a group's rate and the time at which its next member ends at that rate. The caller schedules that end. */
void FlowNetwork::set_rate(Group& group, double rate) const
{
  advance(group);
  group.rate = rate;
  group.ends = rate > 0 ? group.since + std::max(0.0, group.members.front().until - group.served) / rate : NEVER;
  ++group.version;
}

/** Registers a change for the next update. Until then its group @p number, if there is one, continues at its present
 * rate, or begins at a provisional one. */
void FlowNetwork::note_change(GroupNumber number)
{
  if (updates_.is_exact())
    return;
  const double now = agenda_.now().value();
  updates_.note_change(now);
  if (number == NO_GROUP || not updates_.merges(now))
    return;
  Group& group = groups_[number];
  set_rate(group, group.rate > 0 ? group.rate : provisional_rate(number));
  ends_.set(number, group.ends);
}

/** Returns an equal share of the links of a group that has just joined. */
double FlowNetwork::provisional_rate(GroupNumber number) const
{
  const double copies = fair_share_.copies(number);
  double rate         = fair_share_.bound(number);
  for (const IncrementalFairShare::Use& use : fair_share_.uses(number)) {
    const auto others = static_cast<double>(fair_share_.users(use.resource).size() - 1);
    rate              = std::min(rate, fair_share_.capacity(use.resource) / (copies + others));
  }
  return rate;
}

/** Returns whether pending changes are applied later, and schedules that update. */
bool FlowNetwork::wait_for_changes()
{
  if (not updates_.waits(agenda_.now().value()))
    return false;
  if (const std::optional<double> time = updates_.to_put_on_agenda())
    agenda_.add(Seconds(*time), *this, UPDATE);
  return true;
}

/** Returns the mean time that groups need to send the bytes of one of their flows. */
double FlowNetwork::duration(const std::vector<GroupNumber>& changed) const
{
  double volume = 0;
  double rate   = 0;
  for (const GroupNumber number : changed) {
    volume += groups_[number].volume;
    rate += groups_[number].rate;
  }
  return rate > 0 ? volume / rate : 0;
}

inline void FlowNetwork::set_rates(const std::vector<GroupNumber>& changed)
{
  work_.solved += changed.empty() ? 0 : 1;
  work_.rates += changed.size();
  const std::optional<double> from = updates_.begin_update(agenda_.now().value());
  for (const GroupNumber number : changed) {
    Group& group = groups_[number];
    if (from) {
      advance(group, std::max(*from, group.since));
      group.rate = fair_share_.rate(number);
    }
    set_rate(group, fair_share_.rate(number));
    ends_.set(number, group.ends);
  }
  work_.merged += from ? 1 : 0;
  if (updates_.is_paced(fair_share_.coupled())) {
    work_.longest = std::max(work_.longest, updates_.end_update(agenda_.now().value(), duration(changed)));
    work_.crowd   = std::max(work_.crowd, fair_share_.coupled());
  }
}

void FlowNetwork::update_specially()
{
  if (vary_)
    ask_capacities(std::vector<int>(fair_share_.dirty())); // a copy, since capacities may add to the list
  if (fair_share_.needs_update())
    set_rates(classes_ ? classes_->update(fair_share_) : fair_share_.update());
}

void FlowNetwork::settle()
{
  if (fair_share_.needs_update() && not wait_for_changes()) {
    if (special_)
      update_specially();
    else
      set_rates(updates_.has_crowd(fair_share_.coupled()) ? fair_share_.update_all() : fair_share_.update());
  }
  if (ends_.next() < next_end_) {
    next_end_ = ends_.next();
    agenda_.add(Seconds(next_end_), *this, NEXT_END);
  }
}

bool FlowNetwork::is_off(const std::vector<int>& resources) const
{
  return std::ranges::any_of(resources, [this](int resource) { return off_[static_cast<std::size_t>(resource)]; });
}

/** Frees a flow that is in no group, and returns its remainder: @p left bytes of each copy. */
CutFlow FlowNetwork::take_rest(FlowNumber number, double left, double since)
{
  const Flow& flow = flows_[number];
  CutFlow rest;
  rest.from   = flow.from;
  rest.to     = flow.to;
  rest.bytes  = Bytes(std::abs(flow.bytes));
  rest.missed = flow.missed;
  rest.part   = flow.way.volume > 0 ? flow.part * left / flow.way.volume : flow.part;
  rest.since  = Seconds(since);
  if (flow.from < 0)
    rest.way = flow.way;
  rest.messages = release(number);
  return rest;
}

/** Closes a group, and returns its members in the order in which they joined. */
std::vector<FlowNetwork::Member> FlowNetwork::dissolve(GroupNumber number)
{
  fair_share_.remove(number);
  ends_.remove(number);
  Group& group = groups_[number];
  advance(group);
  ++group.version;
  std::vector<Member> members = std::exchange(group.members, {});
  for (const Member& one : members)
    uncount_long_flow(flows_[one.flow]);
  std::ranges::sort(members, {}, &Member::joined);
  return members;
}

/** Appends the remainders of a group's flows to @p rests. Flows that have arrived, within rounding, end now. */
void FlowNetwork::cut_group(GroupNumber number, std::vector<CutFlow>& rests)
{
  const std::vector<Member> members = dissolve(number);
  const Group& group                = groups_[number];
  for (const Member& one : members) {
    if (const double left = one.until - group.served; left < NOTHING) {
      end_now(one.flow);
    } else {
      flows_[one.flow].state = State::ended; // no longer in a group
      rests.push_back(take_rest(one.flow, left, agenda_.now().value()));
    }
  }
}

void FlowNetwork::turn_off(const std::vector<int>& resources)
{
  off_.resize(resources_);
  std::vector<CutFlow> rests;
  for (const int resource : resources) {
    off_[static_cast<std::size_t>(resource)] = true;
    while (flows_over(resource))
      cut_group(fair_share_.users(resource).front().flow, rests);
  }
  for (FlowNumber number = 0; number < flows_.size(); ++number)
    if (const Flow& flow = flows_[number];
        (flow.state == State::starting || flow.state == State::queued) && is_off(flow.way.resources))
      rests.push_back(take_rest(number, flow.way.volume, std::max(flow.since, agenda_.now().value())));
  for (CutFlow& rest : rests)
    cutting_->cut(std::move(rest));
}

void FlowNetwork::turn_on(const std::vector<int>& resources)
{
  off_.resize(resources_);
  for (const int resource : resources)
    off_[static_cast<std::size_t>(resource)] = false;
}

void FlowNetwork::set_capacity(int resource, double capacity)
{
  if (vary_)
    fixed_capacities_[static_cast<std::size_t>(resource)] = capacity;
  fair_share_.set_capacity(resource, vary_ ? ways_.capacity(resource, capacity) : capacity);
}

void FlowNetwork::set_loss(int resource, double probability)
{
  if (losses_->probability(resource) == probability)
    return;
  std::vector<std::pair<FlowNumber, double>> efforts; // previous efforts of messages in flight
  for (FlowNumber number = 0; number < flows_.size(); ++number)
    if (const Flow& flow = flows_[number];
        flow.from >= 0 && std::ranges::find(flow.way.resources, resource) != flow.way.resources.end())
      if (flow.state == State::starting || flow.state == State::flowing)
        efforts.emplace_back(number, losses_->effort(flow.way.resources));
  losses_->set(resource, probability);
  for (const auto& [number, effort] : efforts)
    enlarge(number, losses_->effort(flows_[number].way.resources) / effort);
  forget_routes();
}

/** Multiplies the remainder of a message by @p factor. */
void FlowNetwork::enlarge(FlowNumber number, double factor)
{
  Flow& flow = flows_[number];
  flow.way.volume *= factor;
  if (flow.state != State::flowing)
    return;
  Group& group = groups_[flow.group];
  advance(group);
  const auto its = std::ranges::find(group.members, number, &Member::flow);
  its->until     = group.served + (its->until - group.served) * factor;
  std::ranges::make_heap(group.members, Member::later);
  set_rate(group, group.rate);
  ends_.set(flow.group, group.ends);
}

void FlowNetwork::update_capacities(const std::vector<int>& resources)
{
  if (vary_)
    ask_capacities(resources);
}

void FlowNetwork::forget_routes()
{
  for (Flow& flow : flows_)
    flow.bytes = -std::abs(flow.bytes); // so that it equals no message
}

bool FlowNetwork::resume(CutFlow& rest)
{
  const std::vector<int>* const route = rest.from < 0 ? &rest.way.resources : ways_.known_route(rest.from, rest.to);
  if (not route || is_off(*route))
    return false;
  const FlowNumber number = borrow(rest.from);
  Flow& flow              = flows_[number];
  if (rest.from < 0) {
    flow.way = std::move(rest.way);
    if (follows_)
      ways_.entered(flow.way);
  } else {
    flow.way.resources.clear();
    ways_.find_rest(rest.from, rest.to, rest.bytes, rest.missed, rest.part, flow.way);
  }
  flow.way.volume *= rest.part;
  if (loses() && rest.from >= 0)
    flow.way.volume *= losses_->effort(flow.way.resources);
  flow.state    = State::starting;
  flow.from     = rest.from;
  flow.to       = rest.to;
  flow.missed   = rest.missed;
  flow.bytes    = -rest.bytes.value();
  flow.since    = agenda_.now().value();
  flow.part     = rest.from < 0 ? 1 : rest.part;
  flow.messages = std::move(rest.messages);
  begin_latency(number);
  return true;
}

/** Returns a flow of start() that is in flight; NONE if there is none. */
FlowNumber FlowNetwork::find_started(const Receiving& receiver, std::uint64_t message) const
{
  for (FlowNumber number = 0; number < flows_.size(); ++number) {
    const Flow& flow = flows_[number];
    if (flow.from < 0 && flow.state != State::ended && not flow.messages.empty() &&
        flow.messages.front().receiver == &receiver && flow.messages.front().number == message)
      return number;
  }
  return NONE;
}

double FlowNetwork::part_left(FlowNumber number) const
{
  const Flow& flow = flows_[number];
  if (flow.state != State::flowing)
    return 1;
  const Group& group = groups_[flow.group];
  const auto its     = std::ranges::find(group.members, number, &Member::flow);
  return std::max(0.0, its->until - served(group)) / flow.way.volume;
}

std::optional<double> FlowNetwork::left(const Receiving& receiver, std::uint64_t message) const
{
  const FlowNumber number = find_started(receiver, message);
  return number == NONE ? std::nullopt : std::optional(part_left(number));
}

std::optional<double> FlowNetwork::cancel(const Receiving& receiver, std::uint64_t message)
{
  const FlowNumber number = find_started(receiver, message);
  if (number == NONE)
    return std::nullopt;
  const double part = part_left(number);
  if (flows_[number].state == State::flowing) {
    Group& group = groups_[flows_[number].group];
    advance(group);
    std::erase_if(group.members, [number](const Member& one) { return one.flow == number; });
    std::ranges::make_heap(group.members, Member::later);
  }
  release(number);
  return part;
}

/** Ends a flow at this instant, if its group is no longer in use. */
void FlowNetwork::end_now(FlowNumber number)
{
  Flow& flow = flows_[number];
  flow.state = State::ended;
  ++flow.version;
  agenda_.add(agenda_.now(), *this, due_of(number, flow.version));
}

} // namespace weft
