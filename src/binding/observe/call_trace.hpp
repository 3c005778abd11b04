// SPDX-License-Identifier: LGPL-2.1-only
/* Call trace of a run (in the file named by WEFT_CALLS): for each call of the program, the line
 * that trace/calls.hpp specifies; between calls, computation (in operations, whose duration depends on the host) and
 * the duration of other activities (sleeps, clock reads). traced_call.hpp
 * writes the lines. */
#pragma once

#include "binding/ranks/actor_map.hpp"

#include <simgrid/forward.h>
#include <smpi/smpi.h>

#include <deque>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft {

/** Numbers of a rank's open handles. Numbers of closed handles are reused. */
template <class Handle> class TracedHandles {
  std::unordered_map<Handle, int> numbers_;
  std::vector<int> free_;
  int next_ = 0;

public:
  void open(Handle handle)
  {
    const auto [place, is_new] = numbers_.try_emplace(handle, next_);
    if (not is_new) // the handle ended without a call that shows its end
      return;
    if (free_.empty()) {
      ++next_;
    } else {
      place->second = free_.back();
      free_.pop_back();
    }
  }
  /** Returns -1 if no call in the trace has opened the handle. */
  int number(Handle handle) const
  {
    const auto found = numbers_.find(handle);
    return found == numbers_.end() ? -1 : found->second;
  }
  void close(Handle handle)
  {
    if (const auto found = numbers_.find(handle); found != numbers_.end()) {
      free_.push_back(found->second);
      numbers_.erase(found);
    }
  }
};

/** State of a rank in the trace. */
struct TracedRank {
  int rank;
  TracedHandles<MPI_Request> requests = {};
  TracedHandles<MPI_Win> windows      = {};
  bool in_call                        = false;
  double since                        = 0; ///< end of the last call or computation
  double operations                   = 0; ///< computed since then and not yet written
};

/** Line of a call, written word by word. */
class TraceLine {
  std::string text_;

public:
  const char* call;
  TracedRank& rank;
  MPI_Comm comm = MPI_COMM_NULL; ///< communicator of the call
  int root      = -1;
  std::vector<MPI_Request> requests; ///< requests for which the call waits
  std::string unfit;                 ///< reason why a trace cannot represent the call

  TraceLine(TracedRank& its_rank, const char* its_call);
  TraceLine& word(std::string_view word);
  TraceLine& number(long long number);
  TraceLine& real(double number);
  /** Appends numbers as one word: 3,0*4,5. */
  TraceLine& numbers(const int* all, int count);
  /** Appends ranks or indices as one word, with ranges as 0-15; `-` for none. */
  TraceLine& places(const std::vector<int>& all);
  TraceLine& datatype(MPI_Datatype type);
  TraceLine& datatypes(const MPI_Datatype* types, int count);
  bool at_root() const;
  const std::string& text() const { return text_; }
};

class CallTrace {
  std::ofstream file_;
  std::deque<TracedRank> ranks_;
  ActorMap<TracedRank*> by_actor_; // null for actors that are not ranks
  std::set<int> communicators_;    // communicators whose members have been written
  long long lines_ = 0;
  bool has_header_ = false;
  bool unfit_      = false;

  explicit CallTrace(const std::string& path);
  std::ostream& file();
  void write(const TraceLine& line);
  void flush(TracedRank& rank);
  void compute(aid_t actor, double operations);

public:
  /** Returns the run's trace; null if none is recorded. */
  static CallTrace* get();
  /** Starts a trace, before the ranks start. */
  static void begin(const std::string& path);

  /** Reports that the current rank enters a call. */
  TraceLine enter(const char* call);
  /** Reports that the rank leaves the call, which gets a line if it is @p done or unfit for a trace. */
  void leave(const TraceLine& line, bool done);
  /** Writes the members of a communicator, once. */
  void introduce(MPI_Comm comm);
  /** Completes the file at the end of the run. */
  void end();
};

/** Number of a communicator in traces: 0 for MPI_COMM_WORLD. */
int traced_number(MPI_Comm comm);

} // namespace weft
