// SPDX-License-Identifier: LGPL-2.1-only
/* Order of a rank's operations: which its streams may begin, and which have ended.
 *
 * In order, a stream is a place in the list of its operations, which ranks with the same program share. Otherwise a
 * rank counts, for each operation, how many of those before it are open, and each stream has a heap of those with none.
 */
#pragma once

#include "workload/program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace weft {

/** Order of a program's operations, which its ranks share. */
class ProgramOrder {
  const Program& program_;
  std::vector<std::vector<WorkNumber>> streams_; // in order: operations of each stream
  std::vector<std::uint32_t> place_;             // in order: of each operation in its stream
  std::vector<std::uint32_t> open_;              // otherwise: number of operations before each one
  std::vector<std::uint32_t> first_follower_;    // otherwise: where the list of those after it begins
  std::vector<WorkNumber> followers_;

public:
  /** @p program must outlive the object. */
  explicit ProgramOrder(const Program& program);
  const Program& program() const { return program_; }

private:
  friend class RankProgress;
};

class RankProgress {
  struct Stream {
    std::uint32_t at = 0; // in order: place of the operation that it does, or does next
    std::optional<WorkNumber> doing;
    std::vector<WorkNumber> ready; // otherwise: a heap with the first one on top
  };
  const ProgramOrder* order_;
  std::vector<Stream> streams_;
  std::vector<std::uint32_t> open_; // otherwise: by operation
  std::size_t left_;

  bool has_ended(WorkNumber number) const;
  void make_ready(WorkNumber number);
  std::optional<WorkNumber> next_of(Stream& stream, std::uint32_t number) const;

public:
  /** @p order must outlive the object. */
  explicit RankProgress(const ProgramOrder& order);
  /** Begins the next operation of a stream that can begin one, and returns it; none if no stream can. */
  std::optional<WorkNumber> begin_next();
  /** Notes that an operation that has begun has ended. */
  void end(WorkNumber number);
  /** Returns how many operations have not ended. */
  std::size_t left() const { return left_; }
  /** Returns the operations that have begun and not ended, by stream. */
  std::vector<WorkNumber> current() const;
};

} // namespace weft
