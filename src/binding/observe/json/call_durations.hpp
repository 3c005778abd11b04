// SPDX-License-Identifier: LGPL-2.1-only
/* Duration of each rank's stay in each collective of a run of jobs, in the order of the rank's calls, for comparisons
 * of the same calls in two runs. */
#pragma once

#include "model/collective/call_descriptor.hpp"

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace weft {

class CallDurations {
  /** Calls that the record shows as one row of `durations`. */
  struct Kind {
    int world; ///< number of the job's MPI_COMM_WORLD
    std::string collective;
    int communicator_size;
    std::string datatype;
    std::string operation;
    auto operator<=>(const Kind&) const = default;
  };
  struct Calls {
    std::vector<std::int32_t> ranks;
    std::vector<double> durations; ///< simulated seconds, of the rank at the same index
  };
  std::map<Kind, Calls> kinds_;

public:
  /** Adds one rank's call. @p world: number of the job's MPI_COMM_WORLD. */
  void add(const CallDescriptor& call, int world, int rank, double duration)
  {
    Calls& calls =
        kinds_[{world, call.name(), call.ranks, std::string(call.type_name()), std::string(call.operation_name())}];
    calls.ranks.push_back(rank);
    calls.durations.push_back(duration);
  }

  /** Writes a line of JSON per kind of calls, each followed by its ranks as 32-bit integers and its durations as
   * doubles, both in the machine's order of bytes. @p job_name returns the name of the job with a world. */
  void write(const std::function<std::string(int world)>& job_name, std::ostream& file) const;
};

} // namespace weft
