// SPDX-License-Identifier: LGPL-2.1-only
/* Interposition on functions of other libraries: LD_PRELOAD puts weft's definitions of the same names before theirs.
 *
 * If a header declares a function as non-throwing, or with other types, weft's definition has a different C++ name, and
 * the symbol's name as an assembler label: SMPI ends a rank by an exception, which must be able to pass. */
#pragma once

#include <dlfcn.h>

#define WEFT_REPLACES(symbol) __asm__(symbol) __attribute__((visibility("default")))

namespace weft {

/** Returns the original function; null if no library of the program defines it. If SimGrid does not need libgfortran,
 * only Fortran programs load it, privately; all ranks still share one copy. */
template <class Function> Function next_definition(const char* symbol)
{
  if (void* const found = dlsym(RTLD_NEXT, symbol))
    return reinterpret_cast<Function>(found);
  void* const fortran = dlopen("libgfortran.so.5", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function>(fortran ? dlsym(fortran, symbol) : nullptr);
}

} // namespace weft
