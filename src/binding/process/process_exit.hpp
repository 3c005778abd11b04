// SPDX-License-Identifier: LGPL-2.1-only
/* Abnormal ends of the process: buffered output is flushed, and nothing is torn down, since ranks
 * are in the middle of calls. Also records crashes. */
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace weft {

/** Installs handlers that write a crashing rank's number to the file @p path, followed by a blank
 * and its stack size in bytes if the stack overflowed. */
void watch_crashes(const std::string& path);

/** Records the number of the current rank, which is about to end the process by a signal. */
void note_crash();

/** Flushes output and ends the process. A rank's forked child ends as it would on a real machine. */
[[noreturn]] void leave_process(int status);

/** Ends the current rank, which @p signum has killed; @p stack is the size of its stack in bytes if that overflowed.
 * Does not return. */
using RankCrash = void (*)(int signum, std::optional<std::size_t> stack);

/** Makes crashes end by @p end, in the rank's context and on a stack of its own, rather than with the process. Call it
 * after watch_crashes(). */
void end_crashed_ranks(RankCrash end);

/** Ends the current rank as a crash does if end_crashed_ranks() was called, and otherwise returns. */
void end_crashed_rank(int signum);

} // namespace weft
