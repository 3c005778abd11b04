// SPDX-License-Identifier: LGPL-2.1-only
/* Where the ranks' simulated time goes: by kind of call and rank, and by function of MPI.
 *
 * Each function of MPI that can take simulated time is wrapped (timed_calls.cpp, communicator_making.cpp) in a
 * TimedCall, which reads the clock before and after. Of nested calls the outermost counts, so that each moment of a
 * rank is counted once: in a call, outside MPI, or after the rank's end. A rank's times add up to the run's.
 */
#pragma once

#include "binding/ranks/actor_map.hpp"

#include <simgrid/forward.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace weft {

enum class CallKind {
  communicators,  ///< making and freeing communicators
  point_to_point, ///< send, receive, and starting either
  waits,          ///< that block until something has happened
  polls,          ///< that only look whether it has
  collectives,    ///< blocking ones, and starting those that do not block
  one_sided,
  io,
  other, ///< MPI_Init, MPI_Finalize, the clock
};
constexpr std::size_t CALL_KINDS = 8;

/** A function of MPI, and the calls of all ranks. */
struct MpiFunction {
  const char* name;
  CallKind kind;
  bool traced           = true; ///< SimGrid's own trace shows its calls
  std::int64_t calls    = 0;
  double total_time     = 0; ///< simulated seconds, summed over ranks
  double max_time       = 0; ///< of one call
  bool known_to_profile = false;
};

/** A call on a rank's time line that SimGrid's trace does not show. */
struct CallSlice {
  int rank;
  const MpiFunction* function;
  double start;
  double end;
};

/** What one rank does. */
struct RankActivity {
  int rank;
  bool over           = false;   ///< whether it has ended
  MpiFunction* inside = nullptr; ///< the outermost call that the rank is in
  double since        = 0;       ///< when that began, or when the rank ended
};

/** What one rank has done of a kind. */
struct KindTime {
  double time        = 0;
  std::int64_t calls = 0;
};

class Profile {
  std::deque<RankActivity> ranks_;
  std::array<std::vector<KindTime>, CALL_KINDS> times_; // by rank; of a kind that some rank has called
  ActorMap<RankActivity*> by_actor_;                    // null for actors that are no ranks
  std::vector<MpiFunction*> functions_;
  std::vector<CallSlice> slices_;
  std::function<void(aid_t actor)> on_entry_;

  KindTime& time_of(const RankActivity& rank, CallKind kind);
  void close(RankActivity& rank, double now);
  nlohmann::ordered_json row(const std::string& kind, std::int64_t calls, const std::vector<double>& times) const;

public:
  bool keep_slices = false;

  /** The process's; ranks are unknown to it until they are announced. */
  static Profile& get();
  /** Announce a rank; they are numbered in this order. */
  void rank_begins(aid_t actor);
  void rank_ends(aid_t actor);

  /** The current rank enters @p function. Null where nothing is to be counted: it is in another call, or no rank. */
  RankActivity* enter(MpiFunction& function);
  void leave(RankActivity& rank);

  /** Count what ranks are in the middle of, as a run ends before its program does. */
  void stop();

  /** Have @p told know each call that a rank enters, but for MPI_Wtime, in which libraries look at no message. */
  void on_entry(std::function<void(aid_t actor)> told) { on_entry_ = std::move(told); }
  bool knows(aid_t actor) const { return by_actor_.get(actor) != nullptr; }
  /** The number of a rank in the run. */
  int rank_of(aid_t actor) const { return by_actor_.get(actor)->rank; }
  /** Whether a rank is in a call of MPI. */
  bool is_inside(aid_t actor) const { return by_actor_.get(actor)->inside != nullptr; }
  /** The records' `profile`, `mpi_calls`, `slices`. Empty where the program's calls were not seen (no LD_PRELOAD). */
  nlohmann::ordered_json kinds_to_json(double simulated_time) const;
  nlohmann::ordered_json functions_to_json() const;
  nlohmann::ordered_json slices_to_json() const;
};

/** The time between its making and its end is a call of @p function by the current rank. */
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
  /** Whether the program makes it, and not MPI itself within another call. */
  bool outermost() const { return rank_ != nullptr; }
};

} // namespace weft
