// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/platform/switch_properties.hpp"

#include "base/error.hpp"

#include <cstdlib>
#include <map>
#include <optional>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

constexpr const char* MARK      = "processing_latency";
constexpr const char* NO_PRESET = "none";

/** Reads the properties of one host; every message names file, host and property. */
class PropertyReader {
  const std::string& file_;
  const sg::Host* host_;

public:
  PropertyReader(const std::string& file, const sg::Host* host) : file_(file), host_(host) {}

  std::optional<std::string> find(const std::string& key) const
  {
    const char* text = host_->get_property(key);
    return text ? std::optional<std::string>(text) : std::nullopt;
  }
  std::string place(const std::string& key) const
  {
    return file_ + ": host \"" + host_->get_name() + "\", property " + key;
  }
  [[noreturn]] void fail(const std::string& key, const std::string& problem) const
  {
    throw UserError(place(key) + ": " + problem);
  }

  /** Sets the member of a row to the property of that name, if there is one. Belbeisi et al. (CF '26) give seconds and
   * bytes as plain numbers. */
  template <class T> void read(const Option<T>& row, T& into) const
  {
    const std::optional<std::string> text = find(row.key);
    if (not text)
      return;
    try {
      row.parse(*text, into);
    } catch (const std::runtime_error& error) {
      fail(row.key, error.what());
    }
  }

  SwitchModel preset() const
  {
    const std::string name = find("preset").value_or("tofino");
    if (name == NO_PRESET)
      return {};
    const std::optional<SwitchModel> model = find_switch_preset(name);
    if (not model)
      fail("preset", "found \"" + name + R"("; allowed: a switch preset, or "none" where the properties say all)");
    return *model;
  }

  void require(const std::string& key) const
  {
    if (not find(key))
      fail(key, "is missing; a smart switch needs processing_latency and max_ports");
  }
};

} // namespace

bool is_smart(const sg::Host* host)
{
  return host->get_property(MARK) != nullptr;
}

long number_of(const sg::Host* host)
{
  const char* text = host->get_property("number");
  return text ? std::strtol(text, nullptr, 10) : 0;
}

std::string meeting_of(const sg::Host* first)
{
  const char* text = first->get_property("meeting");
  return text ? text : "nearest";
}

SwitchModel read_switch_properties(const std::string& file, const sg::Host* host)
{
  const PropertyReader reader(file, host);
  reader.require("max_ports");
  SwitchModel model = reader.preset();
  // The latencies of the platform's links include forwarding; only what a tree switch passes on
  // pays it here.
  model.forwarding_latency = Seconds();
  model.forwarding         = {};
  for (const Option<SwitchModel>& row : switch_properties())
    reader.read(row, model);
  if (not(model.aggregation_rate > BytesPerSecond()))
    reader.fail("aggregation_rate", "found zero; allowed: more than zero, or none");
  if (const std::optional<std::string> offload = reader.find("offload"))
    model.capabilities = parse_capabilities(*offload, reader.place("offload"));
  if (const std::string meeting = meeting_of(host);
      meeting != "nearest" && meeting != "centre" && meeting != "next-to-hosts")
    reader.fail("meeting", "found \"" + meeting + "\"; allowed: nearest, centre, next-to-hosts");
  if (const std::string problem = lacking(model); not problem.empty())
    reader.fail("offload", problem);
  return model;
}

NicModel read_nic_properties(const std::string& file, const std::vector<sg::Host*>& switches)
{
  NicModel nic;
  std::map<std::string, std::pair<const sg::Host*, std::string>> first; // by key: host that first sets it, and value
  for (const sg::Host* host : switches) {
    const PropertyReader reader(file, host);
    for (const char* key :
         {"offload_overhead", "message_gap", "offload_copy_rate", "contributions", "host_reduce", "host_bcast"}) {
      const std::optional<std::string> text = reader.find(key);
      if (not text)
        continue;
      const auto& [other, said] = first.try_emplace(key, host, *text).first->second;
      if (said != *text)
        reader.fail(key, "found \"" + *text + "\", and host \"" + other->get_name() + "\" has \"" + said +
                             "\"; allowed: one value, because all NICs are equal");
    }
    for (const Option<NicModel>& row : nic_options())
      if (row.key == "offload_overhead" || row.key == "message_gap" || row.key == "offload_copy_rate")
        reader.read(row, nic);
    if (not(nic.offload_copy_rate > BytesPerSecond()))
      reader.fail("offload_copy_rate", "found zero; allowed: more than zero, or none");
    if (const std::optional<std::string> text = reader.find("contributions")) {
      if (*text != "per-rank" && *text != "per-host")
        reader.fail("contributions", "found \"" + *text + "\"; allowed: per-rank, per-host");
      nic.contributions = *text;
    }
    if (const std::optional<std::string> text = reader.find("host_reduce")) {
      nic.host_reduce       = *text;
      nic.host_reduce_place = reader.place("host_reduce");
    }
    if (const std::optional<std::string> text = reader.find("host_bcast")) {
      nic.host_bcast       = *text;
      nic.host_bcast_place = reader.place("host_bcast");
    }
  }
  return nic;
}

} // namespace weft
