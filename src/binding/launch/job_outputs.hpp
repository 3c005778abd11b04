// SPDX-License-Identifier: LGPL-2.1-only
/* Output of jobs: each has its own standard output and standard error.
 *
 * The C library buffers the standard output of all ranks in one buffer, and programs also write to descriptors 1 and 2.
 * When a rank of another job begins its turn, the buffered data is therefore written, and the two descriptors are
 * redirected to that job's files. */
#pragma once

#include "binding/launch/job_file.hpp"

namespace weft {

/** Opens the files of a job that begins. Throws UserError. */
void open_outputs(const JobLaunch& launch);

} // namespace weft
