// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/tools/enumerations.hpp"

#include "model/mechanism/offload_mode.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace weft {
namespace {

/** Returns the enumeration behind a handle, or null. */
const ToolEnumeration* enumeration_of(MPI_T_enum handle)
{
  const std::array all{&offload_modes(), &transports(), &truth_values()};
  const auto found = std::ranges::find(all, handle, [](const ToolEnumeration* one) { return one->handle(); });
  return found == all.end() ? nullptr : *found;
}

} // namespace

int ToolEnumeration::value_of(std::string_view item) const
{
  const auto found = std::ranges::find(items, item);
  if (found == items.end())
    throw std::logic_error(name + " has no item " + std::string(item));
  return static_cast<int>(found - items.begin());
}

const ToolEnumeration& offload_modes()
{
  static const auto& all = *new ToolEnumeration{"offload modes", names_of<OffloadMode>()};
  return all;
}

const ToolEnumeration& transports()
{
  static const auto& all = *new ToolEnumeration{"transports", {"smpi", "weft"}};
  return all;
}

const ToolEnumeration& truth_values()
{
  static const auto& all = *new ToolEnumeration{"truth values", {"no", "yes"}};
  return all;
}

} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_TOOL_FUNCTION(enum_get_info, (MPI_T_enum enumtype, int* num, char* name, int* name_len))
{
  return for_tools([&]() -> int {
    const ToolEnumeration* const its = enumeration_of(enumtype);
    if (not its)
      return MPI_T_ERR_INVALID_HANDLE;
    set_output(num, static_cast<int>(its->items.size()));
    set_text(name, name_len, its->name);
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(enum_get_item, (MPI_T_enum enumtype, int indx, int* value, char* name, int* name_len))
{
  return for_tools([&]() -> int {
    const ToolEnumeration* const its = enumeration_of(enumtype);
    if (not its)
      return MPI_T_ERR_INVALID_HANDLE;
    if (not has_index(its->items, indx))
      return MPI_T_ERR_INVALID_INDEX;
    set_output(value, indx);
    set_text(name, name_len, its->items[static_cast<std::size_t>(indx)]);
    return MPI_SUCCESS;
  });
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
