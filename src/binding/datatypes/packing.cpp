// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/datatypes/packing.hpp"

#include "binding/datatypes/type_maps.hpp"

#include <algorithm>
#include <cstring>

namespace weft {

void pack(const void* from, std::int64_t count, MPI_Datatype type, std::byte* to)
{
  type_map_of(type)->for_pieces(count, [&](MPI_Aint offset, std::int64_t bytes) {
    std::memcpy(to, moved(from, offset), static_cast<std::size_t>(bytes));
    to += bytes;
  });
}

void unpack(const std::byte* from, void* to, std::int64_t count, MPI_Datatype type)
{
  type_map_of(type)->for_pieces(count, [&](MPI_Aint offset, std::int64_t bytes) {
    std::memcpy(moved(to, offset), from, static_cast<std::size_t>(bytes));
    from += bytes;
  });
}

void unpack_part(const std::byte* from, void* to, std::size_t bytes, MPI_Datatype type)
{
  auto left = static_cast<std::int64_t>(bytes);
  type_map_of(type)->for_pieces(1, [&](MPI_Aint offset, std::int64_t length) {
    const std::int64_t some = std::min(left, length);
    std::memcpy(moved(to, offset), from, static_cast<std::size_t>(some));
    from += some;
    left -= some;
  });
}

} // namespace weft
