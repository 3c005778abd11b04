// SPDX-License-Identifier: LGPL-2.1-only
/* Counters of each rank's calls, for tools in the program (MPI_T). Disabled until a rank asks for its counters, because
 * the profile and the record do not need such a table. */
#pragma once

#include "binding/observe/mpi_function.hpp"
#include "model/collective/collective_kind.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <simgrid/forward.h>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/** Counts of some of a rank's calls. */
struct CallCounters {
  std::uint64_t calls          = 0;
  std::uint64_t bytes          = 0;  ///< of collectives, as in the record
  std::uint64_t offloaded      = 0;  ///< collectives that switches or NICs executed
  double time                  = 0;  ///< simulated seconds
  std::vector<double*> longest = {}; ///< raised to the time of each longer call

  void add(double duration)
  {
    calls += 1;
    time += duration;
    for (double* const one : longest)
      *one = std::max(*one, duration);
  }
};

/** Counters of one rank. References to counters stay valid. */
class RankCounters {
  static bool counting;

public:
  std::array<CallCounters, CALL_KINDS> kinds;
  std::map<std::string, CallCounters, std::less<>> functions; ///< by name
  std::array<CallCounters, COLLECTIVE_KINDS.size()> collectives;
  std::map<int, CallCounters> communicators; ///< collectives by number of the communicator

  /** Returns whether any rank has asked for its counters. */
  static bool exist() { return counting; }
  /** Returns the counters of a rank, and enables counting for all ranks. */
  static RankCounters& of(aid_t actor);

  /** Counts a call of an MPI function. Out of line: most runs have no such tool. */
  [[gnu::noinline]] static void count_function(aid_t actor, const MpiFunction& function, double duration);
  struct Collective {
    const CollectiveKind* kind;
    int communicator; ///< number of the communicator; MPI_UNDEFINED if the call began before counting
    std::int64_t bytes;
    bool offloaded;
    double duration;
  };
  /** Counts a collective. Out of line: most runs have no such tool. */
  [[gnu::noinline]] static void count_collective(aid_t actor, const Collective& call);
};

} // namespace weft
