// SPDX-License-Identifier: LGPL-2.1-only
/* Control variables: options of the run, readable by the program. */
#pragma once

#include "binding/entries/tools/enumerations.hpp"

#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace weft {

struct ControlVariable {
  using Value = std::variant<int, double, std::string>;

  std::string name;
  std::string description;
  std::function<Value()> value; ///< an int of an enumeration is the value of its item
  const ToolEnumeration* enumeration = nullptr;
};

/** Variable for which a rank has a handle. */
struct OpenedControl {
  ControlVariable::Value value; ///< constant
};

const std::vector<ControlVariable>& control_variables();

} // namespace weft
