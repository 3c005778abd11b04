// SPDX-License-Identifier: LGPL-2.1-only
/* Byte count of a message in its status. SMPI's status has an int for it, and one for the flag of a cancelled request:
 * the first holds the low 32 bits, and the bits above the flag hold the high bits, as in MPICH. */
#pragma once

#include <smpi/smpi.h>

#include <cstdint>

namespace weft {

inline std::int64_t status_bytes(const MPI_Status& status)
{
  const auto low  = static_cast<std::uint32_t>(status.count);
  const auto high = static_cast<std::uint32_t>(status.cancelled) >> 1U;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(high) << 32U | low);
}

/** Sets the byte count; the flag of a cancelled request is unchanged. */
inline void set_status_bytes(MPI_Status& status, std::int64_t bytes)
{
  const auto all   = static_cast<std::uint64_t>(bytes);
  const auto high  = static_cast<std::uint32_t>(all >> 32U) << 1U;
  status.count     = static_cast<int>(static_cast<std::uint32_t>(all));
  status.cancelled = static_cast<int>(high | (static_cast<std::uint32_t>(status.cancelled) & 1U));
}

inline bool is_cancelled(const MPI_Status& status)
{
  return (static_cast<std::uint32_t>(status.cancelled) & 1U) != 0;
}

/** Sets the flag of a cancelled request; the byte count is unchanged. */
inline void set_cancelled(MPI_Status& status, bool cancelled)
{
  const std::uint32_t bytes = static_cast<std::uint32_t>(status.cancelled) & ~1U;
  status.cancelled          = static_cast<int>(bytes | (cancelled ? 1U : 0U));
}

} // namespace weft
