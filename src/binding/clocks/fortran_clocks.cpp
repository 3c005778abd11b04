// SPDX-License-Identifier: LGPL-2.1-only
/* gfortran's DTIME, the CPU time since its last call: libgfortran stores the time of that call in static variables
 * (intrinsics/dtime.c), which all ranks would share. ETIME, which returns the CPU time since the start, stores none. */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/clocks/simulated_time.hpp"
#include "binding/process/own_state.hpp"

#include <cstddef>

namespace weft {
namespace {

/** Beginning of libgfortran's descriptor of a one-dimensional array of REAL(4) (libgfortran.h, GCC 8 and later). */
struct FortranTimes {
  float* base;
  std::size_t offset;
  std::size_t element_bytes;
  std::size_t type;
  std::ptrdiff_t span;
  std::ptrdiff_t stride;
};

struct LastCall {
  double time = 0;
};

/** Writes user and system time since the rank's last call into @p times and the sum into @p result. Returns false if
 * the caller is not a rank. */
bool write_own(const FortranTimes& times, float& result, const void* caller)
{
  auto* const last = OwnState<LastCall>::get().here();
  if (not last)
    return false;
  const auto now = simulated_time(caller);
  if (not now)
    return false;
  result                   = static_cast<float>(*now - last->time);
  times.base[0]            = result;
  times.base[times.stride] = 0;
  last->time               = *now;
  return true;
}

} // namespace
} // namespace weft

// ---- Replaced functions of libgfortran -----------------------------------------------------------------------------

extern "C" {

void weft_dtime_sub(weft::FortranTimes* times, float* result) WEFT_REPLACES("_gfortran_dtime_sub");
float weft_dtime(weft::FortranTimes* times) WEFT_REPLACES("_gfortran_dtime");

void weft_dtime_sub(weft::FortranTimes* times, float* result)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_dtime_sub)>("_gfortran_dtime_sub");
  if (not weft::write_own(*times, *result, __builtin_return_address(0)))
    THEIRS(times, result);
}

float weft_dtime(weft::FortranTimes* times)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_dtime)>("_gfortran_dtime");
  float result             = 0;
  return weft::write_own(*times, result, __builtin_return_address(0)) ? result : THEIRS(times);
}

} // extern "C"
