// SPDX-License-Identifier: LGPL-2.1-only
/* What a fabric file may say: its tables and keys, for reading, help and documentation. */
#pragma once

#include "base/option.hpp"

#include <string>
#include <vector>

namespace weft {

/** Every table of a fabric file with its keys, for help and documentation. */
struct TableHelp {
  std::string table;
  std::string meaning;
  std::vector<OptionHelp> options;
};
std::vector<TableHelp> fabric_schema();
/** The names of those at the top of a file. */
std::vector<std::string> table_names();

} // namespace weft
