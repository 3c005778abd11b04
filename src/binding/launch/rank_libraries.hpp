// SPDX-License-Identifier: LGPL-2.1-only
/* Libraries that ranks load themselves (dlopen), and the programs for which they are loaded.
 *
 * A rank gets its own copies, including dependencies, except the system's. They are loaded as dependencies of an
 * additional library, which depends on the rank's program first (write_group): so their undefined symbols resolve to
 * the program, or to libraries that the rank has opened with RTLD_GLOBAL. No copy is visible to other ranks. */
#pragma once

#include <map>
#include <string>

namespace weft {

/** Program as loaded for a rank or for all ranks. */
struct LoadedProgram {
  std::string name;                         ///< of the loaded file
  std::string file;                         ///< original
  std::map<std::string, std::string> names; ///< names of copies of its libraries, by their names in it
  std::map<std::string, std::string> files; ///< their files, by the name of the copy
};

/** Records the program of the current rank; outside ranks, the program shared by ranks without their own. */
void note_program(void* handle, LoadedProgram program);

/** Makes a recorded program the current rank's: the program of its job, which the job's ranks share. */
void use_program(void* handle);

/** Returns whether a rank calls dlopen(), so that open_for_rank() executes it. */
bool opens_for_rank();
/** Executes dlopen() for the current rank, called by the code at @p caller. Sets @p pass if the library is not the
 * rank's own but the process's. Ends the process if the library can be loaded, but not for each rank. */
void* open_for_rank(const char* path, int flags, const void* caller, bool& pass);

/** Executes dlclose(). */
int close_for_rank(void* handle);

/** Returns and clears the current rank's last error; null if there was none. */
const char* take_loader_error();

/** Returns the original of a file that has been copied for a rank; null if @p copy is not a copy. */
const char* original_of(const char* copy);

} // namespace weft
