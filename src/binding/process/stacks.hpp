// SPDX-License-Identifier: LGPL-2.1-only
/* Where ranks' stacks are: in memory of which only the pages that a rank touches count.
 *
 * SimGrid takes each stack from malloc, with a protected page below it. So a rank costs the page that holds malloc's
 * own words besides, and two of the mappings that Linux gives a process (vm.max_map_count). Here all stacks stand one
 * above the other in one mapping, each with guard pages below it: Linux marks these in the page table from 6.13 on
 * (MADV_GUARD_INSTALL), which takes no mapping; an older one protects as many as it has mappings for.
 *
 * This holds for SimGrid's own way of switching between ranks (contexts/factory "raw", its default on x86-64) and where
 * libweft.so is loaded before SimGrid (LD_PRELOAD). Elsewhere stacks stay SimGrid's.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace weft {

/** Where weft makes them. */
struct StacksMade {
  std::size_t bytes     = 0; ///< of each
  std::size_t made      = 0;
  std::size_t unguarded = 0; ///< of those, that have no guard pages
};

/** Take over the making of stacks where that is possible, before there are any. A stack has what the user says
 *  (contexts/stack-size, contexts/guard-size); else 8 MiB, and 256 KiB where there are many @p ranks. Says on standard
 *  error which ranks' stacks have no guard pages.
 *  @throws UserError Linux does not give so much of the address space */
void install_stacks(int ranks);

std::optional<StacksMade> stacks_made();

/** Bytes of the stack to whose guard pages @p address belongs: who uses it needs more than these. For signal handlers.
 */
std::optional<std::size_t> overflown_stack(const void* address);

/** A rank whose stack has no guard pages, and that has used it to its last page or beyond. For signal handlers. */
std::optional<int> rank_out_of_stack();

/** What a user is told who needs more than @p bytes. */
std::string advise_on_stack(std::size_t bytes);

} // namespace weft
