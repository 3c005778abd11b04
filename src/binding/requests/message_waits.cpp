// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/requests/message_waits.hpp"

#include "binding/ranks/current.hpp"
#include "binding/tuning/shared_sleeps.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <utility>

namespace sg = simgrid::s4u;
using simgrid::smpi::fields_of;
using simgrid::smpi::layout_of;

namespace weft {
namespace {

MessageWaits*& waits_of_run()
{
  static MessageWaits* waits = nullptr;
  return waits;
}

} // namespace

MessageWaits::MessageWaits(MessageOverheads& overheads, Endpoints& endpoints)
    : overheads_(overheads), endpoints_(endpoints)
{
  waits_of_run() = this;
}

MessageWaits* MessageWaits::get()
{
  return waits_of_run();
}

void MessageWaits::await(MPI_Request request)
{
  fields_of(request).flags |= simgrid::smpi::AWAITED_FLAG;
  if (const aid_t self = calling_actor(); self != owner_of(request))
    other_waiters_[request] = self;
}

void MessageWaits::no_longer_await(MPI_Request request)
{
  fields_of(request).flags &= ~simgrid::smpi::AWAITED_FLAG;
  if (not other_waiters_.empty())
    other_waiters_.erase(request);
}

void MessageWaits::sleep(int ends)
{
  sleep({.missing = ends});
}

void MessageWaits::sleep_for_any()
{
  sleep({.missing = 1, .stays = false});
}

void MessageWaits::sleep_and_pay(int ends, std::span<const MPI_Request> requests)
{
  if (overheads_.receives_cost())
    sleep({.missing = ends, .pays = true, .busy_until = time_of_rank() + overheads_.take_all(requests)});
  else
    sleep({.missing = ends});
}

void MessageWaits::sleep(const Waiter& waiter)
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

/** Returns the actor that waits for a request: usually the one that started it, or another thread of the same rank. */
aid_t MessageWaits::waiting_actor(MPI_Request request)
{
  if (not other_waiters_.empty())
    if (const auto other = other_waiters_.find(request); other != other_waiters_.end())
      return other->second;
  return owner_of(request);
}

void MessageWaits::end(MPI_Request request)
{
  Waiter* const waiter = waiters_.find(waiting_actor(request));
  no_longer_await(request);
  if (not waiter || not waiter->asleep)
    return;
  const double now = sg::Engine::get_clock();
  if (waiter->pays)
    if (const double its = overheads_.take(request); its > 0)
      waiter->busy_until = std::max(waiter->busy_until, now) + its;
  if (--waiter->missing > 0)
    return;
  if (waiter->busy_until > now)
    wake_at(waiter->busy_until, *waiter->asleep);
  else
    std::exchange(waiter->asleep, nullptr)->wake();
}

bool MessageWaits::stays(MPI_Request request)
{
  if (request == MPI_REQUEST_NULL || (layout_of(request).flags & simgrid::smpi::AWAITED_FLAG) == 0)
    return false;
  const Waiter* const waiter = waiters_.find(waiting_actor(request));
  return waiter && waiter->asleep && waiter->stays;
}

void MessageWaits::begin()
{
  waiters_[calling_actor()].since = time_of_rank();
}

void MessageWaits::begin_probe(aid_t source, int tag, MPI_Comm comm)
{
  begin();
  probing_[calling_actor()] = {current_actor(), source, tag, endpoints_.owner(endpoints_.of(current_actor(), comm))};
}

void MessageWaits::end_probe()
{
  probing_.erase(calling_actor());
}

} // namespace weft
