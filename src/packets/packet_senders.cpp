// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/packet_senders.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace weft {
namespace {

constexpr double ROUNDING       = 1e-9; // of packets: a rest of less is none
constexpr double ROUNDING_BYTES = 1e-6; // sums of packets' sizes are off by less

} // namespace

PacketSenders::PacketSenders(const Fabric& fabric, PacketEvents& events, PacketWork& work, PacketLinks& links,
                             TransferredMessages& messages, const RecoveryModel* recovery)
    : fabric_(fabric), model_(fabric.packets()), events_(events), work_(work), links_(links), messages_(messages),
      recovery_(recovery), control_(find_congestion_control(model_.congestion_control)),
      reliable_(model_.flow_control == FlowControl::none || recovery),
      selective_(model_.retransmission == Retransmission::selective), acknowledges_(model_.acknowledges() || recovery),
      packet_size_(model_.packet.value()),
      timeout_((recovery ? recovery->timeout : model_.retransmission_timeout).value())
{
}

/** Returns the connection of transfers that leave a host by link @p first for another host; NO_NUMBER without
 * congestion control, which connections are for. */
PacketSenders::Number PacketSenders::connect(LinkId first, int to)
{
  if (not control_)
    return NO_NUMBER;
  constexpr unsigned HALF   = 32;
  const std::uint64_t key   = static_cast<std::uint64_t>(first) << HALF | static_cast<std::uint32_t>(to);
  const auto [found, isnew] = connection_between_.try_emplace(key, static_cast<Number>(connections_.size()));
  if (isnew) {
    Connection& connection      = connections_.emplace_back();
    connection.state.line_rate  = fabric_.link(first).bandwidth.value();
    connection.state.round_trip = links_.round_trip();
    control_->begin(connection.state, model_);
  }
  return found->second;
}

PacketSenders::Number PacketSenders::add(Number message, double bytes, const StoredRoute& route, int to,
                                         std::uint32_t stripe)
{
  const Number connection = connect(links_.routes().link(route.first), to);
  if (idle_.empty()) {
    idle_.push_back(static_cast<Number>(transfers_.size()));
    transfers_.emplace_back();
    if (transfers_.size() >= PacketEvents::LIMIT)
      throw UserError("the network of packets has too many messages in flight; allowed: fewer than " +
                      grouped(PacketEvents::LIMIT));
  }
  const Number number = idle_.back();
  idle_.pop_back();
  Transfer& transfer  = transfers_[number];
  const bool timer    = transfer.timer;
  const Number next   = transfer.generation + 1;
  transfer            = {};
  transfer.timer      = timer;
  transfer.generation = next;
  transfer.bytes      = bytes;
  transfer.message    = message;
  transfer.connection = connection;
  transfer.route      = route.first;
  transfer.hops       = route.hops;
  transfer.stripe     = stripe;
  const double count  = std::ceil(bytes / packet_size_ - ROUNDING);
  transfer.packets    = static_cast<std::uint32_t>(std::max(1.0, count));
  transfer.to         = to;
  balance(transfer);
  if (reliable_ && selective_) {
    transfer.selection = std::make_unique<Selection>();
    for (std::vector<bool>* const flags :
         {&transfer.selection->received, &transfer.selection->settled, &transfer.selection->in_flight})
      flags->resize(transfer.packets);
  }
  return number;
}

/** Lets switches choose the paths of a transfer behind the first link of its route, if they can. */
void PacketSenders::balance(Transfer& transfer)
{
  transfer.links = 0;
  if (not model_.balances())
    return;
  const VertexId first = fabric_.link(links_.routes().link(transfer.route)).to;
  if (LoadBalancer& balancer = links_.balancer(); balancer.reaches(first, transfer.to))
    transfer.links = static_cast<std::uint16_t>(balancer.distance(first, transfer.to) + 1);
}

void PacketSenders::start(Number transfer, double time)
{
  if (time <= now_) {
    make_ready(transfer);
    return;
  }
  transfers_[transfer].place = Place::starting;
  events_.add(time, PacketEvent::start, transfer);
}

void PacketSenders::pace_due(Number number, double time)
{
  Connection& connection = connections_[number];
  if (connection.paced_at != time)
    return;
  connection.paced_at = NEVER_S;
  admit(number);
}

void PacketSenders::control_due(Number number, double time)
{
  Connection& connection = connections_[number];
  if (connection.due_at != time)
    return;
  connection.due_at = NEVER_S;
  if (connection.state.due <= now_)
    control_->due(connection.state, model_, now_);
  schedule_control(number);
  admit(number);
}

PacketSenders::Number PacketSenders::ready(PacketPort& out)
{
  while (out.first_transfer != NO_NUMBER) {
    const Number number = out.first_transfer;
    Transfer& transfer  = transfers_[number];
    const bool more     = has_more(transfer);
    if (more && (transfer.connection == NO_NUMBER ||
                 may_send(connections_[transfer.connection], size_of(transfer, next_of(transfer)))))
      return number;
    out.first_transfer = transfer.next;
    if (more)
      await_connection(number);
    else
      has_sent(number);
  }
  return NO_NUMBER;
}

// ---- Senders

/** Returns whether a transfer has a packet to send. Forgets repetitions whose acknowledgements have come after all. */
bool PacketSenders::has_more(Transfer& transfer)
{
  if (transfer.selection) {
    std::deque<std::uint32_t>& again = transfer.selection->again;
    while (not again.empty() && transfer.selection->settled[again.front()])
      again.pop_front();
    if (not again.empty())
      return true;
  }
  return transfer.to_send < transfer.packets;
}

/** Puts a transfer in line at its port. */
void PacketSenders::make_ready(Number number)
{
  Transfer& transfer = transfers_[number];
  const LinkId link  = links_.routes().link(transfer.route);
  PacketPort& out    = links_.wire(link);
  if (out.off) {
    send_into_void(number);
    return;
  }
  transfer.place = Place::ready;
  append(number, out.first_transfer, out.last_transfer);
  links_.kick(link);
}

/** Appends a transfer to the line from @p first to @p last. */
void PacketSenders::append(Number number, Number& first, Number& last)
{
  transfers_[number].next = NO_NUMBER;
  if (first == NO_NUMBER)
    first = number;
  else
    transfers_[last].next = number;
  last = number;
}

void PacketSenders::send_packet(LinkId link, PacketPort& out, Number number)
{
  Transfer& transfer         = transfers_[number];
  const PacketNumber created = links_.pool().borrow();
  Packet& packet             = links_.pool()[created];
  packet.sequence            = next_of(transfer);
  packet.size                = size_of(transfer, packet.sequence);
  packet.sent                = now_;
  packet.transfer            = number;
  packet.generation          = transfer.generation;
  packet.route               = transfer.route;
  packet.hops                = transfer.hops;
  if (transfer.links > 0) {
    packet.balanced = true;
    packet.route    = static_cast<std::uint32_t>(link);
    packet.hops     = transfer.links;
    packet.to       = transfer.to;
  }
  ++work_.packets;
  work_.most_packets = links_.pool().most();
  if (packet.sequence < transfer.most)
    ++work_.sent_again;
  if (transfer.selection)
    transfer.selection->in_flight[packet.sequence] = true;
  if (packet.sequence < transfer.to_send)
    transfer.selection->again.pop_front();
  else
    ++transfer.to_send;
  transfer.most      = std::max(transfer.most, transfer.to_send);
  out.first_transfer = transfer.next;
  if (acknowledges_)
    expect_answer(number);

  const double size       = packet.size;
  const Number connection = transfer.connection;
  if (connection != NO_NUMBER) {
    Connection& its = connections_[connection];
    its.in_flight += size;
    if (its.state.rate != ConnectionState::UNLIMITED)
      its.send_at = std::max(its.send_at, now_) + size / its.state.rate;
    control_->sent(its.state, model_, size);
    schedule_control(connection);
  }
  links_.inject(link, created);
  if (not has_more(transfer))
    transfer.place = Place::sent;
  else if (connection == NO_NUMBER)
    make_ready(number);
  else
    await_connection(number);
  if (connection != NO_NUMBER)
    admit(connection);
}

/** Subtracts bytes that have arrived or are lost from what a connection has in flight. */
void PacketSenders::land(Connection& connection, double bytes)
{
  connection.in_flight -= bytes;
  if (connection.in_flight < ROUNDING_BYTES)
    connection.in_flight = 0;
}

bool PacketSenders::may_send(const Connection& connection, double bytes) const
{
  return (connection.state.rate == ConnectionState::UNLIMITED || connection.send_at <= now_) &&
         (connection.in_flight <= 0 || connection.in_flight + bytes <= connection.state.window);
}

/** Takes a transfer that has nothing to send out of line: acknowledgements came for what was to be sent again. */
void PacketSenders::has_sent(Number number)
{
  Transfer& transfer = transfers_[number];
  transfer.place     = Place::sent;
  if (transfer.settled == transfer.packets)
    release(number);
}

/** Lets a transfer wait until its connection may send. */
void PacketSenders::await_connection(Number number)
{
  Transfer& transfer     = transfers_[number];
  Connection& connection = connections_[transfer.connection];
  transfer.place         = Place::waiting;
  append(number, connection.first, connection.last);
  pace(transfer.connection);
}

/** Lets the next transfer of a connection send, if the connection may. */
void PacketSenders::admit(Number number)
{
  Connection& connection = connections_[number];
  while (connection.first != NO_NUMBER && not has_more(transfers_[connection.first])) {
    const Number done = connection.first;
    connection.first  = transfers_[done].next;
    has_sent(done);
  }
  if (connection.first == NO_NUMBER)
    return;
  const Number transfer = connection.first;
  if (not may_send(connection, next_size(transfer))) {
    pace(number);
    return;
  }
  connection.first = transfers_[transfer].next;
  make_ready(transfer);
}

/** Makes the event at which a connection may send by its rate. */
void PacketSenders::pace(Number number)
{
  Connection& connection = connections_[number];
  if (connection.first == NO_NUMBER || connection.state.rate == ConnectionState::UNLIMITED ||
      connection.send_at <= now_ || connection.paced_at <= connection.send_at)
    return;
  connection.paced_at = connection.send_at;
  events_.add(connection.send_at, PacketEvent::pace, number);
}

void PacketSenders::schedule_control(Number number)
{
  Connection& connection = connections_[number];
  if (connection.state.due >= connection.due_at)
    return;
  connection.due_at = connection.state.due;
  events_.add(connection.due_at, PacketEvent::control, number);
}

// ---- Receivers, and what senders do with their answers

void PacketSenders::receive(PacketNumber number)
{
  const Packet packet = links_.pool()[number];   // answers may move it
  if (packet.kind == PacketKind::notification) { // its transfer may have ended meanwhile
    control_->notified(connections_[packet.sequence].state, model_, now_);
    schedule_control(packet.sequence);
    return;
  }
  const Transfer& its = transfers_[packet.transfer];
  if (its.generation != packet.generation || its.place == Place::idle || its.abandoned)
    return; // of a transfer that has ended
  if (packet.kind == PacketKind::data) {
    receive_data(packet);
  } else if (packet.kind == PacketKind::headers) {
    receive_headers(packet);
  } else {
    acknowledge(packet);
  }
}

void PacketSenders::receive_data(const Packet& packet)
{
  Transfer& transfer = transfers_[packet.transfer];
  if (packet.marked && model_.notifies())
    notify(packet);
  if (transfer.selection) {
    receive_any(packet);
  } else if (reliable_) {
    receive_in_order(packet);
  } else {
    work_.overtaken += packet.sequence < transfer.expected ? 1 : 0;
    transfer.expected = std::max(transfer.expected, packet.sequence + 1);
    ++transfer.received;
    const bool last = transfer.received == transfer.packets;
    if (acknowledges_)
      answer(packet, PacketKind::acknowledgement, selective_ ? packet.sequence : packet.sequence + 1);
    if (last)
      messages_.transfer_arrived(transfers_[packet.transfer].message);
    if (last && not acknowledges_)
      release(packet.transfer);
  }
}

/** Notifies the sender of a marked packet, as soon as the interval after the last notification is over. */
void PacketSenders::notify(const Packet& packet)
{
  const Number number = transfers_[packet.transfer].connection;
  Connection& its     = connections_[number];
  if (its.notice != NO_PACKET)
    return;
  its.notice       = create_answer(packet, PacketKind::notification, number);
  const double due = its.notified + model_.notification_interval().value();
  if (due > now_)
    events_.add(due, PacketEvent::notice, number);
  else
    send_notice(number);
}

void PacketSenders::send_notice(Number connection)
{
  Connection& its = connections_[connection];
  its.notified    = now_;
  ++work_.notifications;
  links_.answer(std::exchange(its.notice, NO_PACKET));
}

/** Takes the next packet, and rejects the first one after a gap. */
void PacketSenders::receive_in_order(const Packet& packet)
{
  Transfer& transfer = transfers_[packet.transfer];
  if (packet.sequence > transfer.received) {
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
    messages_.transfer_arrived(message);
}

/** Takes a packet unless it has it, and asks for those that were lost before it. */
void PacketSenders::receive_any(const Packet& packet)
{
  Transfer& transfer               = transfers_[packet.transfer];
  const std::uint32_t expected     = transfer.expected;
  const std::uint32_t sequence     = packet.sequence;
  const Number message             = transfer.message;
  std::vector<bool>::reference its = transfer.selection->received[sequence];
  const bool last                  = not its && transfer.received + 1 == transfer.packets;
  transfer.received += its ? 0 : 1;
  its               = true;
  transfer.expected = std::max(expected, sequence + 1);
  work_.overtaken += sequence < expected ? 1 : 0;
  if (shows_losses(packet))
    for (std::uint32_t lacking = expected; lacking < sequence; ++lacking)
      answer(packet, PacketKind::rejection, lacking);
  answer(packet, PacketKind::acknowledgement, sequence);
  if (last)
    messages_.transfer_arrived(message);
}

/** Asks for a packet that was trimmed, unless it has come meanwhile. */
void PacketSenders::receive_headers(const Packet& packet)
{
  const bool known = transfers_[packet.transfer].selection->received[packet.sequence];
  answer(packet, known ? PacketKind::acknowledgement : PacketKind::rejection, packet.sequence);
}

PacketNumber PacketSenders::create_answer(const Packet& packet, PacketKind kind, std::uint32_t sequence)
{
  const PacketNumber number = links_.pool().borrow();
  Packet& created           = links_.pool()[number];
  created.size              = model_.control_packet.value();
  created.sent              = packet.sent;
  created.transfer          = packet.transfer;
  created.generation        = packet.generation;
  created.sequence          = sequence;
  created.route             = packet.balanced ? transfers_[packet.transfer].route : packet.route;
  created.hops              = packet.balanced ? transfers_[packet.transfer].hops : packet.hops;
  created.kind              = kind;
  created.marked            = packet.marked;
  return number;
}

void PacketSenders::answer(const Packet& packet, PacketKind kind, std::uint32_t sequence)
{
  links_.answer(create_answer(packet, kind, sequence));
}

/** Counts what an answer acknowledges; returns its bytes. */
double PacketSenders::settle(Transfer& transfer, const Packet& packet)
{
  double bytes = 0;
  if (not selective_) {
    for (std::uint32_t one = transfer.settled; one < packet.sequence; ++one)
      bytes += size_of(transfer, one);
    transfer.settled = std::max(transfer.settled, packet.sequence);
    transfer.to_send = std::max(transfer.to_send, packet.sequence);
    return bytes;
  }
  if (packet.kind == PacketKind::rejection || (transfer.selection && transfer.selection->settled[packet.sequence]))
    return 0;
  ++transfer.settled;
  if (not transfer.selection)
    return size_of(transfer, packet.sequence);
  transfer.selection->settled[packet.sequence]   = true;
  const bool counts                              = transfer.selection->in_flight[packet.sequence];
  transfer.selection->in_flight[packet.sequence] = false;
  return counts ? size_of(transfer, packet.sequence) : 0;
}

void PacketSenders::acknowledge(const Packet& packet)
{
  const Number number         = packet.transfer;
  Transfer& transfer          = transfers_[number];
  const Number connection     = transfer.connection;
  const std::uint32_t settled = transfer.settled;
  const double bytes          = settle(transfer, packet);
  if (transfer.settled > settled) {
    transfer.timeouts = 0;
    transfer.deadline = now_ + timeout_;
    if (connection != NO_NUMBER) {
      Connection& its = connections_[connection];
      land(its, bytes);
      control_->acknowledged(its.state, model_,
                             {now_, now_ - packet.sent, bytes, packet.hops, packet.marked, its.in_flight});
      schedule_control(connection);
    }
  }
  if (transfer.settled == transfer.packets) {
    if (transfer.place == Place::sent) // otherwise its turn comes first
      release(number);
  } else if (packet.kind == PacketKind::rejection && selective_) {
    repeat(packet);
  } else if (packet.kind == PacketKind::rejection) {
    go_back(number, packet.sequence);
  }
  if (connection != NO_NUMBER)
    admit(connection);
}

/** Sends a rejected packet again, if the sender has not noticed its loss before. */
void PacketSenders::repeat(const Packet& rejection)
{
  const Number number                = rejection.transfer;
  const std::uint32_t sequence       = rejection.sequence;
  Transfer& transfer                 = transfers_[number];
  std::vector<bool>::reference flies = transfer.selection->in_flight[sequence];
  if (not flies)
    return;
  flies = false;
  transfer.selection->again.push_back(sequence);
  if (transfer.connection != NO_NUMBER) {
    Connection& its    = connections_[transfer.connection];
    const double bytes = size_of(transfer, sequence);
    if (model_.trims())
      control_->trimmed(its.state, model_,
                        {now_, now_ - rejection.sent, bytes, rejection.hops, rejection.marked, its.in_flight});
    else
      control_->lost(its.state, model_, now_);
    land(its, bytes);
  }
  count_resumed(transfer);
  if (transfer.place == Place::sent)
    make_ready(number);
}

/** Takes all packets that are not acknowledged for lost. */
void PacketSenders::lose_all(Transfer& transfer)
{
  Selection& selection = *transfer.selection;
  take_back(transfer, 0);
  selection.again.clear();
  for (std::uint32_t one = 0; one < transfer.to_send; ++one) {
    selection.in_flight[one] = false;
    if (not selection.settled[one])
      selection.again.push_back(one);
  }
}

/** Sends again all packets that are not acknowledged. */
void PacketSenders::repeat_all(Number number)
{
  Transfer& transfer = transfers_[number];
  lose_all(transfer);
  if (transfer.connection != NO_NUMBER)
    control_->lost(connections_[transfer.connection].state, model_, now_);
  count_resumed(transfer);
  if (transfer.place == Place::sent)
    make_ready(number);
}

/** Subtracts a transfer's packets in flight, at or above a sequence number, from those of its connection. */
void PacketSenders::take_back(const Transfer& transfer, std::uint32_t from)
{
  if (transfer.connection == NO_NUMBER)
    return;
  double bytes = 0;
  for (std::uint32_t one = transfer.selection ? 0 : from; one < transfer.to_send; ++one)
    if (not transfer.selection || transfer.selection->in_flight[one])
      bytes += size_of(transfer, one);
  land(connections_[transfer.connection], bytes);
}

/** Sends again from a sequence number on. */
void PacketSenders::go_back(Number number, std::uint32_t to)
{
  Transfer& transfer = transfers_[number];
  if (to >= transfer.to_send)
    return;
  if (transfer.connection != NO_NUMBER) {
    take_back(transfer, to);
    control_->lost(connections_[transfer.connection].state, model_, now_);
  }
  count_resumed(transfer);
  transfer.to_send = to;
  if (transfer.place == Place::sent)
    make_ready(number);
}

/** Returns the time for which a transfer waits for the next acknowledgement. */
double PacketSenders::timeout_of(const Transfer& transfer) const
{
  return transfer.timeouts == 0 || not recovery_ ? timeout_ : recovery_->timeout_after(transfer.timeouts).value();
}

/** Begins to wait for the acknowledgement of a packet. Without losses, acknowledgements need no deadline. */
void PacketSenders::expect_answer(Number number)
{
  if (not reliable_)
    return;
  Transfer& transfer = transfers_[number];
  transfer.deadline  = now_ + timeout_of(transfer);
  if (transfer.timer)
    return;
  transfer.timer = true;
  events_.add(transfer.deadline, PacketEvent::timeout, number);
}

void PacketSenders::check_deadline(Number number)
{
  Transfer& transfer = transfers_[number];
  transfer.timer     = false;
  if (transfer.place == Place::idle || transfer.place == Place::starting)
    return;
  const bool late = transfer.deadline <= now_;
  if (late && transfer.settled < transfer.to_send) {
    ++work_.timeouts;
    ++transfer.timeouts;
    if (recovery_ && transfer.timeouts > recovery_->retries) {
      give_up(number);
      return;
    }
  }
  const double wait = timeout_of(transfer);
  transfer.timer    = true;
  events_.add(late ? now_ + wait : transfer.deadline, PacketEvent::timeout, number);
  if (not late || transfer.settled == transfer.to_send)
    return;
  transfer.deadline = now_ + wait;
  transfer.rejected = NO_NUMBER; // the receiver rejects the next gap, even the same one
  if (not down_.empty())
    reroute(number);
  if (selective_)
    repeat_all(number);
  else
    go_back(number, transfer.settled);
  if (transfer.connection != NO_NUMBER)
    admit(transfer.connection);
}

void PacketSenders::release(Number number)
{
  transfers_[number].place = Place::idle;
  transfers_[number].selection.reset();
  idle_.push_back(number);
}

// ---- Faults

void PacketSenders::lose(const Packet& packet)
{
  Transfer& transfer = transfers_[packet.transfer];
  if (not packet.goes_forward() || transfer.generation != packet.generation || transfer.place == Place::idle ||
      transfer.hit_at != NEVER_S)
    return;
  const bool last = packet.sequence + 1 == transfer.packets;
  if (not packet.lost && not last && shows_losses(packet))
    return; // the receiver notices at the next packet
  transfer.hit_at = now_;
  ++(packet.lost ? counts_.cut : counts_.lost);
}

void PacketSenders::lose_link(PacketPort& out)
{
  while (out.first_transfer != NO_NUMBER) {
    const Number number = out.first_transfer;
    out.first_transfer  = transfers_[number].next;
    send_into_void(number);
  }
}

/** Sends the rest of a transfer over a link that is down: its sender learns that from its timeout. */
void PacketSenders::send_into_void(Number number)
{
  Transfer& transfer = transfers_[number];
  if (transfer.settled == transfer.packets) {
    has_sent(number);
    return;
  }
  if (transfer.hit_at == NEVER_S) {
    transfer.hit_at = now_;
    ++counts_.cut;
  }
  double bytes = 0;
  for (std::uint32_t one = transfer.to_send; one < transfer.packets; ++one)
    bytes += size_of(transfer, one);
  if (transfer.selection) {
    for (const std::uint32_t one : transfer.selection->again)
      if (not transfer.selection->settled[one]) {
        bytes += size_of(transfer, one);
        transfer.selection->in_flight[one] = true;
      }
    transfer.selection->again.clear();
    std::fill(transfer.selection->in_flight.begin() + transfer.to_send, transfer.selection->in_flight.end(), true);
  }
  if (transfer.connection != NO_NUMBER)
    connections_[transfer.connection].in_flight += bytes;
  transfer.to_send = transfer.packets;
  transfer.place   = Place::sent;
  expect_answer(number);
}

/** Returns the first link of a transfer's route that is down. */
std::optional<LinkId> PacketSenders::link_down(const Transfer& transfer) const
{
  for (std::uint32_t hop = 0; hop < transfer.hops; ++hop)
    if (const LinkId link = links_.routes().link(transfer.route + hop); links_.wire(link).off)
      return link;
  return std::nullopt;
}

/** Counts a transfer that a fault has hit as sent again, if all of its route is up. */
void PacketSenders::count_resumed(Transfer& transfer)
{
  if (transfer.hit_at == NEVER_S || link_down(transfer))
    return;
  const double waited = now_ - transfer.hit_at;
  transfer.hit_at     = NEVER_S;
  ++counts_.resumed;
  counts_.waited_s += waited;
  counts_.longest_waiting_s = std::max(counts_.longest_waiting_s, waited);
}

/** Gives the message of a transfer up, unless all of the transfer has arrived and only answers were lost. */
void PacketSenders::give_up(Number number)
{
  const Number message   = transfers_[number].message;
  const bool has_arrived = transfers_[number].received == transfers_[number].packets;
  std::string obstacle   = "no acknowledgement has arrived";
  if (const std::optional<LinkId> link = link_down(transfers_[number]))
    obstacle = "link " + fabric_.link(*link).name + " is down";
  for (Number one = 0; one < transfers_.size(); ++one) {
    Transfer& transfer = transfers_[one];
    const bool its = has_arrived ? one == number : transfer.message == message && transfer.received < transfer.packets;
    if (transfer.place == Place::idle || not its)
      continue;
    take_back(transfer, transfer.settled);
    if (transfer.selection)
      transfer.selection->again.clear();
    transfer.abandoned = true;
    transfer.settled   = transfer.packets;
    transfer.to_send   = transfer.packets;
    if (transfer.place == Place::sent) // otherwise its turn comes first
      release(one);
    if (transfer.connection != NO_NUMBER)
      admit(transfer.connection);
  }
  if (has_arrived)
    return;
  ++counts_.given_up;
  messages_.given_up(message, obstacle);
}

void PacketSenders::reroute(std::vector<bool> down)
{
  down_ = std::move(down);
  links_.balancer().set_down(down_);
  for (Number number = 0; number < transfers_.size(); ++number)
    if (transfers_[number].place != Place::idle) {
      reroute(number);
      balance(transfers_[number]);
    }
}

/** Moves a transfer to another route if routing knows that its own is down. */
void PacketSenders::reroute(Number number)
{
  Transfer& transfer = transfers_[number];
  if (transfer.abandoned || transfer.received == transfer.packets)
    return;
  bool is_down = false;
  for (std::uint32_t hop = 0; hop < transfer.hops; ++hop)
    is_down = is_down || down_[static_cast<std::size_t>(links_.routes().link(transfer.route + hop))];
  if (not is_down)
    return;
  const double part = static_cast<double>(transfer.packets - transfer.received) / transfer.packets;
  const auto route  = messages_.find_again(transfer.message, part, transfer.stripe);
  if (not route)
    return;
  const LinkId first = links_.routes().link(route->first);
  if (first != links_.routes().link(transfer.route)) {
    if (transfer.place == Place::ready || transfer.place == Place::waiting)
      return; // in line at its link; its timeout comes first
    if (transfer.connection != NO_NUMBER) {
      if (transfer.selection) {
        lose_all(transfer);
      } else {
        take_back(transfer, transfer.settled);
        transfer.to_send = transfer.settled;
      }
      transfer.connection = connect(first, transfer.to);
    }
  }
  transfer.route = route->first;
  transfer.hops  = route->hops;
  balance(transfer);
  if (transfer.place == Place::sent && has_more(transfer))
    make_ready(number);
}

} // namespace weft
