// SPDX-License-Identifier: LGPL-2.1-only
/* Description of one rank's call of a collective, filled from MPI's arguments on entry and used by all layers below.
 *
 * Functions here depend on the description alone. Each subsystem defines its own views: tree_obstacle() (requirements
 * on switches), tree_call() (loads of a tree), host_call() (arguments of a host algorithm) and host_stage_call() (the
 * ranks of a host in an offloaded call).
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
  const void* handle = nullptr; ///< MPI's handle; the core only compares handles
  std::string name;             ///< MPI's name; "derived" for a type that the program created
  std::int64_t size = 0;        ///< bytes
  bool predefined   = true;
};

/** Reduction operation of a call. */
struct ReductionOperation {
  const void* handle = nullptr; ///< Operation that combines elements.
  std::string name;             ///< MPI's name; "user-defined" for an operation that the program created
  bool commutative = true;
  bool predefined  = true;
};

struct CallDescriptor {
  /** Value of `elements` if MPI allows it to differ between ranks. */
  static constexpr std::int64_t NOT_AGREED = -1;

  const CollectiveKind* kind = nullptr;
  bool blocking              = true;  ///< true for MPI_Allreduce, false for MPI_Iallreduce
  int root                   = -1;    ///< rank; -1: not rooted
  int ranks                  = 1;     ///< size of the communicator; of both groups of an intercommunicator
  bool between_groups        = false; ///< on an intercommunicator; root and arguments are then not described
  /// Number of elements on which all ranks agree: elements of the vector or, for Allgather, Gather, Scatter and
  /// Alltoall, of one rank's block.
  std::int64_t elements               = NOT_AGREED;
  const ElementType* type             = nullptr; ///< null: an element is a byte, since types may differ between ranks
  const ReductionOperation* operation = nullptr; ///< null: none, or one that a replayed trace does not name
  std::span<const int> counts         = {};      ///< elements of each rank's part, if they may differ between ranks
  std::int64_t count_size             = 0;       ///< bytes of an element of counts
  std::uint64_t counts_number         = 0;       ///< equal numbers mean equal counts; 0: there are none
  std::int64_t own_bytes = 0; ///< bytes that the rank sends, or receives if it only receives; for the record

  /** Name in records: "iallreduce" for the non-blocking Allreduce. */
  std::string name() const { return std::string(blocking ? "" : "i").append(kind->name); }
  /** Returns the movement of data that switches execute. Only for offloadable collectives. */
  const Movement& movement() const { return kind->movement.value(); }
  std::string_view type_name() const { return type ? std::string_view(type->name) : std::string_view(); }
  std::string_view operation_name() const { return operation ? std::string_view(operation->name) : std::string_view(); }
  bool commutative() const { return not operation || operation->commutative; }
  std::int64_t element_size() const { return type ? type->size : 1; }
  /** Returns true if no rank has any data. Some SMPI algorithms divide by the count, so they must not see such a call;
   * MPI libraries return from it immediately. */
  bool empty() const { return elements == 0; }
  /** Returns the bytes of the whole vector; 0 for collectives that only hosts execute, unless they
   * reduce. */
  std::int64_t vector_bytes() const;
  Bytes vector() const { return Bytes(static_cast<double>(vector_bytes())); }
  /** Returns the bytes of each rank's part, or of all the blocks that it sends; the root's vector if only the root
   * sends; otherwise an empty list. */
  std::vector<double> part_sizes() const;

  /** Returns true if @p other, another rank's description, is the same call. User-defined types and operations are
   * different objects at each rank, so only predefined ones are compared. */
  bool is_same(const CallDescriptor& other) const;
  /** Describes the mismatch with @p other; nothing if MPI lets two ranks pass both to the same call.
   * @p who and @p other_who name the ranks: "rank 3". */
  std::optional<std::string> difference(const CallDescriptor& other, const std::string& who,
                                        const std::string& other_who) const;
  /** Returns the call in readable form: "MPI_Allreduce(256 x MPI_INT, MPI_SUM)". */
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

/** Return descriptors of the blocking and the non-blocking form of a collective, to be filled in; an unknown name does
 * not compile. */
consteval CallDescriptor blocking(std::string_view name)
{
  return {.kind = &collective(name), .blocking = true};
}
consteval CallDescriptor nonblocking(std::string_view name)
{
  return {.kind = &collective(name), .blocking = false};
}

} // namespace weft
