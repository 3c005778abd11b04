// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/point_to_point/rendezvous_messages.hpp"

#include "binding/abi/smpi/requests.hpp"
#include "binding/observe/json/json_rows.hpp"
#include "binding/observe/profile.hpp"
#include "network/messages.hpp"

#include <simgrid/s4u.hpp>
#include <string>
#include <utility>

namespace sg = simgrid::s4u;
using simgrid::smpi::layout_of;

namespace weft {
namespace {

bool attends(aid_t actor)
{
  return not Profile::get().knows(actor) || Profile::get().attends(actor);
}

} // namespace

/** Returns the time that a request to send takes to arrive. */
Seconds RendezvousMessages::latency_of_request(const SentMessage& message) const
{
  const Fabric& fabric = context_.fabric;
  if (message.from == message.to)
    return fabric.host().loopback_latency;
  Route route;
  fabric.route(message.from, message.to, route);
  return fabric.latency(route) * fabric.segment(Bytes()).latency_factor;
}

bool RendezvousMessages::leaves_at_once(Index number)
{
  const SentMessage& message = sent_[number];
  const double now           = sg::Engine::get_clock();
  const bool answered        = waits_.stays(message.receive);
  if (answered && (scheme_ == Rendezvous::get || waits_.stays(message.sender)))
    return true;
  const Seconds latency = latency_of_request(message);
  const double arrives  = message.sent + latency.value();
  const aid_t receiver  = layout_of(message.receive).destination;
  const bool seen = answered || not Profile::get().knows(receiver) || Profile::get().attended(receiver, now) >= arrives;
  if (seen && scheme_ == Rendezvous::get)
    return true;
  handshakes_[number] = {.posted = now, .since = now, .latency = latency};
  if (seen)
    answer(number);
  else if (arrives > now)
    network_->call_after(Seconds(arrives - now), *this, number);
  else
    hold(receiver, number);
  return false;
}

void RendezvousMessages::due(std::uint64_t number)
{
  take_turn(number);
}

/** Handles the arrival of the request to send, or of its reply. */
void RendezvousMessages::take_turn(Index number)
{
  const SentMessage& message = sent_[number];
  const bool answered        = handshakes_[number].answered;
  const aid_t actor          = answered ? message.source : layout_of(message.receive).destination;
  if (not attends(actor))
    hold(actor, number);
  else if (answered)
    leave_late(number);
  else
    answer(number);
}

/** Handles the receiver's reply. */
void RendezvousMessages::answer(Index number)
{
  Handshake& its = handshakes_[number];
  its.answered   = true;
  if (scheme_ == Rendezvous::get || waits_.stays(sent_[number].sender))
    leave_late(number);
  else
    network_->call_after(its.latency, *this, number);
}

/** Makes a message wait until the library of @p actor progresses. */
void RendezvousMessages::hold(aid_t actor, Index number)
{
  if (not reports_) {
    reports_ = true;
    context_.record_parts.push_back(this);
  }
  network_->message_ends(); // which does not happen automatically
  std::vector<Index>& its = held_[actor];
  if (its.empty())
    network_->begin_progress(actor, *this, static_cast<int>(actor));
  its.push_back(number);
}

void RendezvousMessages::make_progress(int actor)
{
  network_->end_progress(actor, *this);
  for (const Index number : std::exchange(held_[actor], {})) {
    network_->message_leaves();
    handshakes_[number].since = sg::Engine::get_clock();
    take_turn(number);
  }
}

void RendezvousMessages::leave_late(Index number)
{
  const Handshake its = handshakes_[number];
  handshakes_.erase(number);
  if (its.since > its.posted) {
    ++delayed_;
    delay_ += its.since - its.posted;
  }
  const SentMessage& message = sent_[number];
  const bool of_jobs         = context_.jobs.are_own();
  Messages& carrier = of_jobs ? network_->messages_of(context_.jobs.world_of(message.source)) : network_->messages();
  carrier.send_on_sockets({.from   = message.from,
                           .to     = message.to,
                           .bytes  = Bytes(static_cast<double>(message.size)) + SMPI_ENVELOPE,
                           .missed = UNKNOWN_PART,
                           .since  = Seconds(its.since)},
                          carried_, number);
}

void RendezvousMessages::add_rows(Json& record) const
{
  record["rendezvous"] = {{"scheme", std::string(to_text(scheme_))}, {"delayed", delayed_}, {"delay_s", delay_}};
}

} // namespace weft
