// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/settings/settings.hpp"

#include <cstdlib>
#include <string>
#include <string_view>

namespace weft {
namespace {

int& expected_ranks()
{
  static int ranks = 0;
  return ranks;
}

} // namespace

bool memory_is_shared()
{
  // Asked several times a call by each rank, and a look-up of SimGrid's options takes hundreds of instructions.
  static const bool SHARED = simgrid::config::get_value<std::string>("smpi/privatization") != "mmap";
  return SHARED;
}

bool smpi_only_checks()
{
  const auto is_set      = [](const char* option) { return simgrid::config::get_value<bool>(option); };
  static const bool ONLY = memory_is_shared() && not is_set("tracing") && not is_set("smpi/simulate-computation") &&
                           not is_set("smpi/pedantic") && not is_set("smpi/display-timing") &&
                           not is_set("smpi/display-allocs");
  return ONLY;
}

bool handles_are_listed()
{
  static const bool LISTED = simgrid::config::get_value<bool>("smpi/display-allocs") ||
                             simgrid::config::get_value<int>("smpi/list-leaks") != -1;
  return LISTED;
}

void expect_ranks(int ranks)
{
  expected_ranks() = ranks;
}

bool actions_are_shared()
{
  static const bool SHARED = [] {
    using simgrid::config::is_default;
    if (simgrid::config::get_value<bool>("tracing") || not is_default("plugin") ||
        not is_default("maxmin/concurrency-limit") || not links_contend())
      return false;
    if (const char* const kept = std::getenv("WEFT_RANK_FLOWS"); kept && *kept)
      return std::string_view(kept) == "together";
    return expected_ranks() > MANY_RANKS;
  }();
  return SHARED;
}

bool links_contend()
{
  static const bool CONTEND = [] {
    const char* const found = std::getenv("WEFT_CONTENTION");
    return not found || std::string_view(found) != "no";
  }();
  return CONTEND;
}

} // namespace weft
