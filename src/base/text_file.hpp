// SPDX-License-Identifier: LGPL-2.1-only
/* Reading of users' text files. All of them pass through one function, so that reads can be observed. */
#pragma once

#include <functional>
#include <string>

namespace weft {

/** Returns the text of a file. Throws UserError, which begins with @p path, if the file cannot be read or exceeds
 *  64 MiB. @p allowed describes the expected file. */
std::string read_text_file(const std::string& path, const std::string& allowed);

/** Installs @p observer, which is called with the path of each file before it is read. */
void observe_reads(std::function<void(const std::string& path)> observer);

} // namespace weft
