// SPDX-License-Identifier: LGPL-2.1-only
/* Libraries that ranks load themselves (dlopen), and the programs that they are loaded for.
 *
 * A rank gets copies of its own, with the libraries that they need, except the system's. They are loaded as needs of a
 * further library, which needs the rank's program first (write_group): so their undefined symbols are the program's, or
 * of what the rank has opened with RTLD_GLOBAL. No copy is visible to other ranks. */
#pragma once

#include <map>
#include <string>

namespace weft {

/** Program as the loader has it, for a rank or for all. */
struct LoadedProgram {
  std::string name;                         ///< of the loaded file
  std::string file;                         ///< original
  std::map<std::string, std::string> names; ///< of copies of libraries that it is linked with, by their names in it
  std::map<std::string, std::string> files; ///< files of these, by the name of the copy
};

/** Notes the program of the current rank; outside ranks, that of the ranks that have none of their own. */
void note_program(void* handle, LoadedProgram program);

/** Makes a program that has been noted the current rank's: that of its job, which the ranks of the job share. */
void use_program(void* handle);

/** Returns whether dlopen() is a rank's, which open_for_rank() carries out. */
bool opens_for_rank();
/** Carries out dlopen() for the current rank, called by the code at @p caller. Sets @p pass if the library is not the
 * rank's own, but the process's. Ends the process if the library can be loaded, but not for each rank. */
void* open_for_rank(const char* path, int flags, const void* caller, bool& pass);

/** Carries out dlclose(). */
int close_for_rank(void* handle);

/** Returns the message of the current rank's last error, once; null if it had none. */
const char* take_loader_error();

/** Returns the original of a file that has been copied for a rank; null if @p copy is none. */
const char* original_of(const char* copy);

} // namespace weft
