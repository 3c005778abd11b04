// SPDX-License-Identifier: LGPL-2.1-only
/* Enumerations of the values of control variables. The value of an item is its index. */
#pragma once

#include "binding/entries/tools/tool_use.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace weft {

struct ToolEnumeration {
  std::string name;
  std::vector<std::string> items;

  /** Returns the value of an item. Throws std::logic_error if there is none. */
  int value_of(std::string_view item) const;
  MPI_T_enum handle() const { return reinterpret_cast<MPI_T_enum>(const_cast<ToolEnumeration*>(this)); }
};

const ToolEnumeration& offload_modes();
const ToolEnumeration& transports();
const ToolEnumeration& truth_values();

} // namespace weft
