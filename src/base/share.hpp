// SPDX-License-Identifier: LGPL-2.1-only
/* Files that ship with weft (presets/, fabrics/), found by name. */
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace weft {

/** Returns the directory that contains presets/ and fabrics/: in an installation the directory of this library,
 * otherwise the source tree. */
std::string share_directory();

/** Returns the path of FOLDER/NAME.toml if the file exists. */
std::optional<std::string> find_shared(const std::string& folder, const std::string& name);

/** Returns the name of a file for error messages: "fabric tofino-4" or "switch preset tofino" if it ships with weft,
 * otherwise its path. */
std::string name_of_file(const std::string& path);

/** Returns the names in a folder, without ".toml", sorted. */
std::vector<std::string> list_shared(const std::string& folder);

} // namespace weft
