// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/settings/tunings.hpp"

#include "base/error.hpp"
#include "binding/settings/settings.hpp"

#include <cstdio>
#include <simgrid/version.h>

namespace weft {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): hot paths read it
constinit TuningFlags tunings_on{};

namespace {

SimGridVersion running_simgrid()
{
  SimGridVersion version;
  int patch = 0;
  sg_version_get(&version.major, &version.minor, &patch);
  return version;
}

/** Runs while the library is loaded. An invalid choice leaves all tunings off, until check_tunings() refuses it. */
[[gnu::constructor]] void choose_tunings()
{
  try {
    tunings_on = known_tunings(chosen_tunings(settings().tunings), running_simgrid());
  } catch (const UserError&) {
    tunings_on = {};
  }
}

} // namespace

void check_tunings()
{
  TuningFlags unknown{};
  try {
    unknown = chosen_tunings(settings().tunings);
  } catch (const UserError& error) {
    throw UserError("--tunings: " + std::string(error.what()));
  }
  for (const TuningRow& row : tunings())
    unknown[static_cast<std::size_t>(row.id)] &= not is_on(row.id);
  if (const std::vector<std::string> names = tuning_names(unknown, true); not names.empty())
    std::fprintf(stderr, "weft: note: tunings that do not know SimGrid %s are off: %s\n",
                 running_simgrid().text().c_str(), join(names).c_str());
}

bool calls_are_direct()
{
  const auto is_set      = [](const char* option) { return simgrid::config::get_value<bool>(option); };
  static const bool ONLY = is_on(TuningId::direct_calls) && not is_set("tracing") &&
                           not is_set("smpi/simulate-computation") && not is_set("smpi/pedantic") &&
                           not is_set("smpi/display-timing") && not is_set("smpi/display-allocs");
  return ONLY;
}

std::vector<std::string> tunings_off()
{
  return tuning_names(tunings_on, false);
}

} // namespace weft
