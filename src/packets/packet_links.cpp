// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/packet_links.hpp"

#include "base/error.hpp"
#include "model/noise/random.hpp"
#include "packets/congestion/round_trip.hpp"
#include "packets/packet_senders.hpp"
#include "packets/packet_trees.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace weft {
namespace {

constexpr double INPUT_BUFFER   = 64000; // bytes of an InfiniBand switch's port (ib_flit_sim, IS4)
constexpr double XOFF_PACKETS   = 15;    // csg-htsim, main_roce.cpp
constexpr double XON_PACKETS    = 12;
constexpr double QUEUED_PACKETS = 200;
constexpr double ECN_RATE       = 25e9 / 8; // HPCC, run.py: thresholds grow with the rate
constexpr double ECN_MIN        = 100e3;
constexpr double ECN_MAX        = 400e3;
constexpr double NSCC_ECN_MIN   = 0.2; // of the packets of a round trip (uet-htsim, main_uec.cpp)
constexpr double NSCC_ECN_MAX   = 0.8;
constexpr int THRESHOLDS        = 16; // InfiniBand's Threshold decreases in even steps from 1 to 15

} // namespace

PacketLinks::PacketLinks(const Fabric& fabric, PacketEvents& events, PacketWork& work)
    : fabric_(fabric), model_(fabric.packets()), events_(events), work_(work),
      lossy_(model_.flow_control == FlowControl::none), pauses_(model_.flow_control == FlowControl::pfc),
      cuts_through_(model_.switching == Switching::cut_through), trims_(model_.trims()), marks_(model_.marks()),
      marks_roots_(model_.marks_roots()), lanes_(static_cast<std::uint32_t>(model_.lanes_in_use())),
      packet_size_(model_.packet.value()), control_size_(model_.control_packet.value()),
      seed_(fabric.noise() ? static_cast<std::uint64_t>(fabric.noise()->seed) : 1),
      ports_(fabric.links().size() * lanes_), limits_(fabric.links().size()), balancer_(fabric)
{
  if (ports_.size() >= PacketEvents::LIMIT)
    throw UserError(fabric.file() + ": has too many links for a network of packets; allowed: fewer than " +
                    grouped(PacketEvents::LIMIT));
  if (pauses_)
    paused_at_.resize(ports_.size());
  if (model_.congestion_control == CongestionControl::nscc)
    round_trip_ = base_round_trip(fabric).value();
  std::vector<double> took;
  for (std::size_t id = 0; id < limits_.size(); ++id) {
    set_up(static_cast<LinkId>(id), fabric.links()[id]);
    took.push_back(wire(static_cast<LinkId>(id)).took);
  }
  routes_.emplace(fabric, static_cast<int>(lanes_), std::move(took));
}

/** Sets the constants of a link. Throws UserError if its buffer lets no packet through, or loses some despite PFC. */
void PacketLinks::set_up(LinkId id, const Link& link)
{
  const double rate   = link.bandwidth.value();
  const bool to_host  = fabric_.topology().is_host(link.to);
  const double behind = to_host ? 0 : fabric_.model_at(link.to).hop_latency().value();
  PortLimits& its     = limits(id);
  its.ecn_min         = ECN_MIN * rate / ECN_RATE;
  its.ecn_max         = ECN_MAX * rate / ECN_RATE;
  double most_packets = QUEUED_PACKETS;
  if (round_trip_ > 0) {
    most_packets = std::ceil(round_trip_ * rate / packet_size_);
    its.ecn_min  = std::ceil(NSCC_ECN_MIN * most_packets) * packet_size_;
    its.ecn_max  = std::ceil(NSCC_ECN_MAX * most_packets) * packet_size_;
  }
  if (model_.ecn_max > Bytes()) {
    its.ecn_min = model_.ecn_min.value();
    its.ecn_max = model_.ecn_max.value();
  }
  const double latency = link.latency.value();
  const double loop    = (latency + (latency + behind)) * rate + 2 * packet_size_;
  if (lossy_)
    its.buffer = model_.buffer > Bytes() ? model_.buffer.value() : most_packets * packet_size_;
  const double room = model_.buffer > Bytes() ? model_.buffer.value() / lanes_ : std::max(INPUT_BUFFER / lanes_, loop);
  if (model_.marks_roots()) {
    const int weight = model_.infiniband.threshold;
    its.ecn_min      = weight > 0 ? room * (THRESHOLDS - weight) / THRESHOLDS : NEVER_S;
    its.victim_s     = room / rate;
  }
  for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
    PacketPort& port = (&wire(id))[lane];
    port.cable       = latency;
    port.took        = latency + behind;
    set_pace(port, rate);
    if (model_.flow_control == FlowControl::credits && not to_host)
      port.room = room;
  }
  if (pauses_)
    set_pauses(its, link, loop);
}

void PacketLinks::set_pauses(PortLimits& limits, const Link& link, double loop) const
{
  limits.xoff         = model_.xoff > Bytes() ? model_.xoff.value() : XOFF_PACKETS * packet_size_;
  limits.xon          = model_.xoff > Bytes() ? model_.xon.value() : XON_PACKETS * packet_size_;
  const double needed = loop + control_size_;
  if (model_.headroom > Bytes() && model_.headroom.value() < needed)
    throw UserError(fabric_.file() + ": [network] headroom: found " + to_text(model_.headroom) + ", but " +
                    to_text(Bytes(std::ceil(needed))) + " may arrive over " + link.name +
                    " until a pause takes effect; allowed: at least that, or no headroom");
}

void PacketLinks::set_pace(PacketPort& port, double rate)
{
  port.per_byte    = 1 / rate;
  port.ends        = events_.lane(packet_size_ * port.per_byte, 0);
  port.arrives     = events_.lane(packet_size_ * port.per_byte, port.took);
  port.arrives_cut = events_.lane(0, port.took);
}

void PacketLinks::prefetch() const
{
  constexpr std::size_t PACKET_AHEAD = 6;
  constexpr std::size_t PORT_AHEAD   = 3;
  if (const auto far = events_.peek(PACKET_AHEAD); far && far->kind() == PacketEvent::arrival)
    __builtin_prefetch(&pool_[far->index()]);
  const auto near = events_.peek(PORT_AHEAD);
  if (not near)
    return;
  if (near->kind() == PacketEvent::arrival) {
    const Packet& packet = pool_[near->index()];
    if (packet.hop + 1 < packet.hops && packet.kind == PacketKind::data && not packet.balanced)
      __builtin_prefetch(&ports_[routes_->port(packet.route + packet.hop + 1U)]);
  } else if (near->kind() == PacketEvent::wake) {
    __builtin_prefetch(&ports_[std::size_t{near->index()} * lanes_]);
  }
}

// ---- Sending

void PacketLinks::wake(LinkId link, double time)
{
  PacketPort& its = wire(link);
  if (its.wake_at != time) // another one was earlier
    return;
  its.wake_at = NEVER_S;
  kick(link);
}

void PacketLinks::wake_port(LinkId link, double time, PacketEvents::Lane lane)
{
  PacketPort& its = wire(link);
  if (time >= its.wake_at)
    return;
  its.wake_at = time;
  events_.add(lane, time, PacketEvent::wake, static_cast<std::uint32_t>(link));
}

void PacketLinks::kick(LinkId link)
{
  if (const PacketPort& its = wire(link); its.free_at > now_)
    wake_port(link, its.free_at);
  else
    send_next(link);
}

void PacketLinks::send_next(LinkId link)
{
  PacketPort& its = wire(link);
  if (its.leaving != NO_IN_PORT)
    free_buffer(std::exchange(its.leaving, NO_IN_PORT), its.serving);
  if (its.off)
    return;
  if (not its.control.empty()) {
    transmit(link, its, its, its.control.pop(pool_));
    return;
  }
  if (lanes_ == 1) {
    send_data(link, its, its);
    return;
  }
  for (std::uint32_t tried = 0; tried < lanes_; ++tried) {
    const std::uint32_t lane = its.turn;
    its.turn                 = static_cast<std::uint8_t>(lane + 1 < lanes_ ? lane + 1 : 0);
    if (send_data(link, its, (&its)[lane]))
      return;
  }
}

/** Sends the next packet of a lane, or of the host, if it may; returns whether it did. */
bool PacketLinks::send_data(LinkId link, PacketPort& wire, PacketPort& out)
{
  if (out.paused)
    return false;
  const bool may_inject        = out.first_transfer != NO_NUMBER && (out.data.empty() || not out.injects);
  const std::uint32_t transfer = may_inject ? senders_->ready(out) : NO_NUMBER;
  if (transfer == NO_NUMBER && out.data.empty())
    return false;
  const bool injects = transfer != NO_NUMBER;
  const double bytes = injects ? senders_->next_size(transfer) : pool_[out.data.head].size;
  if (not has_room(link, out, bytes)) {
    out.starved_at = NEVER_S;
    return false;
  }
  out.injects = injects;
  if (injects) {
    senders_->send_packet(link, out, transfer);
    return true;
  }
  const PacketNumber number = out.data.pop(pool_);
  out.queued -= pool_[number].size;
  if (marks_roots_)
    mark_root(link, out, pool_[number]);
  else if (marks_)
    mark(link, out, pool_[number]);
  transmit(link, wire, out, number);
  return true;
}

/** Returns whether the buffer behind a lane has room; if not, the link wakes up when it has. */
bool PacketLinks::has_room(LinkId link, PacketPort& out, double bytes)
{
  while (out.room < bytes && out.returning.any() && out.returning.next() <= now_)
    out.room += out.returning.take();
  if (out.room >= bytes)
    return true;
  if (const double when = out.returning.when(bytes - out.room); when < NEVER_S)
    wake_port(link, when);
  return false;
}

bool PacketLinks::has_data(const PacketPort& wire) const
{
  if (lanes_ == 1)
    return not wire.data.empty();
  return std::any_of(&wire, &wire + lanes_, [](const PacketPort& lane) { return not lane.data.empty(); });
}

/** Sends a packet over an idle link, in lane @p out of it. */
void PacketLinks::transmit(LinkId link, PacketPort& wire, PacketPort& out, PacketNumber number)
{
  Packet& packet    = pool_[number];
  const double size = packet.size;
  const bool last   = packet.hop + 1 == packet.hops;
  // With cut-through, the tail may still be on its way here.
  const double end = cuts_through_ ? std::max(now_ + size * wire.per_byte, packet.tail) : now_ + size * wire.per_byte;
  const bool full  = size == packet_size_;
  const bool data  = packet.kind == PacketKind::data;
  wire.free_at     = end;
  wire.serving     = data ? size : 0;
  packet.tail      = end + wire.took;
  ++work_.hops;
  if (data) {
    if (packet.in_port != NO_IN_PORT) {
      if (pauses_)
        wire.leaving = packet.in_port;
      else
        give_back(packet.in_port, size, end);
    }
    packet.in_port = last && not packet.in_tree ? NO_IN_PORT : static_cast<std::int32_t>(&out - ports_.data());
    if (out.room != NEVER_S)
      out.room -= size;
  }
  if (cuts_through_ && not last)
    events_.add(wire.arrives_cut, now_ + wire.took, PacketEvent::arrival, number);
  else
    events_.add(full ? wire.arrives : PacketEvents::NO_LANE, packet.tail, PacketEvent::arrival, number);
  if (wire.leaving != NO_IN_PORT || has_data(wire) || not wire.control.empty() || wire.first_transfer != NO_NUMBER)
    wake_port(link, end, full ? wire.ends : PacketEvents::NO_LANE);
  if (packet.in_tree && packet.hop == 0)
    trees_->left(packet.transfer, static_cast<std::uint32_t>(packet.to));
}

/** Returns the credits of a packet that leaves its input buffer at @p time. */
void PacketLinks::give_back(std::int32_t port, double size, double time)
{
  PacketPort& in = ports_[static_cast<std::size_t>(port)];
  if (in.room == NEVER_S)
    return;
  const double known = time + in.cable;
  in.returning.add(known, size);
  if (in.data.empty() && in.first_transfer == NO_NUMBER)
    return;
  const LinkId link = link_of(static_cast<std::size_t>(port));
  wake_port(link, std::max(known, wire(link).free_at));
}

/** With PFC: frees the buffer that a packet has occupied. */
void PacketLinks::free_buffer(std::int32_t port, double size)
{
  const auto number = static_cast<std::size_t>(port);
  PacketPort& in    = ports_[number];
  in.buffered -= size;
  if (not in.pausing || in.buffered > limits(link_of(number)).xon)
    return;
  in.pausing = false;
  events_.add(now_ + in.cable + control_size_ * in.per_byte, PacketEvent::resume, static_cast<std::uint32_t>(port));
}

// ---- Arrivals

/** Returns the link of a packet's current hop. */
LinkId PacketLinks::crossed_by(const Packet& packet) const
{
  if (packet.balanced)
    return static_cast<LinkId>(packet.route);
  if (packet.goes_forward())
    return routes_->link(packet.route + packet.hop);
  return reverse(routes_->link(packet.route + packet.hops - 1U - packet.hop));
}

void PacketLinks::answer(PacketNumber number)
{
  const LinkId link = crossed_by(pool_[number]);
  if (wire(link).off) {
    discard(number, true, false);
    return;
  }
  wire(link).control.push(pool_, number);
  kick(link);
}

void PacketLinks::arrive(PacketNumber number)
{
  Packet& packet = pool_[number];
  if (faulty_ && loses(packet)) {
    discard(number, packet.lost, false);
    return;
  }
  if (++packet.hop == packet.hops) {
    if (packet.in_tree)
      trees_->arrived(number);
    else
      senders_->receive(number);
    pool_.release(number);
    return;
  }
  if (packet.kind != PacketKind::data) {
    if (packet.kind == PacketKind::headers)
      forward_headers(number);
    else
      answer(number);
    return;
  }
  if (pauses_)
    occupy(packet);
  if (not packet.balanced)
    enqueue(routes_->port(packet.route + packet.hop), number);
  else if (choose_hop(packet))
    enqueue(static_cast<std::size_t>(packet.route) * lanes_ + packet.lane, number);
  else
    discard(number, true, true);
}

/** With PFC: a packet needs room in the buffer of its input port. */
void PacketLinks::occupy(const Packet& packet)
{
  PacketPort& in = ports_[static_cast<std::size_t>(packet.in_port)];
  in.buffered += packet.size;
  work_.most_buffered = std::max(work_.most_buffered, in.buffered);
  if (in.pausing || in.buffered <= limits(link_of(static_cast<std::size_t>(packet.in_port))).xoff)
    return;
  in.pausing = true;
  events_.add(now_ + in.cable + control_size_ * in.per_byte, PacketEvent::pause,
              static_cast<std::uint32_t>(packet.in_port));
}

void PacketLinks::take_in(const Packet& packet, double time)
{
  if (not pauses_)
    give_back(packet.in_port, packet.size, time);
}

void PacketLinks::queue_copies(const Packet& packet, const std::vector<PacketNumber>& copies)
{
  const auto delay = [this](PacketNumber copy) { return delay_of(routes_->link(pool_[copy].route)); };
  pool_[*std::ranges::max_element(copies, {}, delay)].in_port = packet.in_port;
  if (pauses_)
    occupy(packet);
  for (const PacketNumber copy : copies)
    queue(copy);
}

/** Returns the time after which a link would begin to send another packet, if nothing but its queue held it up. */
double PacketLinks::delay_of(LinkId link) const
{
  const PacketPort* const its = &ports_[static_cast<std::size_t>(link) * lanes_];
  double queued               = 0;
  for (std::uint32_t lane = 0; lane < lanes_; ++lane)
    queued += its[lane].queued;
  return std::max(0.0, its->free_at - now_) + queued * its->per_byte;
}

/** Moves a packet at the end of its link to the next hop that its switch chooses; returns whether there is one. */
bool PacketLinks::choose_hop(Packet& packet)
{
  const auto link                 = static_cast<LinkId>(packet.route);
  const std::span<const Hop> hops = balancer_.next_hops(fabric_.link(link).to, packet.to);
  if (hops.empty())
    return false;
  std::size_t chosen = hops.size() == 1 ? 0 : balancer_.turn(link, hops.size());
  if (model_.load_balancing == LoadBalancing::shortest_queue && hops.size() > 1) {
    const std::size_t first = chosen; // equal ones in turn
    double least            = delay_of(hops[first].link);
    for (std::size_t ahead = 1; ahead < hops.size() && least > 0; ++ahead) {
      const std::size_t one = (first + ahead) % hops.size();
      if (const double delay = delay_of(hops[one].link); delay < least) {
        least  = delay;
        chosen = one;
      }
    }
  }
  packet.lane  = routes_->lane_after(packet.lane, link, hops[chosen].link);
  packet.route = static_cast<std::uint32_t>(hops[chosen].link);
  return true;
}

void PacketLinks::enqueue(std::size_t port, PacketNumber number)
{
  PacketPort& out      = ports_[port];
  const Packet& packet = pool_[number];
  const LinkId link    = lanes_ == 1 ? static_cast<LinkId>(port) : link_of(port);
  if (faulty_ && wire(link).off) {
    discard(number, true, true);
    return;
  }
  if (lossy_ && out.queued + (out.free_at > now_ ? out.serving : 0) + packet.size > limits(link).buffer) {
    overflow(link, out, number);
    return;
  }
  out.queued += packet.size;
  work_.most_queued = std::max(work_.most_queued, out.queued);
  out.data.push(pool_, number);
  kick(link);
}

/** Drops a packet that reaches a full queue, or trims it or the newest one in the queue. */
void PacketLinks::overflow(LinkId link, PacketPort& out, PacketNumber number)
{
  if (not trims_ || pool_[number].in_tree) {
    const Packet packet = pool_[number];
    ++work_.dropped;
    pool_.release(number);
    if (packet.in_tree && packet.hop == 0)
      trees_->left(packet.transfer, static_cast<std::uint32_t>(packet.to));
    if (packet.in_tree)
      trees_->lost(packet);
    return;
  }
  ++work_.trimmed;
  Packet& packet = pool_[number];
  if (not out.data.empty() && not pool_[out.data.tail].in_tree &&
      uniform(seed_, {static_cast<std::uint32_t>(work_.hops), packet.transfer, packet.sequence, RandomPurpose::TRIMS}) <
          0.5) {
    Packet& newest = pool_[out.data.tail];
    out.queued += packet.size - newest.size;
    std::swap(packet, newest); // the arriving one takes its place in the queue
    std::swap(packet.next, newest.next);
  }
  packet.kind    = PacketKind::headers;
  packet.size    = control_size_;
  packet.tail    = now_;
  packet.in_port = NO_IN_PORT;
  wire(link).control.push(pool_, number);
  kick(link);
}

/** Sends the headers of a trimmed packet on from a switch. */
void PacketLinks::forward_headers(PacketNumber number)
{
  Packet& packet = pool_[number];
  if (packet.balanced && not choose_hop(packet))
    discard(number, true, false);
  else
    answer(number);
}

/** Marks a packet with a probability that grows with the queue that it leaves behind. */
void PacketLinks::mark(LinkId link, PacketPort& out, Packet& packet)
{
  const PortLimits& its = limits(link);
  const double queued   = out.queued;
  if (packet.marked || queued <= its.ecn_min)
    return;
  const double part = (queued - its.ecn_min) / (its.ecn_max - its.ecn_min);
  packet.marked     = queued >= its.ecn_max || draw_mark() < part * model_.ecn_probability;
  work_.marked += packet.marked ? 1 : 0;
}

/** Marks a packet that leaves a queue behind it, with InfiniBand's congestion control: one in Marking_Rate + 1, unless
 * its lane has lacked credits of late, so that the root of the congestion is elsewhere. */
void PacketLinks::mark_root(LinkId link, PacketPort& out, Packet& packet)
{
  const InfinibandModel& its = model_.infiniband;
  out.starved_at             = std::min(out.starved_at, now_);
  if (packet.marked || out.queued <= limits(link).ecn_min || packet.size < its.packet_size.value() ||
      (its.victim_mask == VictimMask::none && now_ - out.starved_at < limits(link).victim_s))
    return;
  packet.marked = draw_mark() * (its.marking_rate + 1) < 1;
  work_.marked += packet.marked ? 1 : 0;
}

/** Draws a number from 0 to 1 for the packet that moves now. */
double PacketLinks::draw_mark() const
{
  constexpr unsigned HALF = 32;
  return uniform(seed_, {static_cast<std::uint32_t>(work_.hops), static_cast<std::uint32_t>(work_.hops >> HALF), 0,
                         RandomPurpose::MARKS});
}

void PacketLinks::set_paused(std::uint32_t port, bool paused)
{
  ports_[port].paused = paused;
  if (paused) {
    ++work_.pauses;
    paused_at_[port] = now_;
    return;
  }
  work_.paused_s += now_ - paused_at_[port];
  kick(link_of(port));
}

// ---- Faults

/** Returns whether a packet that arrives at the end of a link was lost on it. */
bool PacketLinks::loses(const Packet& packet)
{
  if (packet.lost)
    return true;
  const double probability = limits(crossed_by(packet)).loss;
  return probability > 0 && losses_->draw() < probability;
}

/** Removes a packet that a fault has hit. @p cut: a link is down, not just lossy. @p buffered: the packet has reached
 * the end of its link. */
void PacketLinks::discard(PacketNumber number, bool cut, bool buffered)
{
  Packet packet = pool_[number];
  packet.lost   = cut;
  ++work_.lost;
  if (packet.kind == PacketKind::data && packet.in_port != NO_IN_PORT) {
    if (not pauses_)
      give_back(packet.in_port, packet.size, now_);
    else if (buffered)
      free_buffer(packet.in_port, packet.size);
  }
  pool_.release(number);
  if (packet.in_tree)
    trees_->lost(packet);
  else
    senders_->lose(packet);
}

void PacketLinks::discard_queues(LinkId link)
{
  PacketPort& its = wire(link);
  while (not its.control.empty())
    discard(its.control.pop(pool_), true, false);
  for (std::uint32_t lane = 0; lane < lanes_; ++lane) {
    PacketPort& out = (&its)[lane];
    while (not out.data.empty())
      discard(out.data.pop(pool_), true, true);
    out.queued = 0;
  }
}

/** Marks the packets on links as lost, also those whose tails are still on them. */
void PacketLinks::lose_in_flight(const std::vector<LinkId>& links)
{
  std::vector<bool> cut(limits_.size());
  for (const LinkId link : links)
    cut[static_cast<std::size_t>(link)] = true;
  events_.for_each([&](const PacketEvents::Entry& event) {
    if (event.kind() != PacketEvent::arrival)
      return;
    Packet& packet = pool_[event.index()];
    packet.lost |= cut[static_cast<std::size_t>(crossed_by(packet))];
  });
  if (cuts_through_)
    pool_.for_each([&](Packet& packet) {
      if (packet.in_port != NO_IN_PORT && packet.tail > now_)
        packet.lost |= cut[static_cast<std::size_t>(link_of(static_cast<std::size_t>(packet.in_port)))];
    });
}

void PacketLinks::turn_off(const std::vector<LinkId>& links)
{
  if (links.empty())
    return;
  faulty_ = true;
  lose_in_flight(links);
  for (const LinkId link : links)
    wire(link).off = true;
  for (const LinkId link : links) {
    discard_queues(link);
    senders_->lose_link(wire(link));
  }
}

void PacketLinks::turn_on(const std::vector<LinkId>& links)
{
  for (const LinkId link : links) {
    wire(link).off = false;
    kick(link);
  }
}

void PacketLinks::set_bandwidth(LinkId link, double bytes_per_second)
{
  for (std::uint32_t lane = 0; lane < lanes_; ++lane)
    set_pace((&wire(link))[lane], bytes_per_second);
}

void PacketLinks::set_loss(LinkId link, double probability)
{
  faulty_           = true;
  limits(link).loss = probability;
}

} // namespace weft
