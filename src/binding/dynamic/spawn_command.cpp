// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/dynamic/spawn_command.hpp"

#include "binding/dynamic/spawn_refusal.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <sstream>
#include <string_view>

namespace weft {
namespace {

std::optional<std::string> value_in(MPI_Info info, const char* key)
{
  std::array<char, MPI_MAX_INFO_VAL + 1> value{};
  int found = 0;
  if (info != MPI_INFO_NULL)
    PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value.data(), &found);
  return found != 0 ? std::optional<std::string>(value.data()) : std::nullopt;
}

[[noreturn]] void refuse_soft(const std::string& soft)
{
  throw SpawnRefusal("info key soft: found \"" + soft +
                     "\"; allowed: numbers of ranks, or FIRST:LAST or FIRST:LAST:STEP, separated by commas");
}

/** Returns the numbers of one triplet, FIRST[:LAST[:STEP]]. */
std::array<std::int64_t, 3> triplet(std::string_view text, const std::string& soft)
{
  std::array<std::int64_t, 3> numbers{0, 0, 1};
  std::size_t given = 0;
  for (std::size_t begin = 0; begin <= text.size(); ++given) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    if (given == numbers.size())
      refuse_soft(soft);
    const auto read = std::from_chars(text.data() + begin, text.data() + end, numbers[given]);
    if (read.ec != std::errc() || read.ptr != text.data() + end)
      refuse_soft(soft);
    begin = end + 1;
  }
  if (given == 1)
    numbers[1] = numbers[0];
  if (numbers[2] == 0)
    refuse_soft(soft);
  return numbers;
}

/** Returns the largest number of a triplet up to @p most; 0 if there is none. */
std::int64_t largest(std::array<std::int64_t, 3> its, std::int64_t most)
{
  auto [first, last, step] = its;
  if (step < 0) { // the same numbers in rising order
    const std::int64_t steps = first < last ? -1 : (first - last) / -step;
    if (steps < 0)
      return 0;
    const std::int64_t lowest = first + steps * step;
    last                      = first;
    first                     = lowest;
    step                      = -step;
  }
  const std::int64_t end = std::min(last, most);
  return first > end ? 0 : std::max<std::int64_t>(first + (end - first) / step * step, 0);
}

} // namespace

int SpawnCommand::ranks(int room) const
{
  if (not soft)
    return room >= most ? most : 0;
  std::int64_t best = 0;
  std::istringstream list(*soft);
  for (std::string one; std::getline(list, one, ',');) {
    std::erase(one, ' ');
    best = std::max(best, largest(triplet(one, *soft), std::min(room, most)));
  }
  return static_cast<int>(best);
}

SpawnCommand spawn_command(const char* command, char** arguments, int most, MPI_Info info)
{
  SpawnCommand made{.command = command, .arguments = {}, .most = most};
  for (char** word = arguments; word && *word; ++word)
    made.arguments.emplace_back(*word);
  made.host     = value_in(info, "host");
  made.hostfile = value_in(info, "hostfile");
  made.wdir     = value_in(info, "wdir");
  made.path     = value_in(info, "path");
  made.soft     = value_in(info, "soft");
  return made;
}

} // namespace weft
