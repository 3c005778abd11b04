// SPDX-License-Identifier: LGPL-2.1-only
/* Handshakes of rendezvous messages of an MPI library that progresses only inside MPI calls (Progress::calls).
 *
 * The sender's request reaches the receiver's host one latency after the send. The receiver replies in the next call in
 * which its library progresses (mpi_function.hpp), including the current one: with Rendezvous::get it then reads the
 * data, which no longer needs a rank; with Rendezvous::put its reply travels to the sender, who writes the data in its
 * next such call. As in UCX, a receive that is posted later starts immediately if the library has seen the request, and
 * otherwise waits for the next call (ucp_tag_recv_common in src/ucp/tag/tag_recv.c looks at the requests that
 * ucp_worker_progress has queued).
 *
 * The latency of a fabric's large messages includes their handshake, so a message that is not delayed leaves when both
 * sides have posted it, and takes as long as without this file. A delayed message leaves when the last reply is due.
 * For most messages, both sides wait and cannot leave MPI before completion; these need no event. */
#include "binding/point_to_point/own_messages.hpp"

#include "binding/observe/json/json_rows.hpp"
#include "binding/observe/profile.hpp"

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

/** Returns whether the rank that has posted @p request waits for it, in a call that it cannot leave earlier. */
bool OwnMessages::stays(MPI_Request request)
{
  if (request == MPI_REQUEST_NULL || (layout_of(request).flags & simgrid::smpi::AWAITED_FLAG) == 0)
    return false;
  const Waiter* const waiter = waiters_.find(waiting_actor(request));
  return waiter && waiter->asleep && waiter->stays;
}

/** Returns the time that a request to send takes to arrive. */
Seconds OwnMessages::latency_of_request(const Message& message) const
{
  const Fabric& fabric = context_.fabric;
  if (message.from == message.to)
    return fabric.host().loopback_latency;
  Route route;
  fabric.route(message.from, message.to, route);
  return fabric.latency(route) * fabric.segment(Bytes()).latency_factor;
}

/** Begins the handshake of a message that both sides have posted. Returns whether it leaves now. */
bool OwnMessages::leaves_at_once(Index number)
{
  const Message& message = messages_[number];
  const double now       = sg::Engine::get_clock();
  const bool answered    = stays(message.receive);
  if (answered && (scheme_ == Rendezvous::get || stays(message.sender)))
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
    network_->call_after(Seconds(arrives - now), *this, number + 1);
  else
    hold(receiver, number);
  return false;
}

/** Handles the arrival of the request to send, or of its reply. */
void OwnMessages::take_turn(Index number)
{
  const Message& message = messages_[number];
  const bool answered    = handshakes_[number].answered;
  const aid_t actor      = answered ? message.source : layout_of(message.receive).destination;
  if (not attends(actor))
    hold(actor, number);
  else if (answered)
    leave_late(number);
  else
    answer(number);
}

/** Handles the receiver's reply. */
void OwnMessages::answer(Index number)
{
  Handshake& its = handshakes_[number];
  its.answered   = true;
  if (scheme_ == Rendezvous::get || stays(messages_[number].sender))
    leave_late(number);
  else
    network_->call_after(its.latency, *this, number + 1);
}

/** Makes a message wait until the library of @p actor progresses. */
void OwnMessages::hold(aid_t actor, Index number)
{
  if (not reports_handshakes_) {
    reports_handshakes_ = true;
    context_.record_parts.push_back(this);
  }
  network_->message_ends(); // which does not happen automatically
  std::vector<Index>& its = held_[actor];
  if (its.empty())
    network_->begin_progress(actor, *this, static_cast<int>(actor));
  its.push_back(number);
}

void OwnMessages::make_progress(int actor)
{
  network_->end_progress(actor, *this);
  for (const Index number : std::exchange(held_[actor], {})) {
    network_->message_leaves();
    handshakes_[number].since = sg::Engine::get_clock();
    take_turn(number);
  }
}

void OwnMessages::leave_late(Index number)
{
  const Handshake its = handshakes_[number];
  handshakes_.erase(number);
  if (its.since > its.posted) {
    ++delayed_;
    delay_ += its.since - its.posted;
  }
  const Message& message = messages_[number];
  const bool of_jobs     = context_.jobs.are_own();
  Messages& carrier = of_jobs ? network_->messages_of(context_.jobs.world_of(message.source)) : network_->messages();
  carrier.send_on_sockets({.from   = message.from,
                           .to     = message.to,
                           .bytes  = Bytes(static_cast<double>(message.size)) + SMPI_ENVELOPE,
                           .missed = UNKNOWN_PART,
                           .since  = Seconds(its.since)},
                          *this, number);
}

void OwnMessages::add_rows(Json& record) const
{
  record["rendezvous"] = {{"scheme", std::string(to_text(scheme_))}, {"delayed", delayed_}, {"delay_s", delay_}};
}

} // namespace weft
