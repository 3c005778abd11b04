// SPDX-License-Identifier: LGPL-2.1-only
/* Ranks that wait for requests of weft's transport. */
#pragma once

#include "binding/abi/smpi/requests.hpp"
#include "binding/observe/profile.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/ranks/current.hpp"
#include "binding/ranks/sleep.hpp"
#include "binding/requests/endpoints.hpp"
#include "binding/requests/message_overheads.hpp"

#include <map>
#include <smpi/smpi.h>
#include <span>
#include <unordered_map>

namespace weft {

class MessageWaits {
public:
  /** Search key of a rank in MPI_Probe. */
  struct Probing {
    aid_t rank;
    aid_t source;
    int tag;
    Endpoints::Owner owner;
  };

private:
  struct Waiter {
    Sleep* asleep     = nullptr;
    int missing       = 0;     // incomplete requests for which it waits
    bool pays         = false; // true if it pays for their overheads as they complete
    bool stays        = true;  // true if it waits for all of them
    double busy_until = 0;     // end of the overheads so far
    double since      = -1;    // start of its latest wait; negative: none
  };

  MessageOverheads& overheads_;
  Endpoints& endpoints_;
  ActorMap<Waiter> waiters_;
  std::unordered_map<MPI_Request, aid_t> other_waiters_; // threads that wait for requests of their rank, by request
  std::map<aid_t, Probing> probing_;
  bool by_calls_ = false;

  void sleep(const Waiter& waiter);
  aid_t waiting_actor(MPI_Request request);

public:
  MessageWaits(MessageOverheads& overheads, Endpoints& endpoints);
  MessageWaits(const MessageWaits&)            = delete;
  MessageWaits& operator=(const MessageWaits&) = delete;

  /** Returns the waits of the process; null if SMPI transfers messages. */
  static MessageWaits* get();
  /** Returns whether messages progress only inside MPI calls. */
  bool by_calls() const { return by_calls_; }
  void set_by_calls(bool by_calls) { by_calls_ = by_calls; }

  /** Marks a pending request of the current rank. */
  void await(MPI_Request request);
  /** Removes the mark. */
  void no_longer_await(MPI_Request request);
  /** Suspends the current rank until @p ends requests, all of which await() has marked, are complete. */
  void sleep(int ends);
  /** Suspends the current rank until one of these requests is complete. */
  void sleep_for_any();
  /** As sleep(), and then suspends the rank for the overheads of receives: of complete ones among @p requests, and of
   * all for which it waits. They then finish without overhead. */
  void sleep_and_pay(int ends, std::span<const MPI_Request> requests);
  /** Counts a marked request as complete, and wakes the rank that waits for it, if it is the last. */
  void end(MPI_Request request);
  /** Returns whether the rank that has posted @p request waits for it, in a call that it cannot leave earlier. */
  bool stays(MPI_Request request);

  /** Records, for descriptions, that the current rank waits other than by sleep(). */
  void begin();
  /** Records the current rank's probe until end_probe(). */
  void begin_probe(aid_t source, int tag, MPI_Comm comm);
  void end_probe();
  /** Returns the probes in progress, by actor. */
  const std::map<aid_t, Probing>& probes() const { return probing_; }
  /** Returns the start of an actor's latest wait; negative: none. */
  double since(aid_t actor) const { return waiters_.get(actor).since; }
};

/** Scope in which the MPI library of the current rank progresses while it waits. Messages may complete when the scope
 * begins. */
class Attendance {
  bool begins_ = MessageWaits::get()->by_calls() && Profile::get().begin_attending(current_actor());

public:
  Attendance()                             = default;
  Attendance(const Attendance&)            = delete;
  Attendance& operator=(const Attendance&) = delete;
  ~Attendance()
  {
    if (begins_)
      Profile::get().end_attending(current_actor());
  }
};

/** Returns the actor that started a request. */
inline aid_t owner_of(MPI_Request request)
{
  const simgrid::smpi::RequestLayout& fields = simgrid::smpi::layout_of(request);
  return (fields.flags & simgrid::smpi::RECEIVE_FLAG) != 0 ? fields.destination : fields.source;
}

} // namespace weft
