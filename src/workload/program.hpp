// SPDX-License-Identifier: LGPL-2.1-only
/* Programs of accelerators: their computation and communication in one iteration of training. Ranks with equal
 * behaviour, such as those of one pipeline stage, share a program, whose messages name the peer by its distance. */
#pragma once

#include "base/named.hpp"
#include "collective/host/nccl/nccl_tuner.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {

enum class WorkKind : std::uint8_t { compute, collective, send, receive };
template <> struct Names<WorkKind> {
  static constexpr std::array ROWS{std::pair{WorkKind::compute, std::string_view("computation")},
                                   std::pair{WorkKind::collective, std::string_view("collective")},
                                   std::pair{WorkKind::send, std::string_view("send")},
                                   std::pair{WorkKind::receive, std::string_view("receive")}};
};

/** Index of an operation in a program, in insertion order. */
using WorkNumber = std::uint32_t;

/** Operation of a program. */
struct Work {
  WorkKind kind             = WorkKind::compute;
  NcclCollective collective = NcclCollective::allreduce;
  std::uint32_t stream      = 0;
  std::uint32_t groups      = 0; ///< for a collective: the division in which the rank's group takes part
  int peer                  = 0; ///< for a message: the peer's rank minus this rank
  int tag                   = 0; ///< for a message; only equal tags match
  double amount             = 0; ///< seconds of computation, or bytes; for a collective: see Program::add_collective
  std::uint32_t name        = 0; ///< index into the program's names
};

/** Operations of a rank in streams, each of which executes one operation at a time. */
class Program {
  std::vector<Work> works_;
  std::vector<std::uint32_t> first_after_{0}; // by operation: start of its list in after_
  std::vector<WorkNumber> after_;
  std::vector<std::string> names_{""};
  std::unordered_map<std::string, std::uint32_t> numbers_{{"", 0}}; // index in names_ by name
  std::vector<bool> on_host_;                                       // by stream
  std::uint32_t streams_ = 0;
  bool in_order_;

  WorkNumber add(Work work, std::span<const WorkNumber> after, const std::string& name);

public:
  /** @p in_order: each stream executes its operations in insertion order, as on a GPU. Otherwise a stream executes the
   * first operation that is ready. */
  explicit Program(bool in_order) : in_order_(in_order) {}

  /** Adds an operation that begins when the operations @p after, in any stream, have ended. Returns its number. Throws
   * UserError if @p seconds is negative or not a number, as the other functions do for bytes. */
  WorkNumber add_computation(std::uint32_t stream, double seconds, std::span<const WorkNumber> after = {},
                             const std::string& name = "");
  /** Adds a collective of the rank's group in division @p groups. @p bytes: the vector of an Allreduce, Bcast or
   * Reduce; all blocks of an Allgather, Reduce-Scatter or Alltoall. */
  WorkNumber add_collective(std::uint32_t stream, std::uint32_t groups, NcclCollective collective, double bytes,
                            std::span<const WorkNumber> after = {}, const std::string& name = "");
  /** Adds a message to the rank whose number is this rank's plus @p peer. */
  WorkNumber add_send(std::uint32_t stream, int peer, double bytes, int tag = 0, std::span<const WorkNumber> after = {},
                      const std::string& name = "");
  WorkNumber add_receive(std::uint32_t stream, int peer, double bytes, int tag = 0,
                         std::span<const WorkNumber> after = {}, const std::string& name = "");
  /** Marks a stream as one of the CPU: its computation does not count as the GPU's. */
  void set_host_stream(std::uint32_t stream);

  std::size_t size() const { return works_.size(); }
  const Work& operator[](WorkNumber number) const { return works_[number]; }
  std::span<const WorkNumber> after(WorkNumber number) const
  {
    return std::span(after_).subspan(first_after_[number], first_after_[number + 1] - first_after_[number]);
  }
  const std::string& name(WorkNumber number) const { return names_[works_[number].name]; }
  std::uint32_t streams() const { return streams_; }
  bool is_on_host(std::uint32_t stream) const { return stream < on_host_.size() && on_host_[stream]; }
  bool in_order() const { return in_order_; }
  /** Throws UserError if an operation waits for one that does not exist or, with in_order, for one that does not
   * precede it.
   */
  void check() const;
};

/** Division of ranks into groups that communicate: tensor parallel, data parallel and so on. */
class GroupDivision {
  std::string name_;
  std::vector<std::vector<int>> members_;
  std::vector<int> group_; // by rank
  std::vector<int> place_; // by rank: its position in its group

public:
  static constexpr int NO_GROUP = -1; ///< group of a rank that is in none

  /** @p members: the ranks of each group, in order. Throws UserError if a rank is in two groups, or is not below @p
   * ranks. */
  GroupDivision(std::string name, std::vector<std::vector<int>> members, int ranks);
  const std::string& name() const { return name_; }
  int number() const { return static_cast<int>(members_.size()); }
  const std::vector<int>& members(int group) const { return members_[static_cast<std::size_t>(group)]; }
  int group_of(int rank) const { return group_[static_cast<std::size_t>(rank)]; }
  int place_of(int rank) const { return place_[static_cast<std::size_t>(rank)]; }
};

/** Programs of all ranks, one rank per accelerator. */
struct Workload {
  std::vector<Program> programs;
  std::vector<int> program_of; ///< by rank
  std::vector<GroupDivision> divisions;

  int ranks() const { return static_cast<int>(program_of.size()); }
  const Program& program(int rank) const
  {
    return programs[static_cast<std::size_t>(program_of[static_cast<std::size_t>(rank)])];
  }
};

/** Throws UserError if operations name programs, divisions or peers that do not exist. */
void check(const Workload& workload);

/** Returns the kinds of communication: the names of the divisions, then "messages". */
std::vector<std::string> kinds_of(const Workload& workload);

/** Describes an operation of a rank for error messages: `rank 3, operation 17 "attention" (collective allreduce)`. */
std::string describe(const Workload& workload, int rank, WorkNumber number);

} // namespace weft
