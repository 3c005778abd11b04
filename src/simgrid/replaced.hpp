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

/** Theirs; null where the program has no library that defines it. */
template <class Function> Function theirs(const char* symbol)
{
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, symbol));
}

} // namespace weft
