// SPDX-License-Identifier: LGPL-2.1-only
/* Sessions of performance variables, and handles in them. */
#pragma once

#include "binding/entries/tools/performance_variables.hpp"

#include <cstdint>

namespace weft {

/** Handle of a performance variable. Its value counts from start to stop. */
class OpenedCounter {
  const PerformanceVariable& variable_;
  CallCounters* counters_; // null: the simulated time
  bool running_        = false;
  std::uint64_t count_ = 0; // value at its last stop
  std::uint64_t from_  = 0; // counter at its last start
  double time_         = 0; // time at its last start
  double time_from_    = 0;

  std::uint64_t counter() const;
  double clock() const;

public:
  /** @param comm the communicator to which the variable is bound */
  OpenedCounter(const PerformanceVariable& variable, MPI_Comm comm);
  OpenedCounter(const OpenedCounter&)            = delete;
  OpenedCounter& operator=(const OpenedCounter&) = delete;
  ~OpenedCounter() { stop(); }

  const PerformanceVariable& variable() const { return variable_; }
  void start();
  void stop();
  /** Copies the value into a buffer of the variable's type. */
  void read(void* buffer) const;
  void write(const void* buffer);
  void reset();
};

struct CounterSession {
  OpenedObjects counters;
};

} // namespace weft
