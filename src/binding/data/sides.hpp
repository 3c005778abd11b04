// SPDX-License-Identifier: LGPL-2.1-only
/* Arguments of a rank in a call that only moves data. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

/** Send or receive side of a rank's arguments. In neighbourhood collectives, the arrays are by neighbour. */
struct Side {
  enum class Peers {
    none,
    one,  ///< the rank in peer
    same, ///< all ranks: the same block for each
    each  ///< all ranks: a separate block for each
  };
  Peers peers               = Peers::none;
  int peer                  = -1; ///< for Peers::one
  void* buffer              = nullptr;
  int count                 = 0; ///< per block, if there are no `counts`
  MPI_Datatype type         = MPI_DATATYPE_NULL;
  const int* counts         = nullptr; ///< by rank
  const int* displacements  = nullptr; ///< by rank, in extents of the type; in bytes if there are types
  const MPI_Datatype* types = nullptr; ///< by rank
  const MPI_Aint* offsets   = nullptr; ///< by rank, in bytes, instead of displacements
};

/** Arguments of a rank in a call that only moves data. */
struct Sides {
  Side gives;
  Side gets;
  bool in_place = false; ///< the rank's block for itself is already in position
};

} // namespace weft
