// SPDX-License-Identifier: LGPL-2.1-only
/* Polls of a rank, and what ends its sleep between them early: a message for the rank, or the end of a request or
 * activity that it polls. */
#pragma once

#include "binding/requests/nap.hpp"
#include "binding/run/run_context.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <vector>

namespace weft {

struct Probed {
  int source;
  int tag;
  MPI_Comm comm;
  bool operator==(const Probed&) const = default;
};

/** Polling state of a rank. */
class Poller {
  CoreNoise& noise_;
  double duration_;                  // of a poll, in seconds
  std::int64_t in_a_row_ = 0;        // failed polls without other simulated time in between
  std::int64_t prepaid_  = 0;        // further polls for which the rank has already slept
  double last_           = -1;       // time after the last of them
  std::vector<const void*> watched_; // activities that the current row of polls tests; compared, never dereferenced
  std::size_t next_watched_ = 0;     // loops test the same activities again
  std::vector<Probed> probed_;       // failed probes since the last message was sent to the rank
  unsigned messages_ = 0;            // number of messages sent to the rank
  Nap* nap_          = nullptr;
  bool for_messages_ = false; // the next message ends the nap

  void nap(std::int64_t polls, bool watch);

public:
  explicit Poller(RunContext& context) : noise_(context.core_noise), duration_(poll_duration(context.fabric)) {}
  /** Returns the poller of the current rank, or of one of its threads. */
  static Poller& of_this_rank(RunContext& context);

  /** Starts a new row if time has passed since the last poll. */
  void begin()
  {
    if (last_ != simgrid::s4u::Engine::get_clock())
      end_row();
  }
  void end_row()
  {
    in_a_row_ = 0;
    prepaid_  = 0;
    watched_.clear();
    next_watched_ = 0;
    probed_.clear();
  }
  void watch(const void* activity);
  bool has_probed(const Probed& what) const { return std::ranges::find(probed_, what) != probed_.end(); }
  unsigned messages() const { return messages_; }
  /** Records that a probe failed after @p messages messages had been sent. */
  void note_probe(const Probed& what, unsigned messages)
  {
    if (messages == messages_)
      probed_.push_back(what);
  }
  /** Charges a failed poll. @return false if a message has been sent at this very instant: the probe must then be
   * repeated, at no cost */
  bool pay();
  void message_sent()
  {
    ++messages_;
    probed_.clear();
    if (nap_ && for_messages_)
      nap_->wake(0); // the order of poll and message at one instant makes no difference
  }
  /** Sleeps until more than @p messages have been sent to the rank. */
  void await_message(unsigned messages);
};

/** Ends the naps of ranks that poll a request, an activity or a list of requests, since it is complete. */
void wake_watchers(const void* watched);
/** Tells the poller of a rank, by its actor, that a message has been sent to the rank. */
void tell_receiver(aid_t receiver);

} // namespace weft
