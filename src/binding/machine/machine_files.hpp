// SPDX-License-Identifier: LGPL-2.1-only
/* System files that describe the machine or the process: a rank reads those of its simulated host and of its own
 * program. The real /proc and /sys describe this machine and the simulator's process. */
#pragma once

namespace weft {

/** Opens such a file for reading, if @p path is one and the caller at @p caller is a rank; returns a descriptor, or -1
 * if the system must open the path. */
int open_machine_file(const char* path, int flags, const void* caller);

} // namespace weft
