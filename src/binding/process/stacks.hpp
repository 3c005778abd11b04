// SPDX-License-Identifier: LGPL-2.1-only
/* Stacks of ranks, in memory that is committed page by page on first touch.
 *
 * SimGrid allocates each stack by malloc, with a protected page below it. Each rank then needs another page, for
 * malloc's header, and two of the mappings that Linux allows a process (vm.max_map_count). weft places all stacks
 * contiguously in one mapping, each with guard pages
 * below it. Linux 6.13 and later marks these in the page table (MADV_GUARD_INSTALL), which takes no mapping; on older
 * versions, the number of mappings limits the number of protected stacks.
 *
 * This requires SimGrid's own context switch (contexts/factory "raw", its default on x86-64) and
 * libweft.so loaded before SimGrid (LD_PRELOAD). Otherwise SimGrid allocates the stacks. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace weft {

/** Stacks that weft has allocated. */
struct StacksMade {
  std::size_t bytes     = 0; ///< size of each stack
  std::size_t made      = 0;
  std::size_t unguarded = 0; ///< stacks without guard pages
};

/** Takes over the allocation of stacks if possible; call it before any exist. The size is the
 * user's (contexts/stack-size, contexts/guard-size); by default 8 MiB, 2 MiB above 1,024 @p ranks
 * and 256 KiB above MANY_RANKS. Warns on standard error if ranks lack guard pages.
 * @throws UserError Linux does not grant enough address space */
void install_stacks(int ranks);

std::optional<StacksMade> stacks_made();

/** Returns the size in bytes of the stack whose guard pages contain @p address: an access there means a stack overflow.
 * Async-signal-safe. */
std::optional<std::size_t> overflown_stack(const void* address);

/** Returns a rank whose unguarded stack has been used to its last page or beyond. Async-signal-safe. */
std::optional<int> rank_out_of_stack();

/** Returns the advice for a user whose rank needs more than @p bytes of stack. */
std::string advise_on_stack(std::size_t bytes);

#ifdef __SANITIZE_ADDRESS__
/** Announces a new context's stack in a sanitized build (sanitized_stacks.cpp); earlier stacks at the same addresses
 * have ended. */
void announce_stack(char* lowest, std::size_t bytes);

/** Completes the first switch to a stack; called by the stack's first function. */
void arrive_on_stack();
#else
inline void announce_stack(const char* /*lowest*/, std::size_t /*bytes*/) {}
inline void arrive_on_stack() {}
#endif

} // namespace weft
