// SPDX-License-Identifier: LGPL-2.1-only
/* Schema of fabric files: tables and keys, for the reader, help and documentation. */
#pragma once

#include "base/option.hpp"

#include <string>
#include <vector>

namespace weft {

/** Table of a fabric file with its keys, for help and documentation. */
struct TableHelp {
  std::string table;
  std::string meaning;
  std::vector<OptionHelp> options;
};
std::vector<TableHelp> fabric_schema();
/** Returns the names of the top-level tables. */
std::vector<std::string> table_names();

} // namespace weft
