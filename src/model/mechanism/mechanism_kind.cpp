// SPDX-License-Identifier: LGPL-2.1-only
#include "model/mechanism/mechanism_kind.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace weft {
namespace {

constexpr std::array OWN{
    MechanismKind{.name = "stream", .meaning = "packet by packet, over a tree of switches"},
    MechanismKind{.name = "message", .meaning = "message by message, over a tree of switches"},
    MechanismKind{.name    = "multicast",
                  .meaning = "multicast protocol of the hosts for Bcast and Allgather, stream for other collectives",
                  .rest    = "stream"},
};

std::vector<const MechanismKind*>& rows()
{
  static std::vector<const MechanismKind*> all = [] {
    std::vector<const MechanismKind*> own;
    own.reserve(OWN.size());
    for (const MechanismKind& kind : OWN)
      own.push_back(&kind);
    return own;
  }();
  return all;
}

} // namespace

const std::vector<const MechanismKind*>& mechanism_kinds()
{
  return rows();
}

const MechanismKind& mechanism_kind(std::string_view name)
{
  const auto found = std::ranges::find(rows(), name, &MechanismKind::name);
  if (found == rows().end())
    throw std::logic_error("no such mechanism: " + std::string(name));
  return **found;
}

bool add_mechanism_kind(const MechanismKind& kind)
{
  rows().push_back(&kind);
  return true;
}

} // namespace weft
