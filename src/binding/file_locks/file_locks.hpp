// SPDX-License-Identifier: LGPL-2.1-only
/* File locks of the current rank. Each function sets errno like the function of the C library. */
#pragma once

#include <fcntl.h>
#include <functional>
#include <simgrid/forward.h>
#include <string>

namespace weft {

/** Executes fcntl(): lock commands for the current rank; other commands, and those of threads and children, by the C
 * library. */
int lock_by_fcntl(int descriptor, int command, void* argument);
/** Executes lockf(). */
int lock_by_lockf(int descriptor, int command, off_t length);
/** Executes flock(). */
int lock_by_flock(int descriptor, int operation);

/** Executes @p close, which closes @p descriptor, and releases the descriptor's locks and all record locks of the
 * current rank on the file (POSIX, close()). */
int close_and_release(int descriptor, const std::function<int()>& close);

/** Closes the descriptors from @p first to @p last, and releases their locks. */
void close_all_and_release(unsigned first, unsigned last);

/** Returns whether a rank has used locks; otherwise closing files has no effect on locks. */
bool has_used_locks();

/** Releases the locks of the actor @p rank, which has ended or never continues, and removes its waits. */
void release_file_locks(aid_t rank);

/** Returns sentences about ranks that wait for locks, for the ranks that @p concerns accepts. */
std::string describe_lock_waits(const std::function<bool(aid_t rank)>& concerns);

} // namespace weft
