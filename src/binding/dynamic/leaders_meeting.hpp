// SPDX-License-Identifier: LGPL-2.1-only
/* Meetings of the leaders of two groups that have no common communicator: at a port, or of a spawned world with the
 * ranks that spawned it. They meet in memory, in no simulated time; the messages that follow are charged
 * (create_of_groups). */
#pragma once

#include "binding/entries/intercommunicators/leaders.hpp"
#include "binding/ranks/own_groups.hpp"
#include "binding/run/diagnosis.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <simgrid/s4u/Semaphore.hpp>
#include <string>

namespace weft {

/** Ranks in calls that wait for another group, for deadlock reports. */
class MeetingWaits {
public:
  /** Scope in which the current rank waits. @p text returns a clause without the rank: "waits in … for …". */
  class Scope {
    aid_t actor_;

  public:
    explicit Scope(std::function<std::string()> text);
    Scope(const Scope&)            = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();
  };

  /** Returns the waits of the ranks that @p concerns accepts, as sentences. */
  static std::string describe(const ConcernsRank& concerns);
};

/** Rendezvous at which leaders of two kinds meet in pairs, in FIFO order. */
class LeadersMeeting {
  struct Side {
    OwnGroup leader;
    aid_t actor;
    simgrid::s4u::SemaphorePtr met;
    std::shared_ptr<simgrid::smpi::Group> pair = {};
  };
  std::deque<Side*> accepting_;
  std::deque<Side*> connecting_;

public:
  enum class Kind { accepts, connects };

  /** Waits for a leader of the opposite kind. Returns the connection to it, through a communicator of both, which the
   * caller frees. @p wait as in MeetingWaits. */
  LeadersPeer meet(MPI_Comm comm, Kind kind, const std::function<std::string()>& wait);
};

/** Creates the intercommunicator of two groups whose leaders, rank @p root of @p comm here, meet. Called by all ranks
 * of @p comm; @p meeting and @p wait are significant at the root only. */
int connect_groups(MPI_Comm comm, int root, LeadersMeeting* meeting, LeadersMeeting::Kind kind,
                   const std::function<std::string()>& wait, MPI_Comm* made);

} // namespace weft
