// SPDX-License-Identifier: LGPL-2.1-only
/* Sleep of a rank that polls, for a whole number of polls. */
#pragma once

#include "fabric/fabric.hpp"

#include <cstdint>
#include <simgrid/forward.h>
#include <simgrid/kernel/Timer.hpp>

namespace weft {

/** Simulated time of a failed poll, in seconds (`[mpi] poll_overhead`). */
double poll_duration(const Fabric& fabric);

/** Sleep of the current rank for a number of polls. */
class Nap {
  simgrid::kernel::actor::ActorImpl* rank_;
  double start_;
  std::int64_t polls_;
  double poll_;
  simgrid::kernel::timer::Timer* timer_ = nullptr;
  bool over_                            = false; // true if it is over, or its end is fixed

  void set_timer(double date);

public:
  /** Nap of @p polls polls that take @p poll seconds each; 0: until it is woken. */
  Nap(std::int64_t polls, double poll);
  Nap(const Nap&)            = delete;
  Nap& operator=(const Nap&) = delete;
  ~Nap(); // the timer is still set if the rank has been killed

  void sleep();
  /** Ends the nap with the current poll, but not before @p fewest polls. */
  void wake(std::int64_t fewest);
  std::int64_t polls() const { return polls_; }
};

} // namespace weft
