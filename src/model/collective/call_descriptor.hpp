// SPDX-License-Identifier: LGPL-2.1-only
/* Description of one rank's call of a collective, filled at the entry from MPI and used by everything below.
 *
 * What follows from it alone is a function here. What one part of weft makes of it stands beside that part:
 * tree_obstacle() (what is asked of switches), tree_call() (loads of a tree), host_call() (what an algorithm of the
 * hosts is called with) and host_stage_call() (the ranks of a host in an offloaded call).
 */
#pragma once

#include "base/units.hpp"
#include "model/collective/collective_kind.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/** Datatype of the elements that a call combines. */
struct ElementType {
  const void* handle = nullptr; ///< MPI's; the core only compares it
  std::string name;             ///< MPI's; "derived" for a type that the program made
  std::int64_t size = 0;        ///< bytes
  bool predefined   = true;
};

/** Operation by which a call combines elements. */
struct ReductionOperation {
  const void* handle = nullptr; ///< MPI's; the core only compares it
  std::string name;             ///< MPI's; "user-defined" for one that the program made
  bool commutative = true;
  bool predefined  = true;
};

struct CallDescriptor {
  /** Value of elements where MPI lets them differ between ranks. */
  static constexpr std::int64_t NOT_AGREED = -1;

  const CollectiveKind* kind = nullptr;
  bool blocking              = true; ///< MPI_Allreduce, not MPI_Iallreduce
  int root                   = -1;   ///< rank; -1: all ranks are alike
  int ranks                  = 1;    ///< of the communicator
  /// Elements on which all ranks agree: the vector; for Allgather, Gather, Scatter and Alltoall a rank's block.
  std::int64_t elements               = NOT_AGREED;
  const ElementType* type             = nullptr; ///< null: an element is a byte, since types may differ between ranks
  const ReductionOperation* operation = nullptr; ///< null: none, or one that a replayed trace does not name
  std::span<const int> counts         = {};      ///< elements of each rank's part, if they may differ between ranks
  std::int64_t count_size             = 0;       ///< bytes of an element of counts
  std::uint64_t counts_number         = 0;       ///< equal numbers mean equal counts; 0: there are none
  std::int64_t own_bytes              = 0;       ///< that the rank gives, or gets if it only gets; for the record

  /** Name in records: "iallreduce" for the non-blocking Allreduce. */
  std::string name() const { return std::string(blocking ? "" : "i").append(kind->name); }
  /** What a switch does for the call. Only for offloadable collectives. */
  const Movement& movement() const { return kind->movement.value(); }
  std::string_view type_name() const { return type ? std::string_view(type->name) : std::string_view(); }
  std::string_view operation_name() const { return operation ? std::string_view(operation->name) : std::string_view(); }
  bool commutative() const { return not operation || operation->commutative; }
  std::int64_t element_size() const { return type ? type->size : 1; }
  /** Whether no rank has anything to give. Some of SMPI's algorithms divide by the count, so they must not see such a
   *  call; MPI libraries return from it at once. */
  bool empty() const { return elements == 0; }
  /** Bytes of the whole vector; 0 for collectives that only hosts carry out, unless they reduce. */
  std::int64_t vector_bytes() const;
  Bytes vector() const { return Bytes(static_cast<double>(vector_bytes())); }
  /** Bytes of each rank's part, or of all the blocks that it gives; the root's vector if only the root gives; else
   *  none. */
  std::vector<double> part_sizes() const;

  /** Whether @p other, another rank's, is the same call. Types and operations that a program made are different objects
   *  at each rank, so only predefined ones are compared. */
  bool is_same(const CallDescriptor& other) const;
  /** Says how @p other is not the same call; nothing if MPI allows two ranks to make both as one. @p who and @p
   * other_who name the ranks: "rank 3". */
  std::optional<std::string> difference(const CallDescriptor& other, const std::string& who,
                                        const std::string& other_who) const;
  /** The call as a person would write it: "MPI_Allreduce(256 x MPI_INT, MPI_SUM)". */
  std::string text() const;

private:
  std::int64_t agreed_bytes() const { return elements < 0 ? elements : elements * element_size(); }
  bool differs_apart_from_counts(const CallDescriptor& other) const;
};

/** Description that outlives the arguments of the rank that made the call. */
class KeptDescriptor {
  std::vector<int> counts_;
  CallDescriptor call_;

public:
  explicit KeptDescriptor(const CallDescriptor& call) : counts_(call.counts.begin(), call.counts.end()), call_(call)
  {
    call_.counts = counts_;
  }
  KeptDescriptor(const KeptDescriptor&)            = delete;
  KeptDescriptor& operator=(const KeptDescriptor&) = delete;
  const CallDescriptor& operator*() const { return call_; }
  const CallDescriptor* operator->() const { return &call_; }
};

/** The two forms of a collective, to be filled; a name that has no row does not compile. */
consteval CallDescriptor blocking(std::string_view name)
{
  return {.kind = &collective(name), .blocking = true};
}
consteval CallDescriptor nonblocking(std::string_view name)
{
  return {.kind = &collective(name), .blocking = false};
}

} // namespace weft
