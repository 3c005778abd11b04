// SPDX-License-Identifier: LGPL-2.1-only
/* Programs of jobs: loading, as a copy per rank or per job, and execution by a rank. */
#pragma once

#include "binding/launch/job_file.hpp"

namespace weft {

/** Loads the program of a job whose ranks share it: a copy for the job, since another job may run the same program. */
void load_shared(const JobLaunch& launch);

/** Runs the program as the current rank, from its start to the return of its main function. */
void run_program(const JobLaunch& launch);

} // namespace weft
