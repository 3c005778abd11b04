// SPDX-License-Identifier: LGPL-2.1-only
/* Resources that a benchmark has used. */
#pragma once

#include <sys/resource.h>

namespace weft {

inline rusage usage()
{
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used;
}

inline double seconds(const timeval& time)
{
  constexpr double MICROSECOND = 1e-6;
  return static_cast<double>(time.tv_sec) + MICROSECOND * static_cast<double>(time.tv_usec);
}

} // namespace weft
