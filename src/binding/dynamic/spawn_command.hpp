// SPDX-License-Identifier: LGPL-2.1-only
/* One command of MPI_Comm_spawn or MPI_Comm_spawn_multiple, with the values in its info. */
#pragma once

#include <smpi/smpi.h>

#include <optional>
#include <string>
#include <vector>

namespace weft {

struct SpawnCommand {
  std::string command;
  std::vector<std::string> arguments;
  int most; ///< ranks, `maxprocs`
  // Reserved keys of the info (MPI 4.1, section 11.8.4); all other keys are ignored.
  std::optional<std::string> host     = {}; ///< names of hosts, separated by commas
  std::optional<std::string> hostfile = {};
  std::optional<std::string> wdir     = {};
  std::optional<std::string> path     = {}; ///< directories, separated by colons
  std::optional<std::string> soft     = {}; ///< allowed numbers of ranks

  /** Returns the number of ranks to start if @p room ranks fit: @p most, or the largest number that `soft` allows.
   * Throws SpawnRefusal if none is possible, or if `soft` cannot be parsed. */
  int ranks(int room) const;
};

/** Returns the command of a call. @p arguments ends with a null pointer, or is MPI_ARGV_NULL. */
SpawnCommand spawn_command(const char* command, char** arguments, int most, MPI_Info info);

} // namespace weft
