// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include <deque>
#include <fstream>
#include <mpi.h>
#include <optional>
#include <string>
#include <vector>

namespace weft::replay {

/** One line of a trace in SimGrid's format, such as `3 allreduce 16 0 MPI_INT MPI_SUM`. Its
 * arguments are consumed one by one. */
class Action {
  std::vector<std::string> words_;
  std::size_t at_ = 2;

public:
  explicit Action(const std::string& line);

  int rank() const;
  const std::string& name() const { return words_.at(1); }

  bool at_end() const { return at_ == words_.size(); }
  int integer();
  double real();
  std::vector<int> integers(int count);
  /** Reads a datatype by its MPI name. */
  MPI_Datatype datatype();
  /** Reads an operation by its MPI name; a user-defined operation is replaced by a commutative one that does
   * nothing. */
  MPI_Op operation();
};

/** Trace of all ranks in one file, read only as far as the ranks have advanced. */
class Trace {
  std::ifstream file_;
  std::vector<std::deque<Action>> ahead_; ///< by rank: actions read while looking for another rank's action

public:
  Trace(const std::string& path, int ranks);

  std::optional<Action> next(int rank);
};

} // namespace weft::replay
