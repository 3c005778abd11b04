// SPDX-License-Identifier: LGPL-2.1-only
#include "descriptions/fault_file.hpp"

#include "base/error.hpp"

#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

namespace weft {
namespace {

using FaultJson = nlohmann::json;

CallPolicy policy_of(const std::string& name)
{
  static const std::map<std::string, CallPolicy> POLICIES{{"resend", CallPolicy::resend},
                                                          {"rebuild", CallPolicy::rebuild},
                                                          {"hosts", CallPolicy::hosts},
                                                          {"abort", CallPolicy::abort}};
  return POLICIES.at(name);
}

/** Reads {link or switch, over, factor, loss}. */
FabricChange change_of(const FaultJson& its)
{
  FabricChange change;
  if (its.contains("switch")) {
    change.what   = FabricChange::What::device;
    change.number = its.at("switch");
  } else {
    change.what   = its.contains("factor") ? FabricChange::What::bandwidth
                    : its.contains("loss") ? FabricChange::What::loss
                                           : FabricChange::What::link;
    change.number = its.at("link");
  }
  change.over   = its.at("over");
  change.factor = its.value("factor", 1.0);
  change.loss   = its.value("loss", 0.0);
  return change;
}

FaultEvent event_of(const FaultJson& its)
{
  FaultEvent event;
  event.at   = Seconds(its.at("at_s"));
  event.what = its.at("what");
  for (const FaultJson& change : its.at("changes"))
    event.changes.push_back(change_of(change));
  if (its.contains("without_state"))
    event.without_state = its.at("without_state");
  event.dead_hosts     = its.value("dead_hosts", std::vector<int>());
  event.repaired_hosts = its.value("repaired_hosts", std::vector<int>());
  return event;
}

} // namespace

FaultDescription parse_faults(const std::string& text, const std::string& source)
{
  try {
    const FaultJson all   = FaultJson::parse(text);
    const FaultJson& ours = all.at("recovery");
    FaultDescription description;
    description.recovery = {Seconds(ours.at("detection_s")), Seconds(ours.at("convergence_s")),
                            Seconds(ours.at("timeout_s")), ours.at("retries"), ours.at("backoff")};
    description.losses   = {Bytes(ours.at("packet_bytes")), Bytes(ours.at("go_back_bytes")), ours.at("seed")};
    description.policy   = policy_of(ours.at("collectives"));
    for (const FaultJson& one : all.at("events"))
      description.events.push_back(event_of(one));
    return description;
  } catch (const std::exception& error) {
    throw UserError(source + " is no description of faults: " + error.what());
  }
}

FaultDescription read_faults(const std::string& path)
{
  std::ifstream file(path);
  return parse_faults({std::istreambuf_iterator<char>(file), {}}, "WEFT_FAULTS: " + path);
}

} // namespace weft
