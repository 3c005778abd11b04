// SPDX-License-Identifier: LGPL-2.1-only
/* The files that ship with weft (presets/, fabrics/), found by name from anywhere. */
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace weft {

/** The directory that holds presets/ and fabrics/: beside the library that contains this code when installed, the
 *  source tree otherwise. */
std::string share_directory();

/** The path of FOLDER/NAME.toml, where it exists. */
std::optional<std::string> find_shared(const std::string& folder, const std::string& name);

/** How messages call a file: "fabric tofino-4" or "switch preset tofino" where it ships with weft, else by its path. */
std::string name_of_file(const std::string& path);

/** The names (without ".toml") in a folder, sorted. */
std::vector<std::string> list_shared(const std::string& folder);

} // namespace weft
