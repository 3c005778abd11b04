// SPDX-License-Identifier: LGPL-2.1-only
/* Exit handlers of a rank: functions registered by atexit() and destructors of C++ static
 * variables.
 *
 * A real process runs them in reverse order in exit() or after main(); they may call MPI, and some
 * call MPI_Finalize. Handlers are therefore kept per rank if they are registered by the rank's own
 * copy of the program or of a library, or by atexit() in a program that ranks share. All others
 * belong to the process. */
#pragma once

#include <string>

namespace weft {

/** Runs the exit handlers of the current rank, which is ending. */
void run_exit_handlers();
/** Runs those that the program or library with the handle @p image has registered, which is being unloaded. */
void run_exit_handlers_of(const void* image);

/** Calls @p on_exit with the status when a function of the C library ends the process from inside (err(), error(),
 * argp_parse()): these call an exit() that cannot be replaced. The call comes before all other exit handlers. */
void watch_library_exits(void (*on_exit)(int status));

/** Notes that the ranks of a job share a program, so that a handler with an argument is not a rank's own. Call it
 * before the program is loaded. */
void share_exit_handlers(const std::string& program);

} // namespace weft
