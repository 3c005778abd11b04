// SPDX-License-Identifier: LGPL-2.1-only
/* Data of elements, packed and unpacked. */
#pragma once

#include <smpi/smpi.h>

#include <cstddef>
#include <cstdint>

namespace weft {

/** Returns an address advanced by @p bytes. The arithmetic is on integers, because MPI_BOTTOM with an absolute type is
 * not a pointer into any object. */
inline void* moved(const void* address, MPI_Aint bytes)
{
  return reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(address) + bytes); // NOLINT(performance-no-int-to-ptr)
}

void pack(const void* from, std::int64_t count, MPI_Datatype type, std::byte* to);
void unpack(const std::byte* from, void* to, std::int64_t count, MPI_Datatype type);
/** Unpacks the first @p bytes of an element. */
void unpack_part(const std::byte* from, void* to, std::size_t bytes, MPI_Datatype type);

} // namespace weft
