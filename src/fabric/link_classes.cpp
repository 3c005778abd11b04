// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/link_classes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace weft {
namespace {

constexpr std::string_view NUMERALS = "0123456789";

bool is_numeral(std::string_view text)
{
  return text.find_first_not_of(NUMERALS) == std::string_view::npos;
}

/** Returns the classes of cables by the kinds of their ends, which @p kind returns. */
template <class KindOf> LinkClasses classes_by(const std::vector<Cable>& cables, KindOf kind)
{
  LinkClasses all;
  std::map<std::pair<std::string, std::string>, int> numbers;
  all.of_cable.reserve(cables.size());
  for (const Cable& cable : cables) {
    const auto [found, is_new] =
        numbers.try_emplace({kind(cable.lower), kind(cable.upper)}, static_cast<int>(all.names.size()));
    if (is_new)
      all.names.push_back(found->first.first + "--" + found->first.second);
    all.of_cable.push_back(found->second);
  }
  return all;
}

} // namespace

std::string kind_of_vertex(std::string_view name)
{
  constexpr auto NONE          = std::string_view::npos;
  const std::string_view whole = name.substr(name.rfind('.') + 1);
  std::string_view own         = whole;
  for (std::size_t dash = own.rfind('-'); dash != NONE && is_numeral(own.substr(dash + 1)); dash = own.rfind('-'))
    own = own.substr(0, dash);
  const bool is_numbered = own.size() < whole.size();
  own                    = own.substr(own.rfind('-') + 1);
  if (not is_numbered)
    own = own.substr(0, own.find_last_not_of(NUMERALS) + 1); // "sw12"
  return std::string(own.empty() ? name : own);
}

LinkClasses link_classes(const Topology& topology)
{
  const std::vector<Cable> cables = topology.cables();
  LinkClasses all = classes_by(cables, [&](VertexId vertex) { return kind_of_vertex(topology.vertex_name(vertex)); });
  if (all.names.size() > MOST_LINK_CLASSES)
    all =
        classes_by(cables, [&](VertexId vertex) { return std::string(topology.is_host(vertex) ? "host" : "switch"); });
  return all;
}

} // namespace weft
