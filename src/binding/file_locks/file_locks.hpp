// SPDX-License-Identifier: LGPL-2.1-only
/* Locks of files by the current rank. Each function leaves errno as the function of the C library does. */
#pragma once

#include <fcntl.h>
#include <functional>
#include <simgrid/forward.h>
#include <string>

namespace weft {

/** Carries out fcntl(): commands of locks for the current rank, others, and those of threads and children, as the C
 * library does. */
int lock_by_fcntl(int descriptor, int command, void* argument);
/** Carries out lockf(). */
int lock_by_lockf(int descriptor, int command, off_t length);
/** Carries out flock(). */
int lock_by_flock(int descriptor, int operation);

/** Carries out @p close, which closes @p descriptor, and releases what that releases: the descriptor's locks, and all
 * record locks of the current rank on the file (POSIX, close()). */
int close_and_release(int descriptor, const std::function<int()>& close);

/** Closes the descriptors from @p first to @p last, and releases what that releases. */
void close_all_and_release(unsigned first, unsigned last);

/** Returns whether a rank has used locks; closing files has no effect on locks otherwise. */
bool has_used_locks();

/** Releases the locks of the actor @p rank, which has ended or never continues, and forgets that it waits. */
void release_file_locks(aid_t rank);

/** Returns sentences about ranks that wait for locks, for those that @p concerns. */
std::string describe_lock_waits(const std::function<bool(aid_t rank)>& concerns);

} // namespace weft
