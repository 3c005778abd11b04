// SPDX-License-Identifier: LGPL-2.1-only
/* Performance variables: counters of the rank's calls by MPI function, by kind of call, by collective and by
 * communicator, and the simulated time. */
#pragma once

#include "binding/entries/tools/tool_use.hpp"
#include "binding/observe/rank_counters.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace weft {

enum class CountedOf { function, kind, collective, communicator, run };
constexpr std::size_t COUNTED_OF = 5;
enum class CountedWhat { calls, bytes, offloaded, time, longest };

struct PerformanceVariable {
  std::string name;
  std::string description;
  CountedOf of;
  CountedWhat what;
  std::string function = {}; ///< MPI's name
  std::size_t row      = 0;  ///< kind of call, or collective

  int variable_class() const;
  /** Times are doubles, counts unsigned long long. */
  bool is_time() const { return what == CountedWhat::time || what == CountedWhat::longest; }
  MPI_Datatype type() const { return is_time() ? MPI_DOUBLE : MPI_UNSIGNED_LONG_LONG; }
  int bind() const { return of == CountedOf::communicator ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT; }
  /** Returns whether the variable is continuous: it can be neither started nor written. */
  bool continuous() const { return of == CountedOf::run; }
  /** Returns the counters of the current rank. Invalid for the simulated time. */
  CallCounters& counters(MPI_Comm comm) const;
};

/** Returns all performance variables; those that count the same object are adjacent, in the order of CountedOf. */
const std::vector<PerformanceVariable>& performance_variables();

} // namespace weft
