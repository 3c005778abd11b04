// SPDX-License-Identifier: LGPL-2.1-only
/* Programs that MPI_Comm_spawn names: their files, and how ranks load them.
 *
 * A program that already runs is loaded in the same way. Any other is passed to `weft run` (Settings::spawn), which
 * checks and describes it like the program of a run (python/weft/runs/jobs/spawned.py). */
#pragma once

#include "binding/dynamic/spawn_command.hpp"
#include "binding/launch/job_file.hpp"

namespace weft {

/** Returns the launch of a command's ranks, which belong to @p job. Its hosts are left empty. It lives as long as the
 * process. Throws SpawnRefusal if there is no such program, or if it cannot run. */
const JobLaunch& launch_of(const SpawnCommand& command, Job& job);

} // namespace weft
