// SPDX-License-Identifier: LGPL-2.1-only
/* How the process ends where a run does not come to its end: output that is buffered is written, and nothing is taken
 * down, since ranks are in the middle of calls. And what is left of a crash. */
#pragma once

#include <string>

namespace weft {

/** While ranks run, a crash leaves the number of the rank in the file @p path; where the rank has used up its stack,
 *  the bytes of that behind a blank. */
void watch_crashes(const std::string& path);

/** Leave the number of the current rank, which is about to end the process by a signal. */
void note_crash();

/** End the process; in a rank's forked child, as it would end on a real machine. */
[[noreturn]] void leave_process(int status);

} // namespace weft
