// SPDX-License-Identifier: LGPL-2.1-only
/* Breakdown of the ranks' simulated time by kind of call and rank, and by MPI function.
 *
 * Each MPI function that can take simulated time is wrapped (timed_calls.cpp,
 * communicator_making.cpp) in a TimedCall, which reads the clock before and after. Only the outermost of nested calls
 * counts, so that each moment of a rank is counted once: in a call, outside MPI, or after the rank's end. A rank's
 * times add up to the run's.
 */
#pragma once

#include "binding/observe/mpi_function.hpp"
#include "binding/ranks/actor_map.hpp"

#include <simgrid/forward.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace weft {

/** Call on a rank's timeline that SimGrid's trace does not show. */
struct CallSlice {
  int rank;
  const MpiFunction* function;
  double start;
  double end;
};

/** Current activity of a rank. */
struct RankActivity {
  int rank;
  bool over = false; ///< true once the rank has ended
  aid_t actor;
  MpiFunction* inside = nullptr; ///< outermost call in progress
  double since        = 0;       ///< start of that call, or end of the rank
  double begun        = 0;       ///< start of the rank
  bool attends        = false;   ///< true if its MPI library progresses now
  double attended     = -1;      ///< end of its last progress before this call; negative: none
};

/** Totals of one rank, with all its threads, for one kind of call. */
struct KindTime {
  double time        = 0;
  std::int64_t calls = 0;
};

class Profile {
  std::deque<RankActivity> ranks_;
  std::array<std::vector<KindTime>, CALL_KINDS> times_; // by rank; empty for kinds that no rank has called
  ActorMap<RankActivity*> by_actor_;                    // null for actors that are not ranks
  std::map<aid_t, RankActivity> threads_;               // simulated threads of ranks, except main threads, by actor
  std::map<aid_t, int> threads_attending_;              // number of progressing threads of a rank, by the rank's actor
  std::vector<MpiFunction*> functions_;
  std::vector<CallSlice> slices_;
  std::function<void(aid_t actor)> on_entry_;

  RankActivity* activity_of_thread(aid_t actor);
  void attend(RankActivity& caller);
  void no_longer_attend(RankActivity& caller, double now);
  KindTime& time_of(const RankActivity& rank, CallKind kind);
  void close(RankActivity& rank, double now);
  nlohmann::ordered_json row(const std::string& kind, std::int64_t calls, const std::vector<double>& times) const;
  KindTime known_time_of(const RankActivity& rank, std::size_t kind) const;
  nlohmann::ordered_json kinds_of(const std::vector<const RankActivity*>& ranks, double begin, double end) const;

public:
  bool keep_slices = false;

  /** Returns the process's profile. Ranks must be announced by rank_begins(). */
  static Profile& get();
  /** Announces a rank; ranks are numbered in this order. */
  void rank_begins(aid_t actor);
  void rank_ends(aid_t actor);

  /** Records that the current rank enters @p function. Returns null if the call is not counted: it is nested in
   * another, or the actor is not a rank. */
  RankActivity* enter(MpiFunction& function);
  void leave(RankActivity& rank);

  /** Closes the calls in progress, if a run ends before its program does. */
  void stop();

  /** Registers @p told, called whenever a rank enters a call in which libraries progress. */
  void on_entry(std::function<void(aid_t actor)> told) { on_entry_ = std::move(told); }
  bool knows(aid_t actor) const { return by_actor_.get(actor) != nullptr; }
  /** Returns whether a rank is in a call, so that its callbacks may run. */
  bool is_in_call(aid_t actor) const { return by_actor_.get(actor)->inside != nullptr; }
  /** Returns the number of MPI calls of all ranks so far. */
  std::int64_t calls() const;
  /** Returns the number of calls that a rank has completed and that may have sent messages. */
  std::int64_t completed_calls(aid_t actor) const;
  /** Number of a rank in the run. */
  int rank_of(aid_t actor) const { return by_actor_.get(actor)->rank; }
  /** Returns whether the MPI library of a rank progresses now, as it does in calls that wait. */
  bool attends(aid_t actor) const
  {
    return by_actor_.get(actor)->attends || (not threads_attending_.empty() && threads_attending_.contains(actor));
  }
  /** Returns the end of its last progress: @p now, if it progresses now; negative: none. */
  double attended(aid_t actor, double now) const
  {
    const RankActivity& rank = *by_actor_.get(actor);
    return attends(actor) ? now : rank.attended;
  }
  /** Marks the current thread of a rank as progressing MPI while it waits; returns false if it already is. */
  bool begin_attending(aid_t actor);
  void end_attending(aid_t actor);
  /** Fields `profile`, `mpi_calls` and `slices` of the record. Empty if the program's calls were not seen (no
   * LD_PRELOAD). */
  nlohmann::ordered_json kinds_to_json(double simulated_time) const;
  /** The same fields for some ranks, by their @p actors, from their start to @p end. */
  nlohmann::ordered_json kinds_to_json(double end, const std::vector<aid_t>& actors) const;
  nlohmann::ordered_json functions_to_json() const;
  nlohmann::ordered_json slices_to_json() const;
};

/** Scope that counts its lifetime as a call of @p function by the current rank. */
class TimedCall {
  RankActivity* rank_;

public:
  explicit TimedCall(MpiFunction& function) : rank_(Profile::get().enter(function)) {}
  TimedCall(const TimedCall&)            = delete;
  TimedCall& operator=(const TimedCall&) = delete;
  ~TimedCall()
  {
    if (rank_)
      Profile::get().leave(*rank_);
  }
  /** Returns true if the program makes the call, as opposed to MPI within another call. */
  bool outermost() const { return rank_ != nullptr; }
};

} // namespace weft
