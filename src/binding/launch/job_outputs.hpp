// SPDX-License-Identifier: LGPL-2.1-only
/* Output of jobs: each has its own standard output and standard error.
 *
 * The C library buffers standard output of all ranks in one place, and programs also write to the
 * descriptors 1 and 2. So when a rank of another job begins its turn, what is buffered is written, and
 * the two descriptors are made to refer to that job's files. */
#pragma once

#include "binding/launch/job_file.hpp"

namespace weft {

/** Opens the files of a job that begins. Throws UserError. */
void open_outputs(const JobLaunch& launch);

} // namespace weft
