// SPDX-License-Identifier: LGPL-2.1-only
#include "packets/packet_network.hpp"

#include <algorithm>

namespace weft {

PacketNetwork::PacketNetwork(Agenda& agenda, MessageRoutes& routes, const Fabric& fabric, Messages& local,
                             const RecoveryModel* recovery)
    : agenda_(agenda), routes_(routes), fabric_(fabric), local_(local), recovery_(recovery),
      links_(fabric, events_, work_), senders_(fabric, events_, work_, links_, *this, recovery),
      trees_(fabric, events_, work_, links_, senders_.first_timeout())
{
  links_.serve(senders_, trees_);
  agenda.include(*this);
}

void PacketNetwork::set_time(double now)
{
  now_ = now;
  links_.set_time(now);
  senders_.set_time(now);
  trees_.set_time(now);
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
  post({.from = from, .to = to, .bytes = bytes, .missed = missed}, receiver, message);
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
  post(message, receiver, number);
}

/** Processes the events that were left when the agenda was cleared: no message was in flight. */
void PacketNetwork::catch_up()
{
  asleep_         = false;
  const double to = agenda_.now().value();
  while (events_.next() < to)
    step(events_.take());
}

/** Starts the transfers of a message whose route is way_. */
void PacketNetwork::post(const SocketMessage& sent, Receiving& receiver, std::uint64_t number)
{
  if (asleep_)
    catch_up();
  set_time(std::max(now_, agenda_.now().value()));
  ++work_.messages;
  if (idle_.empty()) {
    idle_.push_back(static_cast<std::uint32_t>(messages_.size()));
    messages_.emplace_back();
  }
  const std::uint32_t index = idle_.back();
  idle_.pop_back();
  Message& message = messages_[index];
  message.receiver = &receiver;
  message.number   = number;
  message.from     = sent.from;
  message.to       = sent.to;
  message.bytes    = sent.bytes;
  message.missed   = sent.missed;
  if (routes_.vary() || routes_.follows())
    message.way = way_;

  const std::vector<StoredRoute> routes = stripes(sent.from);
  message.transfers                     = static_cast<std::uint32_t>(routes.size());
  double path                           = 0;
  std::vector<PacketSenders::Number> begun;
  for (const StoredRoute& route : routes) {
    begun.push_back(senders_.add(index, way_.volume, route, sent.to, static_cast<std::uint32_t>(begun.size())));
    path = std::max(path, route.latency);
  }
  const double starts = std::max(now_, sent.since.value_or(agenda_.now()).value() + way_.latency - path);
  for (const PacketSenders::Number transfer : begun)
    senders_.start(transfer, starts);
}

/** Returns the routes of the stripes of way_, which leaves host @p from. Its resources are the links of one stripe
 * after the other, each with the media and memories that it uses. */
std::vector<StoredRoute> PacketNetwork::stripes(int from)
{
  std::vector<int>& links = way_.resources;
  std::erase_if(links, [this](int resource) { return std::cmp_greater_equal(resource, fabric_.links().size()); });
  std::vector<StoredRoute> all;
  for (auto first = links.begin(); first != links.end();) {
    const auto last = std::find_if(first + 1, links.end(), [&](int link) { return fabric_.link(link).from == from; });
    all.push_back(links_.routes().store(&*first, &*first + (last - first)));
    first = last;
  }
  return all;
}

void PacketNetwork::start(const TreePackets& call, Seconds now, Seconds jitter, int /*world*/,
                          std::function<void()> done)
{
  if (asleep_)
    catch_up();
  set_time(std::max(now_, now.value()));
  trees_.start(call, jitter, std::move(done));
}

bool PacketNetwork::carries_foreground() const
{
  return trees_.busy() || std::ranges::any_of(messages_, [](const Message& message) {
           return message.receiver && dynamic_cast<const BackgroundReceiver*>(message.receiver) == nullptr;
         });
}

// ---- Events

bool PacketNetwork::run(double now)
{
  bool any = false;
  while (events_.next() <= now || Agenda::same(now, events_.next())) {
    const PacketEvents::Entry event = events_.take();
    links_.prefetch();
    step(event);
    if (arrived_.empty() && failed_.empty() && not trees_.any_ended())
      continue;
    any = true;
    tell();
  }
  return any;
}

/** Notifies receivers, which may send. */
void PacketNetwork::tell()
{
  std::swap(telling_, arrived_);
  for (const auto& [receiver, number] : telling_)
    receiver->arrived(number);
  telling_.clear();
  for (const std::function<void()>& ended : trees_.take_ended())
    ended();
  for (const Failed& one : std::exchange(failed_, {}))
    one.receiver->failed(one.number, one.why);
}

void PacketNetwork::step(const PacketEvents::Entry& event)
{
  ++work_.events;
  set_time(event.time);
  const std::uint32_t number = event.index();
  switch (event.kind()) {
    case PacketEvent::wake:
      links_.wake(static_cast<LinkId>(number), event.time);
      return;
    case PacketEvent::arrival:
      links_.arrive(number);
      return;
    case PacketEvent::start:
      senders_.make_ready(number);
      return;
    case PacketEvent::pause:
    case PacketEvent::resume:
      links_.set_paused(number, event.kind() == PacketEvent::pause);
      return;
    case PacketEvent::pace:
      senders_.pace_due(number, event.time);
      return;
    case PacketEvent::control:
      senders_.control_due(number, event.time);
      return;
    case PacketEvent::notice:
      senders_.send_notice(number);
      return;
    case PacketEvent::timeout:
      senders_.check_deadline(number);
      return;
    case PacketEvent::tree:
      trees_.due(number);
      return;
  }
}

/** Ends a message, whose slot is then idle. */
void PacketNetwork::end(std::uint32_t number)
{
  Message& message = messages_[number];
  if (routes_.vary() || routes_.follows())
    routes_.left(message.way);
  message.receiver = nullptr;
  message.way      = {};
  idle_.push_back(number);
}

void PacketNetwork::transfer_arrived(std::uint32_t number)
{
  Message& message = messages_[number];
  if (--message.transfers > 0)
    return;
  arrived_.emplace_back(message.receiver, message.number);
  end(number);
}

void PacketNetwork::given_up(std::uint32_t number, const std::string& obstacle)
{
  const Message& message   = messages_[number];
  const Topology& topology = fabric_.topology();
  const std::string who    = topology.vertex_name(message.from) + " cannot reach " + topology.vertex_name(message.to);
  failed_.push_back({message.receiver, message.number, recovery_->give_up_message(who, Seconds(now_), obstacle)});
  end(number);
}

// ---- Faults

void PacketNetwork::begin_faults(const FabricState& known, LinkLosses& losses)
{
  known_ = &known;
  links_.set_losses(losses);
}

void PacketNetwork::turn_off(const std::vector<LinkId>& links)
{
  set_time(std::max(now_, agenda_.now().value()));
  links_.turn_off(links);
}

void PacketNetwork::turn_on(const std::vector<LinkId>& links)
{
  set_time(std::max(now_, agenda_.now().value()));
  links_.turn_on(links);
}

void PacketNetwork::forget_routes()
{
  set_time(std::max(now_, agenda_.now().value()));
  std::vector<bool> down(fabric_.links().size());
  for (std::size_t link = 0; link < down.size(); ++link)
    down[link] = not known_->link_is_up(static_cast<LinkId>(link));
  senders_.reroute(std::move(down));
}

std::optional<StoredRoute> PacketNetwork::find_again(std::uint32_t number, double part, std::uint32_t stripe)
{
  Message& message = messages_[number];
  if (not routes_.known_route(message.from, message.to))
    return std::nullopt;
  const bool follows = routes_.vary() || routes_.follows();
  if (follows)
    routes_.left(message.way);
  way_.resources.clear();
  routes_.find_rest(message.from, message.to, message.bytes, message.missed, part, way_);
  if (follows)
    message.way = way_;
  const std::vector<StoredRoute> all = stripes(message.from);
  return all[stripe % all.size()];
}

} // namespace weft
