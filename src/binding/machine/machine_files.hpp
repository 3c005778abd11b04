// SPDX-License-Identifier: LGPL-2.1-only
/* Files of the system that describe the machine or the process: a rank reads those of its simulated host and of its own
 * program. /proc and /sys have them of this machine, and of the process that simulates. */
#pragma once

namespace weft {

/** Opens such a file to be read, if @p path is one and the call from @p caller is a rank's; returns a descriptor, or -1
 * if the system is to open the path. */
int open_machine_file(const char* path, int flags, const void* caller);

} // namespace weft
