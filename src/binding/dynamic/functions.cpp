// SPDX-License-Identifier: LGPL-2.1-only
/* MPI functions that spawn worlds (MPI 4.1, section 11.8), which SMPI lacks. */
#include "binding/dynamic/functions.hpp"

#include "binding/dynamic/spawn_refusal.hpp"
#include "binding/dynamic/spawned_worlds.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/process/process.hpp"
#include "binding/settings/settings.hpp"

#include <string>
#include <utility>

namespace weft {
namespace {

std::string caller()
{
  return "rank " + std::to_string(rank_here().value_or(0)) + " called ";
}

/** Aborts the run if ranks cannot be spawned in it. */
void require_hosts(const MpiFunction& function)
{
  RunContext& run = current_run();
  if (run.host_supply)
    return;
  const std::string why = not settings().platform.empty() ? "which needs a weft fabric; run with --fabric"
                          : run.record.messages_reason.empty()
                              ? "which needs weft's messages; run with --messages weft"
                              : "which needs weft's messages, and " + run.record.messages_reason;
  run.abort("unsupported", caller() + function.name + ", " + why);
}

SpawnCommand checked_command(const char* command, char** arguments, int most, MPI_Info info)
{
  if (not command)
    throw SpawnRefusal("the command is NULL");
  if (most < 0)
    throw SpawnRefusal("maxprocs is " + std::to_string(most) + "; allowed: from 0 on");
  return spawn_command(command, arguments, most, info);
}

std::vector<SpawnCommand> checked_commands(int count, char** commands, char*** arguments, const int* most,
                                           const MPI_Info* infos)
{
  if (count < 1 || not commands || not most || not infos)
    throw SpawnRefusal(count < 1 ? "the number of commands is " + std::to_string(count) + "; allowed: from 1 on"
                                 : "a list of arguments is NULL");
  std::vector<SpawnCommand> all;
  all.reserve(static_cast<std::size_t>(count));
  for (int one = 0; one < count; ++one)
    all.push_back(checked_command(commands[one], arguments ? arguments[one] : nullptr, most[one], infos[one]));
  return all;
}

} // namespace

void refuse_in_traces(const MpiFunction& function)
{
  if (CallTrace::get())
    current_run().abort("unsupported", caller() + function.name + ", which traces do not describe; leave out --record");
}

} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Comm_spawn(const char* command, char** argv, int maxprocs, MPI_Info info, int root,
                                    MPI_Comm comm, MPI_Comm* made, int* codes)
{
  static auto function = connects_groups("MPI_Comm_spawn");
  require_hosts(function);
  return dynamic_function(function, comm, root, made, [&] {
    return spawn([&] { return std::vector{checked_command(command, argv, maxprocs, info)}; }, root, comm, made, codes);
  });
}

WEFT_INTERPOSED int PMPI_Comm_spawn_multiple(int count, char** commands, char*** argvs, int* maxprocs, MPI_Info* infos,
                                             int root, MPI_Comm comm, MPI_Comm* made, int* codes)
{
  static auto function = connects_groups("MPI_Comm_spawn_multiple");
  require_hosts(function);
  return dynamic_function(function, comm, root, made, [&] {
    return spawn([&] { return checked_commands(count, commands, argvs, maxprocs, infos); }, root, comm, made, codes);
  });
}

WEFT_INTERPOSED int PMPI_Comm_get_parent(MPI_Comm* parent)
{
  if (const int result = check_present(parent, "parent"); result != MPI_SUCCESS)
    return result;
  *parent = parent_here();
  return MPI_SUCCESS;
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
