// SPDX-License-Identifier: LGPL-2.1-only
/* Categories of the tool information interface, which never change: one for options, and one for each kind of object
 * that performance variables count. */
#include "binding/entries/tools/control_variables.hpp"
#include "binding/entries/tools/performance_variables.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <string_view>

namespace weft {
namespace {

struct ToolCategory {
  std::string name;
  std::string description;
  std::vector<int> controls   = {}; ///< indices
  std::vector<int> counters   = {};
  std::vector<int> categories = {};
};

/** Names and descriptions of the categories of performance variables, by CountedOf. */
constexpr std::array<std::pair<const char*, const char*>, COUNTED_OF> COUNTED_CATEGORIES{{
    {"functions", "The rank's calls by MPI function"},
    {"kinds", "The rank's calls by kind"},
    {"collectives", "The rank's collectives by name"},
    {"communicators", "The rank's collectives by communicator"},
    {"clock", "The simulated clock"},
}};

std::vector<ToolCategory> make_categories()
{
  ToolCategory options{"options", "Options of the run"};
  options.controls.resize(control_variables().size());
  std::iota(options.controls.begin(), options.controls.end(), 0);
  std::vector<ToolCategory> all{{"weft", "All variables of the simulation"}, std::move(options)};
  for (const auto& [name, description] : COUNTED_CATEGORIES)
    all.push_back({name, description});
  for (std::size_t index = 0; index < performance_variables().size(); ++index)
    all[2 + static_cast<std::size_t>(performance_variables()[index].of)].counters.push_back(static_cast<int>(index));
  all.front().categories.resize(all.size() - 1);
  std::iota(all.front().categories.begin(), all.front().categories.end(), 1);
  return all;
}

const std::vector<ToolCategory>& tool_categories()
{
  static const auto& all = *new std::vector<ToolCategory>(make_categories());
  return all;
}

/** Calls @p use with a category. */
template <class Use> int for_category(int index, Use&& use)
{
  return for_tools([&]() -> int {
    return has_index(tool_categories(), index) ? use(tool_categories()[static_cast<std::size_t>(index)])
                                               : MPI_T_ERR_INVALID_INDEX;
  });
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_TOOL_FUNCTION(category_get_num, (int* num_cat))
{
  return for_tools([&]() -> int {
    if (not num_cat)
      return MPI_T_ERR_INVALID;
    *num_cat = static_cast<int>(tool_categories().size());
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(category_get_info, (int cat_index, char* name, int* name_len, char* desc, int* desc_len,
                                       int* num_cvars, int* num_pvars, int* num_categories))
{
  return for_category(cat_index, [&](const ToolCategory& its) -> int {
    set_text(name, name_len, its.name);
    set_text(desc, desc_len, its.description);
    set_output(num_cvars, static_cast<int>(its.controls.size()));
    set_output(num_pvars, static_cast<int>(its.counters.size()));
    set_output(num_categories, static_cast<int>(its.categories.size()));
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(category_get_index, (const char* name, int* cat_index))
{
  return for_tools([&]() -> int {
    if (not name || not cat_index)
      return MPI_T_ERR_INVALID;
    const auto found = std::ranges::find(tool_categories(), std::string_view(name), &ToolCategory::name);
    if (found == tool_categories().end())
      return MPI_T_ERR_INVALID_NAME;
    *cat_index = static_cast<int>(found - tool_categories().begin());
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(category_get_cvars, (int cat_index, int len, int indices[]))
{
  return for_category(cat_index, [&](const ToolCategory& its) { return set_numbers(its.controls, len, indices); });
}

WEFT_TOOL_FUNCTION(category_get_pvars, (int cat_index, int len, int indices[]))
{
  return for_category(cat_index, [&](const ToolCategory& its) { return set_numbers(its.counters, len, indices); });
}

WEFT_TOOL_FUNCTION(category_get_categories, (int cat_index, int len, int indices[]))
{
  return for_category(cat_index, [&](const ToolCategory& its) { return set_numbers(its.categories, len, indices); });
}

WEFT_TOOL_FUNCTION(category_get_num_events, (int cat_index, int* num_events))
{
  return for_category(cat_index, [&](const ToolCategory& /*its*/) -> int {
    set_output(num_events, 0);
    return MPI_SUCCESS;
  });
}

WEFT_TOOL_FUNCTION(category_get_events, (int cat_index, int len, int indices[]))
{
  return for_category(cat_index, [&](const ToolCategory& /*its*/) { return set_numbers({}, len, indices); });
}

WEFT_TOOL_FUNCTION(category_changed, (int* update_number))
{
  return for_tools([&]() -> int {
    set_output(update_number, 0);
    return MPI_SUCCESS;
  });
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
