// SPDX-License-Identifier: LGPL-2.1-only
/* Data of reductions on intercommunicators: each group gets the result of the opposite group's contributions, combined
 * in rank order. */
#pragma once

#include "binding/data/elements.hpp"
#include "binding/data/host_data.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace weft {

/** Part of the remote group's result that a rank receives. */
struct GotPart {
  void* buffer      = nullptr; ///< null: nothing
  int first         = 0;       ///< first element
  int count         = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

/** Contribution of a rank. */
struct GivenValues {
  const void* buffer = nullptr;
  int count          = 0;
  MPI_Datatype type  = MPI_DATATYPE_NULL;
  MPI_Op operation   = MPI_OP_NULL;
  bool contributes   = false;
};

class BetweenReduction : public HostData {
  struct WaitingPart {
    GotPart part;
    HeldType type;
  };
  struct Group {
    std::vector<Values> values; // by rank of the group, until they are combined
    std::size_t missing = 0;    // contributions yet to come
    Values result;
    bool data = true;                 // false: a buffer is shared, so the result is never read
    std::vector<WaitingPart> waiting; // of ranks of the remote group that have entered
  };
  std::array<Group, 2> groups_;
  std::size_t first_size_;

  static void deliver(const Group& group, const GotPart& part);

public:
  /** @param first_size ranks of the first group, of @p ranks in all */
  BetweenReduction(int first_size, int ranks);
  /** Enters rank @p rank, counted through both groups. */
  void come(int rank, const GivenValues& given, const GotPart& got);
  void leave(int) override {}
};

} // namespace weft
