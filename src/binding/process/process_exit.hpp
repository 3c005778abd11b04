// SPDX-License-Identifier: LGPL-2.1-only
/* Abnormal ends of the process: buffered output is flushed, but nothing is torn down, since ranks are in the middle of
 * calls. Also records crashes. */
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace weft {

/** Installs handlers that write a crashing rank's number to the file @p path, followed by a blank and its stack size in
 * bytes on a stack overflow. */
void watch_crashes(const std::string& path);

/** Records the number of the current rank, which is about to end the process by a signal. */
void note_crash();

/** Flushes output and ends the process. A rank's forked child ends as it would on a real machine. */
[[noreturn]] void leave_process(int status);

/** Ends the current rank, killed by @p signum; @p stack is the size of its stack in bytes on a stack overflow. Does not
 * return. */
using RankCrash = void (*)(int signum, std::optional<std::size_t> stack);

/** Makes crashes call @p end, in the rank's context and on a separate stack, instead of ending the process. Call it
 * after watch_crashes(). */
void end_crashed_ranks(RankCrash end);

/** Ends the current rank like a crash if end_crashed_ranks() was called; otherwise returns. */
void end_crashed_rank(int signum);

} // namespace weft
