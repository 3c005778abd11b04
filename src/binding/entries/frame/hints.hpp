// SPDX-License-Identifier: LGPL-2.1-only
/* Hints in info objects: copies, and keys with the same value for all objects. */
#pragma once

#include <smpi/smpi.h>

#include <array>
#include <vector>

namespace weft {

/** Key and value of the memory allocation kinds (MPI 4.1, section 11.4.3): a simulated rank only has system memory. */
inline constexpr const char* MEMORY_KINDS_KEY = "mpi_memory_alloc_kinds";
inline constexpr const char* MEMORY_KINDS     = "mpi,system";

/** Key of the alignment of memory that MPI allocates, in bytes (MPI 4.1, section 9.2). */
inline constexpr const char* ALIGNMENT_KEY = "mpi_minimum_memory_alignment";

/** Returns whether the hints request an alignment of memory. */
inline bool asks_for_alignment(MPI_Info info)
{
  int length = 0;
  int flag   = 0;
  if (info != MPI_INFO_NULL)
    PMPI_Info_get_valuelen(info, ALIGNMENT_KEY, &length, &flag);
  return flag != 0;
}

/** Copies all hints. */
inline void add_hints(MPI_Info from, MPI_Info target)
{
  int keys = 0;
  PMPI_Info_get_nkeys(from, &keys);
  for (int i = 0; i < keys; ++i) {
    std::array<char, MPI_MAX_INFO_KEY + 1> key{};
    int length = 0;
    int flag   = 0;
    PMPI_Info_get_nthkey(from, i, key.data());
    PMPI_Info_get_valuelen(from, key.data(), &length, &flag);
    std::vector<char> value(static_cast<std::size_t>(length) + 1);
    PMPI_Info_get(from, key.data(), length + 1, value.data(), &flag);
    PMPI_Info_set(target, key.data(), value.data());
  }
}

} // namespace weft
