// SPDX-License-Identifier: LGPL-2.1-only
/* What a collective says of one rank's call: what must be the same at all ranks, and what it would have a switch do. */
#pragma once

#include "model/collective/collective_kind.hpp"

#include <smpi/smpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace weft {

/** What must be equal at all ranks of a call. Fields that a collective does not have stay at their defaults. */
struct CallSignature {
  CalledCollective called;
  MPI_Datatype datatype      = MPI_DATATYPE_NULL;
  MPI_Op operation           = MPI_OP_NULL;
  std::int64_t count         = 0;  ///< of elements of the datatype
  std::int64_t bytes         = -1; ///< that must agree whatever the datatype; -1: none need to
  int root                   = -1;
  std::span<const int> parts = {}; ///< elements of each rank's part, where they may differ from rank to rank
  std::int64_t part_size     = 0;  ///< bytes of such an element
  std::uint64_t parts_number = 0;  ///< of parts: those with the same are equal (KnownCounts); 0 where there are none

  /** As a person would write it: "MPI_Allreduce(256 x MPI_INT, MPI_SUM)". */
  std::string text() const;
};

/** What a collective says of one rank's call. */
struct Described {
  CallSignature signature;
  std::int64_t bytes = 0; ///< that this rank gives, or gets where it only gets; for the record
  /** No rank has anything to give. Some of SMPI's algorithms divide by the count, so they must not see such a call; MPI
   *  libraries return from it at once. */
  bool empty = false;
  std::int64_t message =
      0; ///< bytes of the whole vector, as TreeCall has it; where switches do nothing for it, not said

  const CollectiveKind& kind() const { return *signature.called.kind; }
  /** What a switch does for it. Only where one does. */
  const Movement& movement() const { return kind().movement.value(); }
  /** Bytes of each rank's part, or of all the blocks that it gives; none where the collective has neither. */
  std::vector<double> part_sizes(int ranks) const;
};

/** Whether an operation does; so is taken for granted where a replayed trace names none. */
bool commutes(MPI_Op operation);

/** In bytes. */
std::int64_t size_of(int count, MPI_Datatype datatype);

} // namespace weft
