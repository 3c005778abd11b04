// SPDX-License-Identifier: LGPL-2.1-only
#include "model/mechanism/offload_mode.hpp"

namespace weft {

std::vector<std::pair<OffloadMode, std::string_view>> Names<OffloadMode>::rows()
{
  std::vector<std::pair<OffloadMode, std::string_view>> all;
  for (const MechanismKind* kind : mechanism_kinds())
    all.emplace_back(*kind, kind->name);
  all.emplace_back(OffloadMode::automatic(), "auto");
  all.emplace_back(OffloadMode::off(), "off");
  return all;
}

} // namespace weft
