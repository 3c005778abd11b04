// SPDX-License-Identifier: LGPL-2.1-only
/* Blocks of ranks' buffers in calls that only move data: their location, and how they are copied. */
#pragma once

#include "binding/abi/smpi/datatypes.hpp"
#include "binding/data/elements.hpp"
#include "binding/data/sides.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace weft {

/** Block in a rank's buffer. */
struct Block {
  std::byte* start;
  int count;
  MPI_Datatype type;
  std::size_t bytes() const { return count == 0 ? 0 : static_cast<std::size_t>(count) * element_size(type); }
};

/** Returns block @p rank of a side, or its only block. */
inline Block block_of(const Side& side, int rank)
{
  const bool listed       = side.counts != nullptr;
  const MPI_Datatype type = side.types ? side.types[rank] : side.type;
  const int count         = listed ? side.counts[rank] : side.count;
  auto* start             = static_cast<std::byte*>(side.buffer);
  if (side.peers != Side::Peers::each || count == 0)
    return {start, count, type};
  if (side.offsets)
    return {start + side.offsets[rank], count, type};
  const std::int64_t place = listed ? side.displacements[rank] : static_cast<std::int64_t>(rank) * count;
  return {start + place * (side.types ? 1 : extent_of(type)), count, type};
}

inline void copy(const Block& from, const Block& to)
{
  const std::size_t bytes = std::min(from.bytes(), to.bytes());
  if (bytes == 0)
    return;
  if (is_plain(from.type) && is_plain(to.type)) {
    if (from.start != to.start)
      std::memcpy(to.start, from.start, bytes);
  } else if (is_plain(to.type)) {
    pack(from.start, static_cast<int>(bytes / element_size(from.type)), from.type, to.start);
  } else if (is_plain(from.type)) {
    unpack(from.start, to.start, static_cast<int>(bytes / element_size(to.type)), to.type);
  } else {
    std::vector<std::byte> packed(from.bytes());
    pack(from.start, from.count, from.type, packed.data());
    unpack(packed.data(), to.start, static_cast<int>(bytes / element_size(to.type)), to.type);
  }
}

/** Side of a rank's arguments. Copies its arrays, and references its types, if the owner may change or free them during
 * the call. */
class KeptSide {
  std::vector<int> counts_;
  std::vector<int> displacements_;
  std::vector<MPI_Aint> offsets_;
  std::vector<MPI_Datatype> types_; // holds a reference to each

public:
  Side side;

  KeptSide(const Side& given, int blocks, bool keep) : side(given)
  {
    side.buffer = side.buffer == MPI_BOTTOM ? nullptr : side.buffer;
    if (not keep)
      return;
    const auto all  = static_cast<std::size_t>(blocks);
    const auto hold = [all](const auto*& from, auto& into) {
      if (not from)
        return;
      into.assign(from, from + all);
      from = into.data();
    };
    if (side.types)
      hold(side.types, types_);
    else if (side.type != MPI_DATATYPE_NULL)
      types_.push_back(side.type);
    hold(side.counts, counts_);
    hold(side.displacements, displacements_);
    hold(side.offsets, offsets_);
    std::erase_if(types_, [](MPI_Datatype type) { return type == MPI_DATATYPE_NULL; });
    for (const MPI_Datatype type : types_)
      type->ref();
  }
  KeptSide(const KeptSide&)            = delete;
  KeptSide& operator=(const KeptSide&) = delete;
  ~KeptSide()
  {
    for (MPI_Datatype type : types_)
      simgrid::smpi::Datatype::unref(type);
  }
};

} // namespace weft
