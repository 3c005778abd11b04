// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include <deque>
#include <fstream>
#include <mpi.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::replay {

/** Words of one line, consumed one by one. docs/traces.md describes them. */
class Words {
  std::string line_;
  std::size_t at_ = 0;

public:
  explicit Words(std::string line) : line_(std::move(line)) {}
  std::string_view next();
  /** Returns the next word without consuming it. */
  std::string_view ahead() const;
  int integer();
  /** Size of memory, which may exceed an int. */
  long long bytes();
  double real();
  /** Reads a number, or returns @p meaning if the word is @p name. */
  int integer_or(std::string_view name, int meaning);
  /** Reads a list such as 3,0*4,5, where 0*4 repeats 0 four times; `-` is empty. Null requests are written as -1. */
  std::vector<int> numbers();
  /** Reads ranges such as 0-15,20; `-` is empty. */
  std::vector<int> places();
  MPI_Datatype datatype();
  std::vector<MPI_Datatype> datatypes();
  MPI_Op operation();
};

/** File with the calls of all ranks, read only as far as the ranks have advanced. */
class CallFile {
  std::ifstream file_;
  std::vector<std::deque<std::string>> ahead_; ///< by rank: lines read while looking for another rank's line

public:
  CallFile(const std::string& path, int ranks);
  /** Returns the remainder of the rank's next line; nothing at the rank's end. */
  std::optional<Words> next(int rank);
};

} // namespace weft::replay
