// SPDX-License-Identifier: LGPL-2.1-only
/* Functions of other libraries that weft defines anew, under their names: LD_PRELOAD puts weft's before theirs.
 *
 * Where a header declares one as never throwing, or with other types, ours has a C++ name of its own and the symbol's
 * as an assembler name: SMPI ends a rank by an exception, which must be able to pass.
 */
#pragma once

#include <dlfcn.h>

#define WEFT_REPLACES(symbol) __asm__(symbol) __attribute__((visibility("default")))

namespace weft {

/** Theirs; null where the program has no library that defines it. A SimGrid that does not need libgfortran leaves it to
 * Fortran programs, which bring it along for themselves alone: it is still one for all ranks. */
template <class Function> Function theirs(const char* symbol)
{
  if (void* const found = dlsym(RTLD_NEXT, symbol))
    return reinterpret_cast<Function>(found);
  void* const fortran = dlopen("libgfortran.so.5", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function>(fortran ? dlsym(fortran, symbol) : nullptr);
}

} // namespace weft
