// SPDX-License-Identifier: LGPL-2.1-only
#include "network/nic_queues.hpp"

#include <algorithm>
#include <utility>

namespace weft {

struct NicQueues::Foreground : Due, Receiving {};

template <class Base> class NicQueues::Events : public Base {
  NicQueues& queues_;

public:
  explicit Events(NicQueues& queues) : queues_(queues) {}
  void due(std::uint64_t number) override
  {
    if (queues_.passing_[number].arrived)
      queues_.deliver(number);
    else
      queues_.leave(number);
  }
  void arrived(std::uint64_t number) override { queues_.arrive(number); }
  void failed(std::uint64_t number, const std::string& why) override
  {
    const Passing one = queues_.release(number);
    one.receiver->failed(one.message, why);
  }
};

template <class Base> NicQueues::Handler NicQueues::handler()
{
  auto events          = std::make_unique<Events<Base>>(*this);
  Receiving* receiving = events.get();
  return {std::move(events), receiving};
}

NicQueues::NicQueues(Agenda& agenda, Hertz rate, int hosts)
    : agenda_(agenda), gap_(1 / rate.value()), sends_(static_cast<std::size_t>(hosts)),
      receives_(static_cast<std::size_t>(hosts)), foreground_(handler<Foreground>()),
      background_(handler<BackgroundReceiver>())
{
}

NicQueues::~NicQueues() = default;

namespace {

void send_on(Messages& onward, const SocketMessage& what, Receiving& receiver, std::uint64_t message)
{
  if (what.from_socket == SocketMessage::UNKNOWN && not what.since)
    onward.send(what.from, what.to, what.bytes, what.missed, receiver, message);
  else
    onward.send_on_sockets(what, receiver, message);
}

} // namespace

void NicQueues::send(Messages& onward, const SocketMessage& what, Receiving& receiver, std::uint64_t message)
{
  const int hosts = static_cast<int>(sends_.size());
  if (what.from == what.to || what.from >= hosts || what.to >= hosts) {
    send_on(onward, what, receiver, message);
    return;
  }
  if (idle_.empty()) {
    idle_.push_back(passing_.size());
    passing_.emplace_back();
  }
  const std::uint64_t number = idle_.back();
  idle_.pop_back();
  passing_[number] = {&onward, what, &receiver, message};
  if (what.since) // the queue postpones the start of its latency too
    passing_[number].what.since =
        *what.since + (std::max(sends_[static_cast<std::size_t>(what.from)], agenda_.now()) - agenda_.now());
  if (passes(sends_[static_cast<std::size_t>(what.from)], number))
    leave(number);
}

NicQueues::Handler& NicQueues::handler_of(const Passing& one)
{
  return dynamic_cast<const BackgroundReceiver*>(one.receiver) ? background_ : foreground_;
}

/** Sends a message through an idle NIC; otherwise schedules it for the time at which the NIC is free. */
bool NicQueues::passes(Seconds& free, std::uint64_t number)
{
  const Seconds now = agenda_.now();
  if (free <= now) {
    free = now + gap_;
    return true;
  }
  agenda_.add(std::exchange(free, free + gap_), *handler_of(passing_[number]).due, number);
  return false;
}

void NicQueues::leave(std::uint64_t number)
{
  const Passing one = passing_[number]; // a copy: sending may add messages
  send_on(*one.onward, one.what, *handler_of(one).receiving, number);
}

void NicQueues::arrive(std::uint64_t number)
{
  passing_[number].arrived = true;
  if (passes(receives_[static_cast<std::size_t>(passing_[number].what.to)], number))
    deliver(number);
}

void NicQueues::deliver(std::uint64_t number)
{
  const Passing one = release(number);
  one.receiver->arrived(one.message);
}

NicQueues::Passing NicQueues::release(std::uint64_t number)
{
  idle_.push_back(number);
  return passing_[number];
}

} // namespace weft
