// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/packet_trees.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace weft {

PacketTrees::PacketTrees(const Fabric& fabric, PacketEvents& events, PacketWork& work, PacketLinks& links,
                         std::optional<double> timeout)
    : fabric_(fabric), events_(events), work_(work), links_(links),
      cuts_through_(fabric.packets().switching == Switching::cut_through), timeout_(timeout)
{
}

// ---- Calls

PacketTrees::Number PacketTrees::add_call()
{
  if (idle_calls_.empty()) {
    idle_calls_.push_back(static_cast<Number>(calls_.size()));
    calls_.emplace_back();
  }
  const Number number = idle_calls_.back();
  idle_calls_.pop_back();
  calls_[number] = {};
  ++busy_;
  return number;
}

PacketTrees::Node PacketTrees::node_of(const TreePackets::Edge& edge) const
{
  Node node;
  node.parent = edge.parent;
  if (edge.parent < 0)
    return node;
  node.up                   = edge.crossing != TreePackets::Crossing::down;
  node.down                 = edge.crossing != TreePackets::Crossing::up;
  std::vector<LinkId> links = edge.links;
  node.upwards              = links_.routes().store(links.data(), links.data() + links.size());
  std::ranges::reverse(links);
  for (LinkId& link : links)
    link = reverse(link);
  node.downwards = links_.routes().store(links.data(), links.data() + links.size());
  return node;
}

void PacketTrees::set_up(Call& call, const TreePackets& its) const
{
  call.combines     = its.combines;
  call.switches     = static_cast<Number>(its.switches.size());
  call.packets      = static_cast<Number>(its.packets);
  call.payload      = its.payload.value();
  call.last_payload = its.last_payload.value();
  call.overhead     = its.overhead.value();
  call.interval     = call.payload / its.member_rate.value();
  call.nodes.reserve(its.switches.size() + its.members.size());
  for (const TreePackets::Switch& one : its.switches) {
    Node& node = call.nodes.emplace_back(node_of(one.edge));
    // The latency of a link includes that of forwarding at its end.
    node.combining = std::max(0.0, (one.combining - fabric_.model_at(one.vertex).hop_latency()).value());
    node.per_byte  = 1 / one.rate.value();
  }
  for (const TreePackets::Edge& member : its.members) {
    const Node& node = call.nodes.emplace_back(node_of(member));
    call.receivers += node.down ? 1 : 0;
  }
  for (Number child = 1; child < call.nodes.size(); ++child)
    call.nodes[static_cast<std::size_t>(call.nodes[child].parent)].below.push_back(child);
}

void PacketTrees::start(const TreePackets& its, Seconds jitter, std::function<void()> done)
{
  const Number number = add_call();
  Call& call          = calls_[number];
  call.done           = std::move(done);
  set_up(call, its);
  const double loop = longest_loop(call);
  call.reaction     = std::max(0.0, its.reuse.value() - loop);
  call.window       = window_of(call, its.window, loop);
  if (call.combines)
    set_up_slots(call);
  if (timeout_) {
    if (not call.combines || call.receivers < its.members.size())
      throw std::logic_error("packets can be lost whose members learn of no result");
    call.resends.emplace(call.nodes.size(), call.window, *timeout_);
  }
  add_step(now_ + (its.delay + jitter).value(), {number, NO_NUMBER, call.window});
}

void PacketTrees::set_up_slots(Call& call)
{
  for (Number at = 0; at < call.switches; ++at) {
    Node& node            = call.nodes[at];
    const bool from_above = node.down && not node.up;
    node.expects          = from_above ? 1 : 0;
    for (const Number child : node.below)
      node.expects += call.nodes[child].up ? 1 : 0;
    node.contributions.resize(call.window);
  }
}

/** Returns the packets that a member sends before it needs results: @p asked, if that is not 0. */
PacketTrees::Number PacketTrees::window_of(const Call& call, std::int64_t asked, double loop) const
{
  if (not call.combines)
    return call.packets;
  if (asked == 0) {
    constexpr double LEAST = 16;
    const double on_link =
        links_.per_byte(links_.routes().link(call.nodes.back().upwards.first)) * (call.payload + call.overhead);
    asked = static_cast<std::int64_t>(LEAST + 2 * loop / on_link);
  }
  return static_cast<Number>(std::min<std::int64_t>(asked, call.packets));
}

/** Returns the time of a packet on an idle route. */
double PacketTrees::way(const StoredRoute& route, double bytes) const
{
  double on_links = 0;
  for (std::uint32_t hop = 0; hop < route.hops; ++hop) {
    const double on_link = bytes * links_.per_byte(links_.routes().link(route.first + hop));
    on_links             = cuts_through_ ? std::max(on_links, on_link) : on_links + on_link;
  }
  return route.latency + on_links;
}

/** Returns the time from a packet to its result on an idle tree. */
double PacketTrees::longest_loop(const Call& call) const
{
  const double bytes = call.payload + call.overhead;
  std::vector<double> up(call.nodes.size());
  std::vector<double> down(call.nodes.size());
  double most_up   = 0;
  double most_down = 0;
  for (Number at = 0; at < call.nodes.size(); ++at) {
    const Node& node = call.nodes[at];
    if (node.parent >= 0) {
      up[at]   = up[static_cast<std::size_t>(node.parent)] + way(node.upwards, bytes);
      down[at] = down[static_cast<std::size_t>(node.parent)] + way(node.downwards, bytes);
    }
    up[at] += node.combining;
    if (at < call.switches)
      continue;
    most_up   = std::max(most_up, up[at]);
    most_down = std::max(most_down, down[at]);
  }
  return most_up + most_down;
}

void PacketTrees::add_step(double time, const Step& step)
{
  if (idle_steps_.empty()) {
    idle_steps_.push_back(static_cast<Number>(steps_.size()));
    steps_.emplace_back();
  }
  const Number number = idle_steps_.back();
  idle_steps_.pop_back();
  steps_[number] = step;
  ++calls_[step.call].pending;
  events_.add(time, PacketEvent::tree, number);
}

void PacketTrees::due(Number number)
{
  const Step step = steps_[number];
  idle_steps_.push_back(number);
  if (not calls_[step.call].ended)
    go_on(step);
  settle(step.call);
}

void PacketTrees::go_on(const Step& step)
{
  if (step.packet == Step::TIMER)
    expire(step.call, step.node);
  else if (step.node != NO_NUMBER && step.node < calls_[step.call].switches)
    pass_on(step.call, step.node, step.packet);
  else if (step.packet == Step::COPIED)
    left(step.call, 2 * step.node);
  else
    allow(step.call, step.node, step.packet);
}

/** A packet or step of a call has arrived. After the last one, its number is free. */
void PacketTrees::settle(Number number)
{
  Call& call = calls_[number];
  if (--call.pending > 0 || not call.ended)
    return;
  call.ended = false;
  idle_calls_.push_back(number);
}

// ---- Members

/** Lets a member, or all of them, send @p packets packets. */
void PacketTrees::allow(Number number, Number member, Number packets)
{
  Call& call         = calls_[number];
  const Number first = member == NO_NUMBER ? call.switches : member;
  const Number last  = member == NO_NUMBER ? static_cast<Number>(call.nodes.size()) : member + 1;
  for (Number at = first; at < last; ++at) {
    if (call.resends && packets > call.window)
      call.resends->allow(at, packets - 1); // results of other slots may be missing
    else
      call.nodes[at].allowed = std::max(call.nodes[at].allowed, packets);
    send_next(number, at);
  }
}

/** Queues the next packet of a member at its first link, if none of it waits there. */
void PacketTrees::send_next(Number number, Number member)
{
  Call& call       = calls_[number];
  Node& node       = call.nodes[member];
  const bool again = resends(call, member);
  if (not node.up || node.busy || (not again && node.sent == std::min(node.allowed, call.packets)))
    return;
  node.busy = true;
  if (node.copied_at > now_) {
    add_step(node.copied_at, {number, member, Step::COPIED});
    return;
  }
  node.copied_at      = now_ + call.interval;
  const Number packet = again ? call.resends->take_next(member) : node.sent++;
  if (call.resends)
    set_timer(number, member, call.resends->sent(member, packet, now_));
  links_.queue(send(number, member, false, packet));
}

void PacketTrees::set_timer(Number number, Number member, std::optional<double> time)
{
  if (time)
    add_step(*time, {number, member, Step::TIMER});
}

/** Sends packets of a member again whose results have not come in time. */
void PacketTrees::expire(Number number, Number member)
{
  TreeResends& resends    = *calls_[number].resends;
  const std::size_t again = resends.expire(member, now_);
  work_.timeouts += again > 0 ? 1 : 0;
  work_.sent_again += again;
  set_timer(number, member, resends.next_timer(member));
  send_next(number, member);
}

void PacketTrees::left(Number number, Number edge)
{
  const Number member = edge / 2;
  const bool down     = edge % 2 == 1;
  if (down || member < calls_[number].switches || calls_[number].ended)
    return;
  calls_[number].nodes[member].busy = false;
  send_next(number, member);
}

void PacketTrees::receive(Number number, Number member, Number packet)
{
  Call& call = calls_[number];
  Node& node = call.nodes[member];
  if (call.resends && not call.resends->take_result(member, packet))
    return;
  if (call.window < call.packets && packet + call.window < call.packets) {
    const Number waits = node.up ? member : NO_NUMBER; // only the root of a Reduce has results: they go for all
    if (call.reaction > 0)
      add_step(now_ + call.reaction, {number, waits, packet + 1 + call.window});
    else
      allow(number, waits, packet + 1 + call.window);
  }
  if (++node.received < call.packets || --call.receivers > 0)
    return;
  ended_.push_back(std::move(call.done));
  const Number pending = call.pending; // at least the last packet
  call                 = {};
  call.pending         = pending;
  call.ended           = true;
  --busy_;
}

// ---- Packets

/** Makes a packet that crosses the edge of a node. */
PacketNumber PacketTrees::send(Number number, Number node, bool down, Number sequence)
{
  ++work_.packets;
  Call& call                = calls_[number];
  const Node& its           = call.nodes[node];
  const StoredRoute& route  = down ? its.downwards : its.upwards;
  const PacketNumber packet = links_.pool().borrow();
  work_.most_packets        = links_.pool().most();
  Packet& made              = links_.pool()[packet];
  made.size                 = (sequence + 1 == call.packets ? call.last_payload : call.payload) + call.overhead;
  made.sent                 = now_;
  made.transfer             = number;
  made.sequence             = sequence;
  made.route                = route.first;
  made.hops                 = route.hops;
  made.to                   = static_cast<std::int32_t>(2 * node + (down ? 1U : 0U));
  made.in_tree              = true;
  ++call.pending;
  return packet;
}

void PacketTrees::arrived(PacketNumber taken)
{
  const Packet packet = links_.pool()[taken]; // others may move it
  if (not calls_[packet.transfer].ended)
    take(packet);
  settle(packet.transfer);
}

void PacketTrees::lost(const Packet& packet)
{
  settle(packet.transfer);
}

/** Takes a packet in at the end of its edge. */
void PacketTrees::take(const Packet& packet)
{
  Call& call       = calls_[packet.transfer];
  const auto child = static_cast<Number>(packet.to / 2);
  const bool down  = packet.to % 2 == 1;
  if (down && child >= call.switches) {
    receive(packet.transfer, child, packet.sequence);
    return;
  }
  const Number node = down ? child : static_cast<Number>(call.nodes[child].parent);
  if (not call.combines || (down && call.nodes[child].up)) {
    if (not call.resends || call.resends->take_result(node, packet.sequence))
      copy(packet.transfer, node, packet);
  } else if (call.resends && not call.resends->give(child, packet.sequence)) {
    answer(packet.transfer, node, child, packet.sequence);
  } else {
    contribute(packet.transfer, node, packet);
  }
}

/** Answers a packet that a switch has already counted. */
void PacketTrees::answer(Number number, Number node, Number child, Number sequence)
{
  const Call& call = calls_[number];
  if (not call.resends->has_combined(node, sequence))
    return;
  if (call.nodes[node].up && not call.resends->has_result(node, sequence))
    links_.queue(send(number, node, false, sequence));
  else
    links_.queue(send(number, child, true, sequence));
}

/** Adds a packet to its slot. */
void PacketTrees::contribute(Number number, Number node, const Packet& packet)
{
  const Call& call   = calls_[number];
  Node& its          = calls_[number].nodes[node];
  const double bytes = packet.sequence + 1 == call.packets ? call.last_payload : call.payload;
  its.busy_until     = std::max(its.busy_until, now_) + bytes * its.per_byte;
  links_.take_in(packet, its.busy_until);
  Number& slot = its.contributions[packet.sequence % call.window];
  if (++slot < its.expects)
    return;
  slot = 0;
  if (const double sends = its.busy_until + its.combining; sends > now_)
    add_step(sends, {number, node, packet.sequence});
  else
    pass_on(number, node, packet.sequence);
}

/** Sends a result on. */
void PacketTrees::pass_on(Number number, Number node, Number sequence)
{
  Call& call      = calls_[number];
  const Node& its = call.nodes[node];
  if (call.resends)
    call.resends->combine(node, sequence);
  if (its.up) {
    links_.queue(send(number, node, false, sequence));
    return;
  }
  for (const Number child : its.below)
    if (calls_[number].nodes[child].down)
      links_.queue(send(number, child, true, sequence));
}

/** Copies a packet from a switch to all edges but the one over which it came. */
void PacketTrees::copy(Number number, Number node, const Packet& packet)
{
  const Node& its                   = calls_[number].nodes[node];
  const bool down                   = packet.to % 2 == 1;
  std::vector<PacketNumber>& copies = copies_;
  copies.clear();
  if (its.up && not down)
    copies.push_back(send(number, node, false, packet.sequence));
  for (const Number child : its.below)
    if (calls_[number].nodes[child].down)
      copies.push_back(send(number, child, true, packet.sequence));
  links_.queue_copies(packet, copies);
}

} // namespace weft
