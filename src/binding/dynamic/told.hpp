// SPDX-License-Identifier: LGPL-2.1-only
/* Results that one rank broadcasts to a communicator. */
#pragma once

#include "binding/abi/smpi/collectives.hpp"
#include "binding/abi/smpi/communicators.hpp"

#include <memory>

namespace weft {

/** Returns the result of @p make at rank @p root, on all ranks of @p comm. Charged as a Bcast of a pointer. */
template <class Value, class Make> std::shared_ptr<const Value> told_by(MPI_Comm comm, int root, Make&& make)
{
  struct Told {
    std::shared_ptr<const Value> value;
    int readers;
  };
  Told* told = comm->rank() == root ? new Told{std::make_shared<const Value>(make()), comm->size()} : nullptr;
  if (comm->size() > 1)
    simgrid::smpi::colls::bcast(static_cast<void*>(&told), sizeof(void*), MPI_BYTE, root, comm);
  const std::shared_ptr<const Value> value = told->value;
  if (--told->readers == 0)
    delete told;
  return value;
}

} // namespace weft
