// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/nccl/nccl_filter.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace weft {
namespace {

std::string in_lower_case(std::string_view text)
{
  std::string all(text);
  std::ranges::transform(all, all.begin(), [](unsigned char one) { return static_cast<char>(std::tolower(one)); });
  return all;
}

std::vector<std::string> split_list(const std::string& text, char at)
{
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/** Part of a list: names for one collective, or for all if `collective` is empty. */
struct ListPart {
  std::string collective;
  bool excludes;
  std::vector<std::string> names;
};

std::vector<ListPart> list_parts(std::string_view text)
{
  std::vector<ListPart> parts;
  for (std::string one : split_list(in_lower_case(text), ';')) {
    ListPart part{"", false, {}};
    if (const std::size_t colon = one.find(':'); colon != std::string::npos) {
      part.collective = one.substr(0, colon);
      one.erase(0, colon + 1);
    }
    part.excludes = one.starts_with('^');
    part.names    = split_list(one.substr(part.excludes ? 1 : 0), ',');
    parts.push_back(std::move(part));
  }
  return parts;
}

} // namespace

bool nccl_allows(std::string_view text, std::string_view collective, std::string_view name)
{
  if (text.empty())
    return true;
  bool allowed = true;
  for (const ListPart& part : list_parts(text))
    if (part.collective.empty() || part.collective == collective)
      allowed = (std::ranges::count(part.names, in_lower_case(name)) > 0) != part.excludes;
  return allowed;
}

void check_nccl_list(std::string_view variable, std::string_view text, std::span<const std::string> known)
{
  static const std::vector<std::string> COLLECTIVES{"broadcast", "reduce", "allgather", "reducescatter", "allreduce"};
  if (text.empty())
    return;
  for (const ListPart& part : list_parts(text)) {
    if (not part.collective.empty() && std::ranges::count(COLLECTIVES, part.collective) == 0)
      throw UserError(std::string(variable) + ": found collective \"" + part.collective + "\"; " +
                      did_you_mean(part.collective, COLLECTIVES) + "allowed: " + join(COLLECTIVES));
    for (const std::string& name : part.names)
      if (std::ranges::none_of(known, [&](const std::string& one) { return in_lower_case(one) == name; }))
        throw UserError(std::string(variable) + ": found \"" + name + "\"; " + did_you_mean(name, known) +
                        "allowed: " + join(known) + ", several with commas, or all but some with ^");
  }
}

} // namespace weft
