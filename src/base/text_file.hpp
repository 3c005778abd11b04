// SPDX-License-Identifier: LGPL-2.1-only
/* Text files of users, each read whole by one function, so that whoever must know what is read can observe it. */
#pragma once

#include <functional>
#include <string>

namespace weft {

/** Returns the text of a file. Throws UserError, whose text begins with @p path, where it cannot be read or has more
 * than 64 MiB; @p allowed says what the file should be. */
std::string read_text_file(const std::string& path, const std::string& allowed);

/** Calls @p observer with the path of each file before it is read, from now on. */
void observe_reads(std::function<void(const std::string& path)> observer);

} // namespace weft
