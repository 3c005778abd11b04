// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's original functions, which weft's functions of the same name interpose on (LD_PRELOAD). */
#pragma once

#include "binding/abi/interposed_symbol.hpp"

#include <dlfcn.h>
#include <stdexcept>
#include <string>

/** Marks a definition that interposes on an SMPI symbol. */
#define WEFT_INTERPOSED __attribute__((visibility("default")))

namespace weft {

/** Returns whether weft's definitions precede SMPI's (LD_PRELOAD). */
inline bool interposes()
{
  Dl_info used;
  Dl_info own;
  void* const start = dlsym(RTLD_DEFAULT, "_ZN7simgrid4smpi7Request5startEv");
  return start && dladdr(start, &used) != 0 && dladdr(reinterpret_cast<void*>(&interposes), &own) != 0 &&
         used.dli_fbase == own.dli_fbase;
}

/** Returns SMPI's function of a mangled name. Throws std::logic_error if there is none. */
template <class Function> Function original(const char* name)
{
  if (const auto found = next_definition<Function>(name))
    return found;
  throw std::logic_error("SimGrid has no function " + std::string(name) + ", which weft replaces; use SimGrid 4.1");
}

/** Returns SMPI's function of the same name as @p ours. */
template <class Function> Function original(Function ours)
{
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(ours), &info) == 0 || not info.dli_sname)
    throw std::logic_error("a function that replaces SimGrid's has no name");
  return original<Function>(info.dli_sname);
}

} // namespace weft
