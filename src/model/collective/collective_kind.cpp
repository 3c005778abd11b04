// SPDX-License-Identifier: LGPL-2.1-only
#include "model/collective/collective_kind.hpp"

namespace weft {

std::vector<std::string> collective_names(bool (*has)(const CollectiveKind&))
{
  std::vector<std::string> names;
  for (const CollectiveKind& kind : COLLECTIVE_KINDS)
    if (has(kind))
      names.emplace_back(kind.name);
  return names;
}

} // namespace weft
