// SPDX-License-Identifier: LGPL-2.1-only
/* Schedules in GOAL, the language of LogGOPSim and ATLAHS: for each rank a graph of sends, receives and computation
 * (T. Hoefler, C. Siebert, A. Lumsdaine: Group Operation Assembly Language, ICPP 2009). */
#pragma once

#include "base/units.hpp"
#include "protocol/message_matching.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft {

struct GoalOperation {
  enum class Kind : std::uint8_t { send, receive, compute };

  Kind kind = Kind::compute;
  Bytes bytes;  ///< size of a send or receive
  Seconds time; ///< duration of a computation
  int peer = 0; ///< destination of a send, or source of a receive
  int tag  = 0;
  int cpu  = 0;                  ///< computations on the same CPU of a rank are sequential
  std::vector<int> after_ends;   ///< operations of the rank that must have ended (`requires`)
  std::vector<int> after_starts; ///< operations of the rank that must have started (`irequires`)
};

/** Operations of each rank. */
using GoalSchedule = std::vector<std::vector<GoalOperation>>;

/** Port through which a schedule communicates and computes. */
class GoalPort {
public:
  GoalPort()                           = default;
  GoalPort(const GoalPort&)            = delete;
  GoalPort& operator=(const GoalPort&) = delete;
  virtual ~GoalPort()                  = default;
  /** Sends a message between two ranks; calls GoalExecution::arrived with @p operation at its arrival. */
  virtual void send(int from, int to, Bytes bytes, std::size_t operation) = 0;
  /** Calls GoalExecution::computed with @p operation after @p time. */
  virtual void compute(Seconds time, std::size_t operation) = 0;
};

/** Execution of a schedule. A send of less than @p eager bytes completes immediately, a longer one when its message
 * arrives. A message leaves without waiting for its receive, and is matched on arrival, as in LogGOPSim. */
class GoalExecution {
  struct State {
    const GoalOperation* operation = nullptr;
    int rank                       = 0;
    int missing                    = 0; // number of unfinished predecessors
    std::vector<std::size_t> at_end;    // operations that wait for the end of this one
    std::vector<std::size_t> at_start;
  };
  struct Cpu {
    bool busy = false;
    std::deque<std::size_t> waiting;
  };

  GoalPort& port_;
  Bytes eager_;
  std::vector<State> states_;
  std::map<std::pair<int, int>, Cpu> cpus_;
  MessageMatching matching_; // of arrived messages; endpoints are ranks, numbers are operations
  std::vector<std::size_t> ready_;
  std::size_t left_ = 0;

  void start(std::size_t operation);
  void end(std::size_t operation);
  void release(const std::vector<std::size_t>& waiting);
  void compute(std::size_t operation);
  void run_ready();

public:
  /** @p schedule and @p port must outlive the execution. Throws std::logic_error if an operation names a rank or
   * operation that does not exist. */
  GoalExecution(const GoalSchedule& schedule, GoalPort& port, Bytes eager);

  /** Starts the operations without predecessors; can be called again once the schedule has ended. */
  void begin();
  void arrived(std::size_t operation);
  void computed(std::size_t operation);
  bool ended() const { return left_ == 0; }
};

} // namespace weft
