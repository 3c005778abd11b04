// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/settings/settings.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

namespace weft {
namespace {

int& expected_ranks()
{
  static int ranks = 0;
  return ranks;
}

/** Options of a trace that contains more than the ranks' calls. */
constexpr std::array TRACE_DETAILS{"tracing/smpi/internals", "tracing/platform", "tracing/categorized",
                                   "tracing/uncategorized", "tracing/actor"};

/** Returns whether SimGrid's trace contains more than the ranks' calls. */
bool traces_messages()
{
  using simgrid::config::get_value;
  return get_value<bool>("tracing") &&
         (get_value<std::string>("tracing/smpi/format") == "TI" ||
          std::ranges::any_of(TRACE_DETAILS, [](const char* one) { return get_value<bool>(one); }));
}

} // namespace

std::string variable(const char* name)
{
  const char* const value = std::getenv(name);
  return value ? value : "";
}

Lines variable_lines(const char* name)
{
  Lines found;
  std::istringstream text(variable(name));
  for (std::string line; std::getline(text, line);)
    found.push_back(line);
  return found;
}

const Settings& settings()
{
  // Never destroyed: a destructor would be registered with __cxa_atexit, whose interposed version reads the settings
  // itself.
  static const Settings& all = *new Settings();
  return all;
}

std::string program_path()
{
  return variable("PATH");
}

void stop_preloading()
{
  const std::string libraries = variable("LD_PRELOAD") + ':';
  std::string_view rest       = libraries;
  for (const std::string_view ours : {"libweft.so:", "weft-malloc.so:"})
    if (rest.starts_with(ours))
      rest.remove_prefix(ours.size());
  if (rest.size() == libraries.size())
    return;
  if (rest.empty())
    unsetenv("LD_PRELOAD");
  else
    setenv("LD_PRELOAD", std::string(rest.substr(0, rest.size() - 1)).c_str(), 1);
}

const std::string& need_of_simgrid_flows()
{
  static const std::string REASON = [] {
    using simgrid::config::get_value;
    using simgrid::config::is_default;
    if (traces_messages())
      return "SimGrid traces only its own messages";
    if (not is_default("plugin"))
      return "a SimGrid plugin may observe messages";
    if (get_value<std::string>("network/model") != "SMPI" || get_value<bool>("network/crosstraffic") ||
        get_value<double>("network/TCP-gamma") != 0 || get_value<double>("network/weight-S") != 0 ||
        not is_default("maxmin/concurrency-limit"))
      return "SimGrid options change its network model";
    return "";
  }();
  return REASON;
}

std::string option_for_simgrid_flows()
{
  using simgrid::config::get_value;
  using simgrid::config::is_default;
  const auto option = [](const std::string& key, const auto& value) {
    std::ostringstream text;
    text << "--cfg " << key << ':' << value;
    return text.str();
  };
  if (traces_messages()) {
    for (const char* detail : TRACE_DETAILS)
      if (get_value<bool>(detail))
        return option(detail, "yes");
    return option("tracing/smpi/format", "TI");
  }
  if (not is_default("plugin"))
    return option("plugin", get_value<std::string>("plugin"));
  if (const auto model = get_value<std::string>("network/model"); model != "SMPI")
    return option("network/model", model);
  if (get_value<bool>("network/crosstraffic"))
    return option("network/crosstraffic", "yes");
  for (const char* const number : {"network/TCP-gamma", "network/weight-S"})
    if (const auto value = get_value<double>(number); value != 0)
      return option(number, value);
  if (not is_default("maxmin/concurrency-limit"))
    return option("maxmin/concurrency-limit", get_value<int>("maxmin/concurrency-limit"));
  return "";
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

int number_of_ranks()
{
  return expected_ranks();
}

bool actions_are_shared()
{
  static const bool SHARED = [] {
    using simgrid::config::is_default;
    if (simgrid::config::get_value<bool>("tracing") || not is_default("plugin") ||
        not is_default("maxmin/concurrency-limit") || not settings().contention)
      return false;
    if (const std::string& kept = settings().rank_flows; not kept.empty())
      return kept == "together";
    return expected_ranks() > MANY_RANKS;
  }();
  return SHARED;
}

} // namespace weft
