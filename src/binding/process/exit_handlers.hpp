// SPDX-License-Identifier: LGPL-2.1-only
/* Exit handlers of a rank: functions registered by atexit() and destructors of C++ static
 * variables.
 *
 * A real process runs them in reverse order in exit() or after main(); they may call MPI, and some
 * call MPI_Finalize. Handlers are therefore kept per rank if the rank's own copy of the program or of a library
 * registers them, or atexit() in a program that ranks share. All others belong to the process. */
#pragma once

#include <string>

namespace weft {

/** Runs the exit handlers of the current rank, which is ending. */
void run_exit_handlers();
/** Runs the handlers registered by the program or library with the handle @p image, which is being unloaded. */
void run_exit_handlers_of(const void* image);

/** Registers @p on_exit, called with the status when a function of the C library internally ends the process (err(),
 * error(), argp_parse()): these functions call an exit() that cannot be interposed on. It runs before all other exit
 * handlers. */
void watch_library_exits(void (*on_exit)(int status));

/** Records that the ranks of a job share a program, so that a handler with an argument does not belong to a rank. Call
 * it before the program is loaded. */
void share_exit_handlers(const std::string& program);

} // namespace weft
