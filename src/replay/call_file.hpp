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

/** The words of one line, which are taken one after the other. docs/traces.md says what they are. */
class Words {
  std::string line_;
  std::size_t at_ = 0;

public:
  explicit Words(std::string line) : line_(std::move(line)) {}
  std::string_view next();
  /** The next word, which is still there. */
  std::string_view ahead() const;
  int integer();
  /** Of memory: more than an int holds. */
  long long bytes();
  double real();
  /** A number, or what a name stands for. */
  int integer_or(std::string_view name, int meaning);
  /** 3,0*4,5; null is -1. */
  std::vector<int> numbers();
  /** 0-15,20; `-` is none. */
  std::vector<int> places();
  MPI_Datatype datatype();
  std::vector<MPI_Datatype> datatypes();
  MPI_Op operation();
};

/** A file of all ranks' calls, which is read as far as some rank needs it. */
class CallFile {
  std::ifstream file_;
  std::vector<std::deque<std::string>> ahead_; ///< by rank: what was read while looking for another rank's line

public:
  CallFile(const std::string& path, int ranks);
  /** The rest of the rank's next line; nothing at its end. */
  std::optional<Words> next(int rank);
};

} // namespace weft::replay
