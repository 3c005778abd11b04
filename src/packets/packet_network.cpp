// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/packet_network.hpp"

#include "base/error.hpp"
#include "model/noise/random.hpp"

#include <algorithm>
#include <cmath>

namespace weft {
namespace {

constexpr double INPUT_BUFFER   = 64000; // bytes of an InfiniBand switch's port (ib_flit_sim, IS4)
constexpr double XOFF_PACKETS   = 15;    // csg-htsim, main_roce.cpp
constexpr double XON_PACKETS    = 12;
constexpr double QUEUED_PACKETS = 200;
constexpr double ECN_RATE       = 25e9 / 8; // HPCC, run.py: thresholds grow with the rate
constexpr double ECN_MIN        = 100e3;
constexpr double ECN_MAX        = 400e3;
constexpr double ROUNDING       = 1e-9; // of packets: a rest of less is none

} // namespace

PacketNetwork::PacketNetwork(Agenda& agenda, MessageRoutes& routes, const Fabric& fabric, Messages& local)
    : agenda_(agenda), routes_(routes), fabric_(fabric), local_(local), model_(fabric.packets()),
      control_(find_congestion_control(model_.congestion_control)), lossy_(model_.flow_control == FlowControl::none),
      pauses_(model_.flow_control == FlowControl::pfc), acknowledges_(model_.acknowledges()),
      cuts_through_(model_.switching == Switching::cut_through), packet_size_(model_.packet.value()),
      control_size_(model_.control_packet.value()),
      seed_(fabric.noise() ? static_cast<std::uint64_t>(fabric.noise()->seed) : 1), ports_(fabric.links().size()),
      limits_(fabric.links().size())
{
  if (ports_.size() >= PacketEvents::LIMIT)
    throw UserError(fabric.file() + ": has too many links for a network of packets; allowed: fewer than " +
                    grouped(PacketEvents::LIMIT));
  for (std::size_t id = 0; id < ports_.size(); ++id)
    set_up(ports_[id], limits_[id], fabric.links()[id]);
  agenda.include(*this);
}

/** Sets the constants of a port. Throws UserError if its buffer lets no packet through, or loses some despite PFC. */
void PacketNetwork::set_up(Port& port, PortLimits& limits, const Link& link)
{
  const double rate   = link.bandwidth.value();
  const bool to_host  = fabric_.topology().is_host(link.to);
  const double behind = to_host ? 0 : fabric_.model_at(link.to).hop_latency().value();
  port.per_byte       = 1 / rate;
  port.cable          = link.latency.value();
  port.took           = port.cable + behind;
  port.ends           = events_.lane(packet_size_ * port.per_byte, 0);
  port.arrives        = events_.lane(packet_size_ * port.per_byte, port.took);
  port.arrives_cut    = events_.lane(0, port.took);
  limits.ecn_min      = model_.ecn_max > Bytes() ? model_.ecn_min.value() : ECN_MIN * rate / ECN_RATE;
  limits.ecn_max      = model_.ecn_max > Bytes() ? model_.ecn_max.value() : ECN_MAX * rate / ECN_RATE;
  const double loop   = (port.cable + port.took) * rate + 2 * packet_size_;
  if (lossy_)
    limits.buffer = model_.buffer > Bytes() ? model_.buffer.value() : QUEUED_PACKETS * packet_size_;
  if (model_.flow_control == FlowControl::credits && not to_host)
    port.room = model_.buffer > Bytes() ? model_.buffer.value() : std::max(INPUT_BUFFER, loop);
  if (not pauses_)
    return;
  limits.xoff         = model_.xoff > Bytes() ? model_.xoff.value() : XOFF_PACKETS * packet_size_;
  limits.xon          = model_.xoff > Bytes() ? model_.xon.value() : XON_PACKETS * packet_size_;
  const double needed = loop + control_size_;
  if (model_.headroom > Bytes() && model_.headroom.value() < needed)
    throw UserError(fabric_.file() + ": [network] headroom: found " + to_text(model_.headroom) + ", but " +
                    to_text(Bytes(std::ceil(needed))) + " may arrive over " + link.name +
                    " until a pause takes effect; allowed: at least that, or no headroom");
}

void PacketNetwork::ReturningCredits::add(Credit credit)
{
  if (not any()) {
    all_.clear();
    first_ = 0;
  } else if (first_ > all_.size() / 2) {
    all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  auto place = all_.end(); // nearly always
  while (place != all_.begin() + static_cast<std::ptrdiff_t>(first_) && (place - 1)->time > credit.time)
    --place;
  all_.insert(place, credit);
}

/** Removes the next credit, and returns its bytes. */
double PacketNetwork::ReturningCredits::take()
{
  return all_[first_++].bytes;
}

double PacketNetwork::ReturningCredits::when(double bytes) const
{
  for (std::size_t at = first_; at < all_.size(); ++at) {
    bytes -= all_[at].bytes;
    if (bytes <= 0)
      return all_[at].time;
  }
  return NEVER;
}

// ---- Messages

void PacketNetwork::send(int from, int to, Bytes bytes, double missed, Receiving& receiver, std::uint64_t message)
{
  if (from == to) {
    local_.send(from, to, bytes, missed, receiver, message);
    return;
  }
  way_.resources.clear();
  routes_.find(from, to, bytes, missed, way_);
  post(from, to, receiver, message, agenda_.now().value());
}

void PacketNetwork::send_on_sockets(const SocketMessage& message, Receiving& receiver, std::uint64_t number)
{
  if (message.from == message.to) {
    local_.send_on_sockets(message, receiver, number);
    return;
  }
  way_.resources.clear();
  if (message.from_socket == SocketMessage::UNKNOWN)
    routes_.find(message.from, message.to, message.bytes, message.missed, way_);
  else
    routes_.find_on_sockets(message, way_);
  post(message.from, message.to, receiver, number, message.since.value_or(agenda_.now()).value());
}

/** Processes the events that were left when the agenda was cleared: no message was in flight. */
void PacketNetwork::catch_up()
{
  asleep_         = false;
  const double to = agenda_.now().value();
  while (events_.next() < to)
    step(events_.take());
}

/** Starts the transfers of a message whose route is way_, and whose latency began at @p since. */
void PacketNetwork::post(int from, int to, Receiving& receiver, std::uint64_t number, double since)
{
  if (asleep_)
    catch_up();
  now_ = std::max(now_, agenda_.now().value());
  ++work_.messages;
  if (idle_messages_.empty()) {
    idle_messages_.push_back(static_cast<Number>(messages_.size()));
    messages_.emplace_back();
  }
  const Number message = idle_messages_.back();
  idle_messages_.pop_back();
  messages_[message].receiver  = &receiver;
  messages_[message].number    = number;
  messages_[message].transfers = 0;
  if (routes_.vary() || routes_.follows())
    messages_[message].way = way_;

  // The resources are the links of one stripe after the other, each with the media and memories that it uses.
  std::vector<int>& links = way_.resources;
  std::erase_if(links, [this](int resource) { return std::cmp_greater_equal(resource, ports_.size()); });
  double path = 0;
  std::vector<Number> begun;
  for (auto first = links.begin(); first != links.end();) {
    const auto end = std::find_if(first + 1, links.end(), [&](int link) { return fabric_.link(link).from == from; });
    const StoredRoute route = store(&*first, &*first + (end - first));
    begun.push_back(add_transfer(message, route, connect(from, to, *first)));
    path  = std::max(path, route.latency);
    first = end;
  }
  const double starts = std::max(now_, since + way_.latency - path);
  for (const Number transfer : begun) {
    if (starts > now_) {
      transfers_[transfer].place = Place::starting;
      events_.add(starts, PacketEvent::start, transfer);
    } else {
      make_ready(transfer);
    }
  }
}

/** Returns the position of a route's links, which are stored once. */
PacketNetwork::StoredRoute PacketNetwork::store(const int* first, const int* last)
{
  constexpr std::uint64_t BASIS = 0xcbf29ce484222325; // FNV-1a, draft-eastlake-fnv, by words instead of octets
  constexpr std::uint64_t PRIME = 0x100000001b3;
  std::uint64_t hash            = BASIS;
  for (const int* link = first; link != last; ++link)
    hash = (hash ^ static_cast<std::uint64_t>(*link)) * PRIME;
  const auto hops                  = static_cast<std::uint16_t>(last - first);
  std::vector<StoredRoute>& equals = stored_[hash];
  for (const StoredRoute& known : equals)
    if (known.hops == hops && std::equal(first, last, links_.begin() + known.first))
      return known;
  StoredRoute route{static_cast<std::uint32_t>(links_.size()), hops, 0};
  for (const int* link = first; link != last; ++link)
    route.latency += port(*link).took;
  links_.insert(links_.end(), first, last);
  equals.push_back(route);
  return route;
}

/** Returns the connection of transfers between two vertices that leave by link @p first; NONE without congestion
 * control, which connections are for. */
PacketNetwork::Number PacketNetwork::connect(int from, int to, LinkId first)
{
  if (not control_)
    return NONE;
  constexpr unsigned HALF = 32;
  // A host has one connection to another by each of its links, which is known by either end of the pair.
  const std::uint64_t key   = static_cast<std::uint64_t>(first) << HALF | static_cast<std::uint32_t>(to);
  const auto [found, isnew] = connection_between_.try_emplace(key, static_cast<Number>(connections_.size()));
  if (isnew) {
    Connection& connection     = connections_.emplace_back();
    connection.state.line_rate = fabric_.link(first).bandwidth.value();
    control_->begin(connection.state, model_);
  }
  static_cast<void>(from); // the tail of `first`
  return found->second;
}

PacketNetwork::Number PacketNetwork::add_transfer(Number message, const StoredRoute& route, Number connection)
{
  if (idle_transfers_.empty()) {
    idle_transfers_.push_back(static_cast<Number>(transfers_.size()));
    transfers_.emplace_back();
    if (transfers_.size() >= PacketEvents::LIMIT)
      throw UserError("the network of packets has too many messages in flight; allowed: fewer than " +
                      grouped(PacketEvents::LIMIT));
  }
  const Number number = idle_transfers_.back();
  idle_transfers_.pop_back();
  Transfer& transfer  = transfers_[number];
  const bool timer    = transfer.timer;
  const Number next   = transfer.generation + 1;
  transfer            = {};
  transfer.timer      = timer;
  transfer.generation = next;
  transfer.bytes      = way_.volume;
  transfer.message    = message;
  transfer.connection = connection;
  transfer.route      = route.first;
  transfer.hops       = route.hops;
  const double count  = std::ceil(way_.volume / packet_size_ - ROUNDING);
  transfer.packets    = static_cast<std::uint32_t>(std::max(1.0, count));
  ++messages_[message].transfers;
  return number;
}

double PacketNetwork::size_of(const Transfer& transfer, std::uint32_t sequence) const
{
  return sequence + 1 < transfer.packets ? packet_size_ : transfer.bytes - sequence * packet_size_;
}

bool PacketNetwork::carries_foreground() const
{
  return std::ranges::any_of(messages_, [](const Message& message) {
    return message.receiver && dynamic_cast<const BackgroundReceiver*>(message.receiver) == nullptr;
  });
}

// ---- Events

bool PacketNetwork::run(double now)
{
  bool any = false;
  while (events_.next() <= now || Agenda::same(now, events_.next())) {
    const PacketEvents::Entry event = events_.take();
    prefetch();
    step(event);
    if (arrived_.empty())
      continue;
    any = true;
    std::swap(telling_, arrived_); // receivers may send
    for (const auto& [receiver, number] : telling_)
      receiver->arrived(number);
    telling_.clear();
  }
  return any;
}

/** Prefetches what the next events of the same kind need. */
void PacketNetwork::prefetch() const
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
    if (packet.hop + 1 < packet.hops && packet.kind == PacketKind::data)
      __builtin_prefetch(&ports_[static_cast<std::size_t>(links_[packet.route + packet.hop + 1U])]);
  } else if (near->kind() == PacketEvent::wake) {
    __builtin_prefetch(&ports_[near->index()]);
  }
}

void PacketNetwork::step(const PacketEvents::Entry& event)
{
  ++work_.events;
  now_                = event.time;
  const Number number = event.index();
  const auto link     = static_cast<LinkId>(number);
  switch (event.kind()) {
    case PacketEvent::wake:
      if (port(link).wake_at != event.time) // another one was earlier
        return;
      port(link).wake_at = NEVER;
      kick(link);
      return;
    case PacketEvent::arrival:
      arrive(number);
      return;
    case PacketEvent::start:
      make_ready(number);
      return;
    case PacketEvent::pause:
    case PacketEvent::resume:
      set_paused(link, event.kind() == PacketEvent::pause);
      return;
    case PacketEvent::pace:
      if (connections_[number].paced_at != event.time)
        return;
      connections_[number].paced_at = NEVER;
      admit(number);
      return;
    case PacketEvent::control:
      if (connections_[number].due_at != event.time)
        return;
      connections_[number].due_at = NEVER;
      if (connections_[number].state.due <= now_)
        control_->due(connections_[number].state, model_, now_);
      schedule_control(number);
      admit(number);
      return;
    case PacketEvent::timeout:
      check_deadline(number);
      return;
  }
}

void PacketNetwork::wake_port(LinkId link, double time, PacketEvents::Lane lane)
{
  Port& out = port(link);
  if (time >= out.wake_at)
    return;
  out.wake_at = time;
  events_.add(lane, time, PacketEvent::wake, static_cast<std::uint32_t>(link));
}

/** Sends the next packet of a link if it is idle, else when it will be. */
void PacketNetwork::kick(LinkId link)
{
  if (const Port& out = port(link); out.free_at > now_)
    wake_port(link, out.free_at);
  else
    send_next(link);
}

void PacketNetwork::send_next(LinkId link)
{
  Port& out = port(link);
  release_leaving(out);
  if (send_control(link, out) || out.paused)
    return;
  const bool may_inject = out.first_transfer != NONE && (out.data.empty() || not out.injects);
  const Number transfer = may_inject ? ready_transfer(out) : NONE;
  if (transfer == NONE && out.data.empty())
    return;
  const bool injects = transfer != NONE;
  const double bytes =
      injects ? size_of(transfers_[transfer], transfers_[transfer].to_send) : pool_[out.data.head].size;
  if (not has_room(link, out, bytes))
    return;
  out.injects = injects;
  if (injects) {
    inject(link, out, transfer);
    return;
  }
  const PacketNumber number = out.data.pop(pool_);
  out.queued -= pool_[number].size;
  transmit(link, out, number);
}

bool PacketNetwork::send_control(LinkId link, Port& out)
{
  if (out.control.empty())
    return false;
  transmit(link, out, out.control.pop(pool_));
  return true;
}

/** Returns the next transfer of a port whose connection lets it send; NONE if there is none. */
PacketNetwork::Number PacketNetwork::ready_transfer(Port& out)
{
  while (out.first_transfer != NONE) {
    const Number number      = out.first_transfer;
    const Transfer& transfer = transfers_[number];
    if (transfer.to_send < transfer.packets &&
        (transfer.connection == NONE ||
         may_send(connections_[transfer.connection], size_of(transfer, transfer.to_send))))
      return number;
    out.first_transfer = transfer.next;
    if (transfer.to_send < transfer.packets)
      await_connection(number);
    else
      has_sent(number);
  }
  return NONE;
}

/** Returns whether the buffer behind a link has room; if not, the link wakes up when it has. */
bool PacketNetwork::has_room(LinkId link, Port& out, double bytes)
{
  while (out.room < bytes && out.returning.any() && out.returning.next().time <= now_)
    out.room += out.returning.take();
  if (out.room >= bytes)
    return true;
  if (const double when = out.returning.when(bytes - out.room); when < NEVER)
    wake_port(link, when);
  return false;
}

/** Sends a packet over an idle link. */
void PacketNetwork::transmit(LinkId link, Port& out, PacketNumber number)
{
  Packet& packet    = pool_[number];
  const double size = packet.size;
  const bool last   = packet.hop + 1 == packet.hops;
  const double end  = cuts_through_ ? std::max(now_ + size * out.per_byte, packet.tail) : now_ + size * out.per_byte;
  const bool full   = size == packet_size_;
  const bool data   = packet.kind == PacketKind::data;
  out.free_at       = end;
  out.serving       = data ? size : 0;
  packet.tail       = end + out.took;
  ++work_.hops;
  if (data) {
    if (packet.in_link != NO_IN_LINK) {
      if (pauses_)
        out.leaving = packet.in_link;
      else
        give_back(packet, end);
    }
    packet.in_link = last ? NO_IN_LINK : link;
    if (out.room != NEVER)
      out.room -= size;
  }
  if (cuts_through_ && not last)
    events_.add(out.arrives_cut, now_ + out.took, PacketEvent::arrival, number);
  else
    events_.add(full ? out.arrives : PacketEvents::NO_LANE, packet.tail, PacketEvent::arrival, number);
  if (out.leaving != NO_IN_LINK || not out.data.empty() || not out.control.empty() || out.first_transfer != NONE)
    wake_port(link, end, full ? out.ends : PacketEvents::NO_LANE);
}

/** Returns the credits of a packet that has left its input buffer at @p time. */
void PacketNetwork::give_back(const Packet& packet, double time)
{
  Port& in = port(packet.in_link);
  if (in.room == NEVER)
    return;
  const double known = time + in.cable;
  in.returning.add({known, packet.size});
  if (not in.data.empty() || in.first_transfer != NONE)
    wake_port(packet.in_link, std::max(known, in.free_at));
}

/** With PFC: frees the buffer that the packet sent last has occupied. */
void PacketNetwork::release_leaving(Port& out)
{
  if (out.leaving == NO_IN_LINK)
    return;
  const LinkId link = out.leaving;
  Port& in          = port(link);
  out.leaving       = NO_IN_LINK;
  in.buffered -= out.serving;
  if (not in.pausing || in.buffered > limits(link).xon)
    return;
  in.pausing = false;
  events_.add(now_ + in.cable + control_size_ * in.per_byte, PacketEvent::resume, static_cast<std::uint32_t>(link));
}

LinkId PacketNetwork::link_of(const Packet& packet) const
{
  if (packet.kind == PacketKind::data)
    return links_[packet.route + packet.hop];
  return reverse(links_[packet.route + packet.hops - 1U - packet.hop]);
}

void PacketNetwork::arrive(PacketNumber number)
{
  Packet& packet = pool_[number];
  if (++packet.hop == packet.hops) {
    receive(number);
    pool_.release(number);
    return;
  }
  if (packet.kind != PacketKind::data) {
    const LinkId onward = link_of(packet);
    port(onward).control.push(pool_, number);
    kick(onward);
    return;
  }
  if (pauses_) {
    const LinkId link = packet.in_link;
    Port& in          = port(link);
    in.buffered += packet.size;
    work_.most_buffered = std::max(work_.most_buffered, in.buffered);
    if (not in.pausing && in.buffered > limits(link).xoff) {
      in.pausing = true;
      events_.add(now_ + in.cable + control_size_ * in.per_byte, PacketEvent::pause, static_cast<std::uint32_t>(link));
    }
  }
  enqueue(link_of(packet), number);
}

void PacketNetwork::enqueue(LinkId link, PacketNumber number)
{
  Port& out      = port(link);
  Packet& packet = pool_[number];
  if (lossy_ && out.queued + (out.free_at > now_ ? out.serving : 0) + packet.size > limits(link).buffer) {
    ++work_.dropped;
    pool_.release(number);
    return;
  }
  if (model_.marks())
    mark(link, packet);
  out.queued += packet.size;
  work_.most_queued = std::max(work_.most_queued, out.queued);
  out.data.push(pool_, number);
  kick(link);
}

/** Marks a packet with a probability that grows with the queue that it joins. */
void PacketNetwork::mark(LinkId link, Packet& packet)
{
  const PortLimits& its = limits(link);
  const double queued   = port(link).queued;
  if (packet.marked || queued <= its.ecn_min)
    return;
  constexpr unsigned HALF = 32;
  const double part       = (queued - its.ecn_min) / (its.ecn_max - its.ecn_min);
  packet.marked = queued >= its.ecn_max || uniform(seed_, {static_cast<std::uint32_t>(work_.hops),
                                                           static_cast<std::uint32_t>(work_.hops >> HALF), 0,
                                                           RandomPurpose::MARKS}) < part * model_.ecn_probability;
  work_.marked += packet.marked ? 1 : 0;
}

void PacketNetwork::set_paused(LinkId link, bool paused)
{
  Port& out  = port(link);
  out.paused = paused;
  if (paused) {
    ++work_.pauses;
    limits(link).paused_at = now_;
    return;
  }
  work_.paused_s += now_ - limits(link).paused_at;
  kick(link);
}

// ---- Senders

/** Puts a transfer in line at its port. */
void PacketNetwork::make_ready(Number number)
{
  Transfer& transfer = transfers_[number];
  const LinkId link  = first_link(transfer);
  Port& out          = port(link);
  transfer.place     = Place::ready;
  transfer.next      = NONE;
  if (out.first_transfer == NONE)
    out.first_transfer = number;
  else
    transfers_[out.last_transfer].next = number;
  out.last_transfer = number;
  kick(link);
}

/** Makes the next packet of the first transfer in line, and sends it. */
void PacketNetwork::inject(LinkId link, Port& out, Number number)
{
  Transfer& transfer         = transfers_[number];
  const PacketNumber created = pool_.borrow();
  Packet& packet             = pool_[created];
  packet.size                = size_of(transfer, transfer.to_send);
  packet.sent                = now_;
  packet.transfer            = number;
  packet.generation          = transfer.generation;
  packet.sequence            = transfer.to_send;
  packet.route               = transfer.route;
  packet.hops                = transfer.hops;
  ++work_.packets;
  work_.most_packets = pool_.most();
  if (transfer.to_send < transfer.most)
    ++work_.sent_again;
  ++transfer.to_send;
  transfer.most      = std::max(transfer.most, transfer.to_send);
  out.first_transfer = transfer.next;
  if (acknowledges_)
    expect_answer(number);

  const double size       = packet.size;
  const Number connection = transfer.connection;
  if (connection != NONE) {
    Connection& its = connections_[connection];
    its.in_flight += size;
    if (its.state.rate != ConnectionState::UNLIMITED)
      its.send_at = std::max(its.send_at, now_) + size / its.state.rate;
    control_->sent(its.state, model_, size);
    schedule_control(connection);
  }
  transmit(link, out, created);
  if (transfer.to_send == transfer.packets)
    transfer.place = Place::sent;
  else if (connection == NONE)
    make_ready(number);
  else
    await_connection(number);
  if (connection != NONE)
    admit(connection);
}

bool PacketNetwork::may_send(const Connection& connection, double bytes) const
{
  return (connection.state.rate == ConnectionState::UNLIMITED || connection.send_at <= now_) &&
         (connection.in_flight <= 0 || connection.in_flight + bytes <= connection.state.window);
}

/** Takes a transfer that has nothing to send out of line: acknowledgements came for what was to be sent again. */
void PacketNetwork::has_sent(Number number)
{
  Transfer& transfer = transfers_[number];
  transfer.place     = Place::sent;
  if (transfer.settled == transfer.packets)
    release(number);
}

/** Lets a transfer wait until its connection may send. */
void PacketNetwork::await_connection(Number number)
{
  Transfer& transfer     = transfers_[number];
  Connection& connection = connections_[transfer.connection];
  transfer.place         = Place::waiting;
  transfer.next          = NONE;
  if (connection.first == NONE)
    connection.first = number;
  else
    transfers_[connection.last].next = number;
  connection.last = number;
  pace(transfer.connection);
}

/** Lets the next transfer of a connection send, if the connection may. */
void PacketNetwork::admit(Number number)
{
  Connection& connection = connections_[number];
  while (connection.first != NONE && transfers_[connection.first].to_send == transfers_[connection.first].packets) {
    const Number done = connection.first;
    connection.first  = transfers_[done].next;
    has_sent(done);
  }
  if (connection.first == NONE)
    return;
  const Number transfer = connection.first;
  if (not may_send(connection, size_of(transfers_[transfer], transfers_[transfer].to_send))) {
    pace(number);
    return;
  }
  connection.first = transfers_[transfer].next;
  make_ready(transfer);
}

/** Makes the event at which a connection may send by its rate. */
void PacketNetwork::pace(Number number)
{
  Connection& connection = connections_[number];
  if (connection.first == NONE || connection.state.rate == ConnectionState::UNLIMITED || connection.send_at <= now_ ||
      connection.paced_at <= connection.send_at)
    return;
  connection.paced_at = connection.send_at;
  events_.add(connection.send_at, PacketEvent::pace, number);
}

void PacketNetwork::schedule_control(Number number)
{
  Connection& connection = connections_[number];
  if (connection.state.due >= connection.due_at)
    return;
  connection.due_at = connection.state.due;
  events_.add(connection.due_at, PacketEvent::control, number);
}

// ---- Receivers, and what senders do with their answers

void PacketNetwork::receive(PacketNumber number)
{
  const Packet packet = pool_[number]; // answers may move it
  if (transfers_[packet.transfer].generation != packet.generation || transfers_[packet.transfer].place == Place::idle)
    return; // of a transfer that has ended
  if (packet.kind == PacketKind::data) {
    receive_data(packet);
  } else if (packet.kind == PacketKind::notification) {
    const Number connection = transfers_[packet.transfer].connection;
    control_->notified(connections_[connection].state, model_, now_);
    schedule_control(connection);
  } else {
    acknowledge(packet);
  }
}

void PacketNetwork::receive_data(const Packet& packet)
{
  Transfer& transfer = transfers_[packet.transfer];
  if (packet.marked && now_ - connections_[transfer.connection].notified >= model_.dcqcn.cnp_interval.value()) {
    connections_[transfer.connection].notified = now_;
    ++work_.notifications;
    answer(packet, PacketKind::notification, 0);
  }
  if (not lossy_) {
    if (acknowledges_)
      answer(packet, PacketKind::acknowledgement, packet.sequence + 1);
    if (++transfer.received < transfer.packets)
      return;
    arrived(transfer.message);
    if (not acknowledges_)
      release(packet.transfer);
    return;
  }
  if (packet.sequence > transfer.received) { // after a gap
    if (transfer.rejected != transfer.received) {
      transfer.rejected = transfer.received;
      answer(packet, PacketKind::rejection, transfer.received);
    }
    return;
  }
  const bool is_next = packet.sequence == transfer.received;
  transfer.received += is_next ? 1 : 0;
  const bool last      = is_next && transfer.received == transfer.packets;
  const Number message = transfer.message;
  answer(packet, PacketKind::acknowledgement, transfer.received);
  if (last)
    arrived(message);
}

void PacketNetwork::answer(const Packet& packet, PacketKind kind, std::uint32_t sequence)
{
  const PacketNumber number = pool_.borrow();
  Packet& created           = pool_[number];
  created.size              = control_size_;
  created.sent              = packet.sent;
  created.transfer          = packet.transfer;
  created.generation        = packet.generation;
  created.sequence          = sequence;
  created.route             = packet.route;
  created.hops              = packet.hops;
  created.kind              = kind;
  const LinkId link         = link_of(created);
  port(link).control.push(pool_, number);
  kick(link);
}

void PacketNetwork::acknowledge(const Packet& packet)
{
  const Number number         = packet.transfer;
  Transfer& transfer          = transfers_[number];
  const Number connection     = transfer.connection;
  const std::uint32_t settled = transfer.settled;
  if (packet.sequence > settled) {
    double bytes = 0;
    for (std::uint32_t one = settled; one < packet.sequence; ++one)
      bytes += size_of(transfer, one);
    transfer.settled  = packet.sequence;
    transfer.to_send  = std::max(transfer.to_send, packet.sequence);
    transfer.deadline = now_ + model_.retransmission_timeout.value();
    if (connection != NONE) {
      Connection& its = connections_[connection];
      its.in_flight   = std::max(0.0, its.in_flight - bytes);
      control_->acknowledged(its.state, model_, {now_, now_ - packet.sent, bytes, packet.hops});
      schedule_control(connection);
    }
  }
  if (transfer.settled == transfer.packets) {
    if (transfer.place == Place::sent) // otherwise its turn comes first
      release(number);
  } else if (packet.kind == PacketKind::rejection) {
    go_back(number, packet.sequence);
  }
  if (connection != NONE)
    admit(connection);
}

/** Sends again from a sequence number on. */
void PacketNetwork::go_back(Number number, std::uint32_t to)
{
  Transfer& transfer = transfers_[number];
  if (to >= transfer.to_send)
    return;
  if (transfer.connection != NONE) {
    Connection& connection = connections_[transfer.connection];
    for (std::uint32_t one = to; one < transfer.to_send; ++one)
      connection.in_flight -= size_of(transfer, one);
    connection.in_flight = std::max(0.0, connection.in_flight);
    control_->lost(connection.state, model_, now_);
  }
  transfer.to_send = to;
  if (transfer.place == Place::sent)
    make_ready(number);
}

/** Begins to wait for the acknowledgement of a packet. Without losses, acknowledgements need no deadline. */
void PacketNetwork::expect_answer(Number number)
{
  if (not lossy_)
    return;
  Transfer& transfer = transfers_[number];
  transfer.deadline  = now_ + model_.retransmission_timeout.value();
  if (transfer.timer)
    return;
  transfer.timer = true;
  events_.add(transfer.deadline, PacketEvent::timeout, number);
}

void PacketNetwork::check_deadline(Number number)
{
  Transfer& transfer = transfers_[number];
  transfer.timer     = false;
  if (transfer.place == Place::idle || transfer.most == 0)
    return;
  const bool late = transfer.deadline <= now_;
  transfer.timer  = true;
  events_.add(late ? now_ + model_.retransmission_timeout.value() : transfer.deadline, PacketEvent::timeout, number);
  if (not late || transfer.settled == transfer.to_send)
    return;
  ++work_.timeouts;
  transfer.deadline = now_ + model_.retransmission_timeout.value();
  transfer.rejected = NONE; // the receiver rejects the next gap, even the same one
  go_back(number, transfer.settled);
  if (transfer.connection != NONE)
    admit(transfer.connection);
}

void PacketNetwork::arrived(Number number)
{
  Message& message = messages_[number];
  if (--message.transfers > 0)
    return;
  if (routes_.vary() || routes_.follows())
    routes_.left(message.way);
  arrived_.emplace_back(message.receiver, message.number);
  message.receiver = nullptr;
  message.way      = {};
  idle_messages_.push_back(number);
}

void PacketNetwork::release(Number number)
{
  transfers_[number].place = Place::idle;
  idle_transfers_.push_back(number);
}

} // namespace weft
