// SPDX-License-Identifier: LGPL-2.1-only
/* Announces the stacks of ranks to AddressSanitizer, in a sanitized build (WEFT_SANITIZE) only.
 *
 * AddressSanitizer keeps the bounds of the current stack: when an exception leaves functions, it
 * marks the memory below as accessible again. SimGrid announces its stacks only if it is itself
 * built with sanitizers. Here the functions that create and switch raw contexts announce them, so that weft can be
 * sanitized on any SimGrid. */
#include "binding/process/stacks.hpp"

#ifdef __SANITIZE_ADDRESS__
#include "binding/abi/original.hpp"

#include <map>
#include <sanitizer/asan_interface.h>

namespace weft {
namespace {

struct SanitizedStack {
  const void* lowest = nullptr;
  std::size_t bytes  = 0;
};

struct SanitizedStacks {
  std::map<const char*, std::size_t> of_contexts; // sizes by lowest byte
  SanitizedStack maestro;                         // known once a rank runs
};

SanitizedStacks& sanitized_stacks()
{
  static SanitizedStacks the_stacks;
  return the_stacks;
}

SanitizedStack stack_of(const char* address)
{
  const SanitizedStacks& all = sanitized_stacks();
  if (auto above = all.of_contexts.upper_bound(address); above != all.of_contexts.begin())
    if (const auto& [lowest, bytes] = *std::prev(above); address < lowest + bytes)
      return {lowest, bytes};
  return all.maestro;
}

} // namespace

void announce_stack(char* lowest, std::size_t bytes)
{
  auto& stacks = sanitized_stacks().of_contexts;
  auto at      = stacks.upper_bound(lowest);
  if (at != stacks.begin() && std::prev(at)->first + std::prev(at)->second > lowest)
    --at;
  while (at != stacks.end() && at->first < lowest + bytes)
    at = stacks.erase(at);
  stacks.emplace(lowest, bytes);
  __asan_unpoison_memory_region(lowest, bytes); // functions of a killed rank have not returned
}

void arrive_on_stack()
{
  SanitizedStack from;
  __sanitizer_finish_switch_fiber(nullptr, &from.lowest, &from.bytes);
  if (SanitizedStack& maestro = sanitized_stacks().maestro; maestro.bytes == 0) // true when it starts the first rank
    maestro = from;
}

} // namespace weft

// Interposes on SimGrid's switch between raw contexts (src/kernel/context/ContextRaw.cpp).
extern "C" WEFT_INTERPOSED void raw_swapcontext(void** old, void* next)
{
  using Swap             = void (*)(void**, void*);
  static const auto SWAP = weft::original<Swap>("raw_swapcontext");
  const auto to          = weft::stack_of(static_cast<const char*>(next));
  void* fake             = nullptr;
  __sanitizer_start_switch_fiber(&fake, to.lowest, to.bytes);
  SWAP(old, next);
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
}
#endif
