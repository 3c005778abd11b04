// SPDX-License-Identifier: LGPL-2.1-only
/* Functions of the C library behind the interposed ones, and locks known to the kernel. */
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace weft {

/** Device and inode of a file. */
using FileKey = std::pair<dev_t, ino_t>;

int system_fcntl(int descriptor, int command, void* argument);
int system_flock(int descriptor, int operation);
int system_close(int descriptor);

/** Returns the status of an open file; nothing if @p descriptor is not open. */
std::optional<struct stat> status_of(int descriptor);
/** Returns the file to which @p descriptor refers. */
std::optional<FileKey> file_of(int descriptor);

/** Returns a descriptor of a new open file description of the same file, to own locks; -1 with errno if that fails. */
int open_lock_owner(int descriptor, const struct stat& file);

/** Returns the open descriptors of this process. */
std::vector<int> open_descriptors();

/** Returns whether a descriptor of this process that @p counts accepts holds a lock of @p kind on the file: FLOCK or
 * OFDLCK, as named in /proc. */
bool process_holds(const FileKey& file, std::string_view kind, const std::function<bool(int descriptor)>& counts);

/** Returns the path under which @p descriptor was opened. */
std::string path_of(int descriptor);

} // namespace weft
