// SPDX-License-Identifier: LGPL-2.1-only
/* Order of a rank's operations: which of them its streams may begin, and which are complete.
 *
 * In order, the state of a stream is an index into the list of its operations, which ranks with the same program share.
 * Otherwise a rank counts the incomplete predecessors of each operation, and each stream has a heap of ready
 * operations.
 */
#pragma once

#include "workload/program.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace weft {

/** Order of a program's operations, shared by its ranks. */
class ProgramOrder {
  const Program& program_;
  std::vector<std::vector<WorkNumber>> streams_; // in order: operations of each stream
  std::vector<std::uint32_t> place_;             // in order: index of each operation in its stream
  std::vector<std::uint32_t> open_;              // otherwise: number of predecessors of each operation
  std::vector<std::uint32_t> first_follower_;    // otherwise: start of its list of successors
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
    std::uint32_t at = 0; // in order: index of the operation that it executes, or executes next
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
  /** Begins the next operation of a stream that is ready, and returns it; none if no stream is. */
  std::optional<WorkNumber> begin_next();
  /** Records that an operation in progress is complete. */
  void end(WorkNumber number);
  /** Returns the number of incomplete operations. */
  std::size_t left() const { return left_; }
  /** Returns the operations in progress, by stream. */
  std::vector<WorkNumber> current() const;
};

} // namespace weft
