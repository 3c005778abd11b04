// SPDX-License-Identifier: LGPL-2.1-only
/* Background traffic as `weft run` describes it, in JSON (python/weft/runs/traffic/description.py). */
#pragma once

#include "base/units.hpp"
#include "fabric/topology/graph.hpp"
#include "traffic/goal_schedule.hpp"
#include "traffic/traffic_source.hpp"

#include <limits>
#include <string>
#include <vector>

namespace weft {

/** One table [[traffic]]. */
struct TrafficTable {
  std::string name;
  std::string pattern; ///< as the user wrote it
  Seconds start;
  Seconds end{std::numeric_limits<double>::infinity()};
  double weight = 1; ///< its share of links that are shared by job

  TrafficLoad load;    ///< without its rate, of all patterns but GOAL
  double share = 0;    ///< part of the bisection
  int window   = 1;    ///< messages of a sender in flight
  GoalSchedule goal;   ///< of GOAL
  bool repeat = false; ///< the schedule begins again when it has ended
};

/** Returns the tables of a description. Throws UserError. */
std::vector<TrafficTable> read_traffic(const std::string& path);

} // namespace weft
