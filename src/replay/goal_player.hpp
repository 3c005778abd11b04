// SPDX-License-Identifier: LGPL-2.1-only
/* Execution of a GOAL schedule by MPI calls: a send is an MPI_Isend once it may start, a receive an MPI_Irecv, and both
 * complete with their requests. Computations of a rank on the same CPU are sequential; those on different CPUs overlap.
 * As in LogGOPSim, a rank that computes starts no other operation: operations that complete meanwhile release their
 * successors at the end of the computation.
 */
#pragma once

#include <smpi/smpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace weft::replay {

/** Send, receive or computation of a rank. */
struct GoalLine {
  std::string kind;  ///< `send`, `recv` or `calc`
  std::int64_t size; ///< bytes, or nanoseconds
  int peer;
  int tag;
  int cpu;
  std::vector<std::size_t> after_ends;   ///< operations of the rank that must have ended
  std::vector<std::size_t> after_starts; ///< operations of the rank that must have started
};

/** Schedule of all ranks: `RANK KIND SIZE PEER TAG CPU ENDS STARTS`, as written by python/weft/trace/goal.py. */
class GoalFile {
  std::vector<std::vector<GoalLine>> operations_;

public:
  GoalFile(const std::string& path, int ranks);
  const std::vector<GoalLine>& operations_of(int rank) const { return operations_.at(static_cast<std::size_t>(rank)); }
};

/** End times of ranks, written to a file by the last rank. */
class RankEnds {
  std::vector<double> seconds_;
  std::size_t left_;

public:
  explicit RankEnds(int ranks) : seconds_(static_cast<std::size_t>(ranks)), left_(seconds_.size()) {}
  void note(int rank, const char* path);
};

/** Executes the operations of one rank. */
class GoalPlayer {
  struct State {
    std::size_t missing = 0; ///< number of unfinished predecessors
    std::vector<std::size_t> at_end;
    std::vector<std::size_t> at_start;
  };

  const std::vector<GoalLine>& lines_;
  std::vector<State> states_;
  std::set<std::size_t> ready_;
  std::map<int, std::deque<std::size_t>> cpus_; ///< computations that are ready; the first one is running
  std::map<int, double> remaining_;             ///< seconds of the running computations
  std::vector<MPI_Request> requests_;
  std::vector<std::size_t> of_requests_; ///< the operation of each request
  std::size_t left_;

  void start(std::size_t operation);
  void start_ready();
  void end(std::size_t operation);
  void release(const std::vector<std::size_t>& waiting);
  void compute();
  void finish_messages(bool wait);

public:
  explicit GoalPlayer(const std::vector<GoalLine>& lines);
  void play();
};

} // namespace weft::replay
