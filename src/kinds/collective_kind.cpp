#include "kinds/collective_kind.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace weft {
namespace {

// MPI 4.1, chapter 6. In the order in which messages name them.
constexpr bool REDUCES    = true;
constexpr bool MULTICASTS = true;
constexpr std::array KINDS{
    CollectiveKind{"allreduce", REDUCES, Movement::allreduce},
    CollectiveKind{"reduce", REDUCES, Movement::reduce},
    CollectiveKind{"reduce_scatter", REDUCES, Movement::reduce_scatter},
    CollectiveKind{"barrier", false, Movement::barrier},
    CollectiveKind{"bcast", false, Movement::bcast, MULTICASTS},
    CollectiveKind{"allgather", false, Movement::allgather, MULTICASTS},
    CollectiveKind{"allgatherv", false, Movement::allgather, MULTICASTS},
    CollectiveKind{"alltoall", false, std::nullopt},
    CollectiveKind{"alltoallv", false, std::nullopt},
    CollectiveKind{"alltoallw", false, std::nullopt},
    CollectiveKind{"gather", false, std::nullopt},
    CollectiveKind{"gatherv", false, std::nullopt},
    CollectiveKind{"scatter", false, std::nullopt},
    CollectiveKind{"scatterv", false, std::nullopt},
    CollectiveKind{"scan", REDUCES, std::nullopt},
    CollectiveKind{"exscan", REDUCES, std::nullopt},
};

} // namespace

std::span<const CollectiveKind> collective_kinds()
{
  return KINDS;
}

const CollectiveKind* find_collective(std::string_view name)
{
  const auto* found = std::ranges::find(KINDS, name, &CollectiveKind::name);
  return found == KINDS.end() ? nullptr : found;
}

const CollectiveKind& collective(std::string_view name)
{
  if (const CollectiveKind* kind = find_collective(name))
    return *kind;
  throw std::logic_error("no such collective: " + std::string(name));
}

std::vector<std::string> collective_names(bool (*has)(const CollectiveKind&))
{
  std::vector<std::string> names;
  for (const CollectiveKind& kind : KINDS)
    if (has(kind))
      names.emplace_back(kind.name);
  return names;
}

} // namespace weft
