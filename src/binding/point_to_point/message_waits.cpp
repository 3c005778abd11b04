// SPDX-License-Identifier: LGPL-2.1-only
/* Ranks that wait for messages, and message overheads on their hosts. */
#include "binding/point_to_point/own_messages.hpp"

#include "binding/ranks/current.hpp"
#include "binding/run/diagnosis.hpp"
#include "binding/tuning/shared_sleeps.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <utility>

namespace sg = simgrid::s4u;
using simgrid::smpi::fields_of;
using simgrid::smpi::layout_of;
using simgrid::smpi::RequestLayout;

namespace weft {
namespace {

/** Returns "rank 3", for example. */
std::string name_of_rank(aid_t actor)
{
  const sg::ActorPtr its = sg::Actor::by_pid(actor);
  const char* rank       = its ? its->get_property("rank") : nullptr;
  return rank ? "rank " + std::string(rank) : "a rank that has ended";
}

} // namespace

// ---- Overheads ---------------------------------------------------------------------------------------------------

/** Returns a message's overhead on the sender's host for last_send_, on the receiver's for last_receive_. Cached, since
 * SMPI looks it up through several tables. */
double OwnMessages::overhead(Overhead& last, AskOverhead ask, std::size_t size, sg::Host* from, sg::Host* to) const
{
  const bool local = from == to;
  if (costs_vary_ || last.seconds < 0 || last.size != size || last.local != local)
    last = {size, local, ((&last == &last_send_ ? from : to)->extension<simgrid::smpi::Host>()->*ask)(size, from, to)};
  return last.seconds;
}

void OwnMessages::pay_for_send(const RequestLayout& fields)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  const bool goes_on = fields.detached || (fields.flags & (NONBLOCKING_SEND_FLAG | SYNCHRONOUS_FLAG)) != 0;
  if (not sends_cost_ || not goes_on)
    return;
  // Both kinds of sends cost the same unless SMPI's options state otherwise; costs then vary.
  const auto ask = (fields.flags & NONBLOCKING_SEND_FLAG) != 0 ? &Host::oisend : &Host::osend;
  const double sleep =
      overhead(last_send_, ask, fields.size, place_of(fields.source).host, place_of(fields.destination).host);
  if (sleep > 0)
    sg::this_actor::sleep_for(sleep);
}

/** Returns the overhead of a request that has received a detached message, and releases the sender's request; 0 if
 * there is none. */
double OwnMessages::take_overhead(MPI_Request request)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  if (not is_active(request) || is_own_and_pending(request))
    return 0;
  RequestLayout& fields = fields_of(request);
  if ((fields.flags & RECEIVE_FLAG) == 0 || fields.detached_sender == MPI_REQUEST_NULL)
    return 0;
  simgrid::smpi::Request::unref(&fields.detached_sender);
  fields.detached_sender = MPI_REQUEST_NULL; // even if other references to it exist
  return overhead(last_receive_, &Host::orecv, fields.real_size, fields.source_host, place_of(fields.destination).host);
}

double OwnMessages::take_overheads(std::span<const MPI_Request> requests)
{
  double sum = 0;
  for (MPI_Request request : requests)
    if (request != MPI_REQUEST_NULL && layout_of(request).detached_sender != MPI_REQUEST_NULL)
      sum += take_overhead(request);
  return sum;
}

void OwnMessages::pay_for_receives(std::span<const MPI_Request> requests)
{
  if (not receives_cost_)
    return;
  if (const double sleep = take_overheads(requests); sleep > 0)
    sg::this_actor::sleep_for(sleep);
}

// ---- Waiting -----------------------------------------------------------------------------------------------------

void OwnMessages::await(MPI_Request request)
{
  fields_of(request).flags |= simgrid::smpi::AWAITED_FLAG;
  if (const aid_t self = calling_actor(); self != owner_of(request))
    other_waiters_[request] = self;
}

void OwnMessages::no_longer_await(MPI_Request request)
{
  fields_of(request).flags &= ~simgrid::smpi::AWAITED_FLAG;
  if (not other_waiters_.empty())
    other_waiters_.erase(request);
}

void OwnMessages::sleep(int ends)
{
  sleep({.missing = ends});
}

void OwnMessages::sleep_for_any()
{
  sleep({.missing = 1, .stays = false});
}

void OwnMessages::sleep_and_pay(int ends, std::span<const MPI_Request> requests)
{
  if (receives_cost_)
    sleep({.missing = ends, .pays = true, .busy_until = time_of_rank() + take_overheads(requests)});
  else
    sleep({.missing = ends});
}

void OwnMessages::sleep(const Waiter& waiter)
{
  struct Asleep {
    ActorMap<Waiter>& waiters;
    aid_t self = calling_actor();
    Sleep sleep;
    Asleep(ActorMap<Waiter>& all, const Waiter& waiter) : waiters(all)
    {
      waiters[self]        = waiter;
      waiters[self].asleep = &sleep;
      waiters[self].since  = time_of_rank();
    }
    Asleep(const Asleep&)            = delete;
    Asleep& operator=(const Asleep&) = delete;
    ~Asleep() // also runs if the rank is killed
    {
      Waiter& its = waiters[self];
      if (std::exchange(its.asleep, nullptr) && its.missing == 0 && not sleep.over())
        do_not_wake_at(its.busy_until, sleep);
    }
  } asleep(waiters_, waiter);
  asleep.sleep.sleep(SleepsIn::wait);
}

void OwnMessages::give_activity(MPI_Request request)
{
  if (layout_of(request).action || not simgrid::smpi::is_own_and_pending(request))
    return;
  const auto signal = std::make_shared<RequestSignal>();
  activities_.emplace(request, signal);
  signal->make_activity(request);
}

void OwnMessages::check(MPI_Request request)
{
  if ((layout_of(request).flags & simgrid::smpi::FAILED_FLAG) != 0)
    context_.abort("network-failure",
                   describe_broken_message(name_of_rank(sg::this_actor::get_pid()), failures_[request]));
}

/** Returns the actor that waits for a request: usually the one that started it, or another thread of the same rank. */
aid_t OwnMessages::waiting_actor(MPI_Request request)
{
  if (not other_waiters_.empty())
    if (const auto other = other_waiters_.find(request); other != other_waiters_.end())
      return other->second;
  return owner_of(request);
}

void OwnMessages::end_awaited(MPI_Request request)
{
  Waiter* const waiter = waiters_.find(waiting_actor(request));
  no_longer_await(request);
  if (not waiter || not waiter->asleep)
    return;
  const double now = sg::Engine::get_clock();
  if (waiter->pays)
    if (const double its = take_overhead(request); its > 0)
      waiter->busy_until = std::max(waiter->busy_until, now) + its;
  if (--waiter->missing > 0)
    return;
  if (waiter->busy_until > now)
    wake_at(waiter->busy_until, *waiter->asleep);
  else
    std::exchange(waiter->asleep, nullptr)->wake();
}

} // namespace weft
