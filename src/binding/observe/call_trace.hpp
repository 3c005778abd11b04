// SPDX-License-Identifier: LGPL-2.1-only
/* The file of calls that a run records (WEFT_CALLS names it): what trace/calls.hpp says of each call that the program
 * makes, and between calls what it computes (operations, which take as long as the host is slow) and how long it does
 * something else (sleeps, looks at clocks). traced_call.hpp writes the lines.
 */
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

/** The numbers of what a rank has open; those of what is over are used again. */
template <class Handle> class TracedHandles {
  std::unordered_map<Handle, int> numbers_;
  std::vector<int> free_;
  int next_ = 0;

public:
  void open(Handle handle)
  {
    const auto [place, is_new] = numbers_.try_emplace(handle, next_);
    if (not is_new) // it has ended in a way that no call shows
      return;
    if (free_.empty()) {
      ++next_;
    } else {
      place->second = free_.back();
      free_.pop_back();
    }
  }
  /** -1 where no call in the trace has opened it. */
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

/** What the trace knows of a rank. */
struct TracedRank {
  int rank;
  TracedHandles<MPI_Request> requests = {};
  TracedHandles<MPI_Win> windows      = {};
  bool in_call                        = false;
  double since                        = 0; ///< when the last call or computation has ended
  double operations                   = 0; ///< computed since, not yet written
};

/** A line that a call writes, word by word. */
class TraceLine {
  std::string text_;

public:
  const char* call;
  TracedRank& rank;
  MPI_Comm comm = MPI_COMM_NULL; ///< the call's
  int root      = -1;
  std::vector<MPI_Request> requests; ///< that the call waits for
  std::string unfit;                 ///< why a trace cannot hold it

  TraceLine(TracedRank& its_rank, const char* its_call);
  TraceLine& word(std::string_view word);
  TraceLine& number(long long number);
  TraceLine& real(double number);
  /** Numbers in one word: 3,0*4,5. */
  TraceLine& numbers(const int* all, int count);
  /** The same of ranks or places, where neighbours stand as 0-15; `-` for none. */
  TraceLine& places(const std::vector<int>& all);
  TraceLine& datatype(MPI_Datatype type);
  TraceLine& datatypes(const MPI_Datatype* types, int count);
  bool at_root() const;
  const std::string& text() const { return text_; }
};

class CallTrace {
  std::ofstream file_;
  std::deque<TracedRank> ranks_;
  ActorMap<TracedRank*> by_actor_; // null for actors that are no ranks
  std::set<int> communicators_;    // of which the file has the members
  long long lines_ = 0;
  bool has_header_ = false;
  bool unfit_      = false;

  explicit CallTrace(const std::string& path);
  std::ostream& file();
  void write(const TraceLine& line);
  void flush(TracedRank& rank);
  void compute(aid_t actor, double operations);

public:
  /** The run's; null where it records none. */
  static CallTrace* get();
  /** Begin one, before the ranks do. */
  static void begin(const std::string& path);

  /** The current rank enters a call. */
  TraceLine enter(const char* call);
  /** It leaves it; @p done says whether there is a line of it. */
  void leave(const TraceLine& line, bool done);
  /** Have the file say who the members of a communicator are. */
  void introduce(MPI_Comm comm);
  /** The run is over: the file is whole. */
  void end();
};

/** The number of a communicator in traces: 0 for MPI_COMM_WORLD. */
int traced_number(MPI_Comm comm);

} // namespace weft
