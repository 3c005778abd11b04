// SPDX-License-Identifier: LGPL-2.1-only
/* Data of one offloaded call: each rank's contribution and result, independent of the call's timing. Results are
 * computed as soon as all ranks have contributed, because no rank may read its buffers before its call ends. */
#pragma once

#include "model/collective/movement.hpp"

#include <smpi/smpi.h>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace weft {

/** Returns whether a buffer was allocated with SMPI_SHARED_MALLOC: the program ignores its contents, and SMPI does not
 * copy it. A call with such a buffer carries no data. */
bool is_shared(const void* buffer);

/** Returns an argument in the form that SMPI's algorithms and weft can use: MPI_BOTTOM becomes a
 * null pointer. SMPI's MPI_BOTTOM is a marker that only its requests understand; code that adds
 * displacements to it or copies from it needs the base of absolute addresses. */
template <class Argument> Argument address(Argument argument)
{
  if constexpr (std::is_same_v<Argument, void*> || std::is_same_v<Argument, const void*>)
    return argument == MPI_BOTTOM ? nullptr : argument;
  else
    return argument;
}

/** One rank's buffers, as SMPI passes them to an algorithm: MPI_IN_PLACE is resolved. Fields that do not apply to a
 * collective are empty. */
struct RankBuffers {
  const void* send          = nullptr;
  int send_count            = 0;
  MPI_Datatype send_type    = MPI_DATATYPE_NULL;
  void* receive             = nullptr;
  int receive_count         = 0; ///< per part
  MPI_Datatype receive_type = MPI_DATATYPE_NULL;
  const int* counts         = nullptr; ///< elements of each rank's part, if they differ
  const int* displacements  = nullptr; ///< offset of each rank's part; null: contiguous
};

/** Data movement of a call, the same at all ranks. */
struct ExchangeShape {
  Movement movement;
  int ranks = 0;
  int root  = -1;
  std::vector<double> parts; ///< bytes of each rank's part, or of all its blocks; empty if the movement has no parts
  /// Block size in floats of SwitchML's conversion (model/switch/fixed_point.hpp), which sums
  /// floats as integers; 0: no conversion.
  std::size_t fixed_point_block = 0;
};

/** Arguments, apart from the receive buffer, that may change or be freed before the call ends. */
enum class MayChange {
  nothing, ///< the rank blocks in the call
  arrays,  ///< counts, displacements and datatypes: MPI forbids changing the arrays, but many programs do
  all      ///< also the send buffer: it is SMPI's own, and SMPI frees it
};

class Exchange {
public:
  virtual ~Exchange() = default;

  /** Stores the contribution of rank @p rank. */
  virtual void give(int rank, const RankBuffers& buffers, MayChange changing) = 0;
  /** Computes the result once all ranks have contributed. */
  virtual void combine(MPI_Op operation) = 0;
  /** Returns the packed contribution of rank @p rank to a Bcast or Allgather; null if the call carries no data or no
   * bytes. */
  virtual const std::byte* part(int /*rank*/) const { return nullptr; }
  /** Copies rank @p rank's result into its receive buffer. */
  virtual void deliver(int rank) = 0;

  static std::unique_ptr<Exchange> create(const ExchangeShape& shape);
};

} // namespace weft
