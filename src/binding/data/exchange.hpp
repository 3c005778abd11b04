// SPDX-License-Identifier: LGPL-2.1-only
/* The data of one offloaded call: what every rank gives and what every rank gets. It does not depend on how the call is
 * timed. Results are there as soon as all have given: until its call ends, no rank may look at its buffers. */
#pragma once

#include "model/collective/movement.hpp"

#include <smpi/smpi.h>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace weft {

/** Whether a buffer was allocated with SMPI_SHARED_MALLOC: the program does not care for what is in it, and SMPI does
 *  not copy it. A call with such a buffer carries no data. */
bool is_shared(const void* buffer);

/** An argument of a call as SMPI's algorithms and weft can work with it. SMPI's MPI_BOTTOM is no address, and only its
 *  requests know: what adds displacements to it or copies from it needs the address from which absolute types count. */
template <class Argument> Argument address(Argument argument)
{
  if constexpr (std::is_same_v<Argument, void*> || std::is_same_v<Argument, const void*>)
    return argument == MPI_BOTTOM ? nullptr : argument;
  else
    return argument;
}

/** One rank's buffers, as SMPI hands them to an algorithm: MPI_IN_PLACE is resolved. What a collective does not have
 *  stays empty. */
struct RankBuffers {
  const void* send          = nullptr;
  int send_count            = 0;
  MPI_Datatype send_type    = MPI_DATATYPE_NULL;
  void* receive             = nullptr;
  int receive_count         = 0; ///< of one part
  MPI_Datatype receive_type = MPI_DATATYPE_NULL;
  const int* counts         = nullptr; ///< of each rank's part, where they differ
  const int* displacements  = nullptr; ///< of each rank's part; one after the other where there are none
};

/** What every call of a collective says of its data. */
struct ExchangeShape {
  Movement movement;
  int ranks = 0;
  int root  = -1;
  std::vector<double> parts; ///< bytes of each rank's part, or of its blocks; of those that have them
  /// Floats are added up as integers, in blocks of so many: SwitchML's conversion (model/switch/fixed_point.hpp); 0:
  /// not.
  std::size_t fixed_point_block = 0;
};

/** What of a rank's buffers may change or go before the call has ended, but that for the result. */
enum class Changing {
  nothing, ///< the rank waits
  arrays,  ///< counts, displacements and datatypes: MPI lets a program change none of its own, but many do that
  all      ///< SMPI's own buffers, which it frees
};

class Exchange {
public:
  virtual ~Exchange() = default;

  /** Rank @p rank gives its data. */
  virtual void give(int rank, const RankBuffers& buffers, Changing changing) = 0;
  /** All have given: work out the result. */
  virtual void combine(MPI_Op operation) = 0;
  /** What rank @p rank gave to a Bcast or Allgather, packed; null where the call carries no data, or none of it. */
  virtual const std::byte* part(int /*rank*/) const { return nullptr; }
  /** Put rank @p rank's result into its buffer. */
  virtual void deliver(int rank) = 0;

  static std::unique_ptr<Exchange> create(const ExchangeShape& shape);
};

} // namespace weft
