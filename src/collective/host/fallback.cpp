// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/fallback.hpp"

#include "base/error.hpp"
#include "base/share.hpp"
#include "collective/host/nccl/nccl_plan.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

namespace weft {
namespace {

constexpr std::string_view SMPI = "smpi:";
/** Neighbourhood collectives, which SMPI lacks. */
constexpr std::string_view NEIGHBOR = "neighbor_";

std::vector<std::string> all_names()
{
  std::set<std::string> names;
  for (const Algorithm& one : host_algorithms())
    names.emplace(one.name);
  return {names.begin(), names.end()};
}

} // namespace

HostFallback HostFallback::parse(const std::string& text)
{
  HostFallback fallback;
  fallback.selection_ = Selection::load(Selection::DEFAULT);
  for (std::size_t at = 0; at <= text.size() && not text.empty();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    fallback.add(text.substr(at, comma - at));
    at = comma + 1;
  }
  return fallback;
}

void HostFallback::add(const std::string& item)
{
  const std::size_t equals = item.find('=');
  if (equals == std::string::npos)
    add_for_all(item);
  else
    add_for_one(item.substr(0, equals), item.substr(equals + 1));
}

void HostFallback::add_for_all(const std::string& name)
{
  if (name.starts_with(SMPI) && name.size() > SMPI.size()) {
    smpi_for_all_ = name.substr(SMPI.size());
    return;
  }
  bool found = false;
  for (const Algorithm& one : host_algorithms())
    if (one.name == name || name == BEST) {
      found                               = true;
      named_[std::string(one.collective)] = name == BEST ? nullptr : &one;
      smpi_.erase(std::string(one.collective));
    }
  if (found)
    return;
  std::vector<std::string> selections    = list_shared("presets/mpi");
  const std::vector<std::string> of_nccl = NcclLibrary::names();
  if (std::ranges::count(of_nccl, name) > 0) {
    nccl_name_ = name;
    return;
  }
  if (std::ranges::count(selections, name) > 0 || name.find_first_of("/+") != std::string::npos ||
      name.ends_with(".toml") || std::filesystem::is_regular_file(name)) {
    selection_ = Selection::load(name);
    nccl_name_.clear();
    return;
  }
  std::vector<std::string> known = all_names();
  selections.insert(selections.end(), of_nccl.begin(), of_nccl.end());
  known.insert(known.end(), selections.begin(), selections.end());
  throw UserError(
      "found \"" + name + "\", which is neither a selection nor an algorithm; " + did_you_mean(name, known) +
      "allowed: a selection (" + join(selections) +
      "), the path of one, best, an algorithm (`weft collectives list`), COLLECTIVE=ALGORITHM, or SMPI's as "
      "smpi:NAME");
}

void HostFallback::add_for_one(const std::string& collective, const std::string& name)
{
  const std::vector<std::string>& known = collectives_with_algorithms();
  if (std::ranges::count(known, collective) == 0)
    throw UserError("found \"" + collective + "=" + name + "\", and no collective \"" + collective + "\"; " +
                    did_you_mean(collective, known) + "allowed: " + join(known));
  if (name.starts_with(SMPI) && name.size() > SMPI.size()) {
    if (collective.starts_with(NEIGHBOR))
      throw UserError("found \"" + collective + "=" + name +
                      "\", but SMPI has no neighbourhood collectives; allowed: " + join(algorithms_of(collective)));
    leave_to_smpi(collective, name.substr(SMPI.size()));
    return;
  }
  const Algorithm* const algorithm = find_algorithm(collective, name);
  if (not algorithm && name != BEST) {
    const std::vector<std::string> names = algorithms_of(collective);
    throw UserError("found \"" + collective + "=" + name + "\", and no algorithm \"" + name + "\" for " + collective +
                    "; " + did_you_mean(name, names) + "allowed: " + join(names) + ", best, or SMPI's as smpi:NAME");
  }
  named_[collective] = algorithm;
  smpi_.erase(collective);
}

void HostFallback::leave_to_smpi(const std::string& collective, const std::string& name)
{
  smpi_[collective] = name;
  named_.erase(collective);
}

void HostFallback::leave_only(const std::vector<std::string>& collectives)
{
  const std::string name = std::exchange(smpi_for_all_, "");
  for (const std::string& one : collectives)
    if (not named_.contains(one))
      smpi_.try_emplace(one, name);
}

std::map<std::string, std::string, std::less<>> HostFallback::left_to_smpi() const
{
  auto all = smpi_;
  if (not smpi_for_all_.empty())
    all.emplace("", smpi_for_all_);
  return all;
}

std::string HostFallback::smpi(std::string_view collective) const
{
  if (const auto own = smpi_.find(collective); own != smpi_.end())
    return own->second;
  const bool own_only = collective.starts_with(NEIGHBOR) || named_.find(collective) != named_.end();
  return own_only ? "" : smpi_for_all_;
}

void HostFallback::predict_on(const Fabric& fabric, FastestAlgorithm::MakeCosts costs)
{
  fastest_ = std::make_shared<FastestAlgorithm>(fabric, std::move(costs));
  if (not nccl_name_.empty())
    nccl_ = std::make_shared<const NcclLibrary>(nccl_name_, fabric);
}

bool HostFallback::takes_best(std::string_view collective) const
{
  return std::ranges::any_of(
      named_, [&](const auto& its) { return not its.second && (collective.empty() || its.first == collective); });
}

HostCall HostFallback::resolved(HostCall call, const Selection::Choice& choice) const
{
  call.nccl = choice.nccl;
  return (choice.library ? *choice.library : selection_).resolved(std::move(call));
}

Selection::Choice HostFallback::choose(const HostCall& call, int calls) const
{
  const auto own = named_.find(call.collective);
  // Neighbourhood collectives are not predicted: no rank knows the blocks of all ranks.
  if (own != named_.end() && not own->second && not call.neighbors)
    return fastest_->choose(call, calls);
  const Algorithm* const named = own != named_.end() ? own->second : nullptr;
  const bool fits              = named && (can_do(*named, call) || not named->otherwise.empty());
  if (fits)
    return selection_.executed({fitting(*named, call), {}}, call);
  if (not smpi(call.collective).empty())
    return {nullptr, {}};
  if (nccl_ && not named && NcclLibrary::takes(call)) {
    std::shared_ptr<const NcclPlan> plan = nccl_->plan(call);
    const Algorithm& algorithm           = NcclLibrary::algorithm(*plan);
    return {.algorithm = &algorithm, .tuning = {plan->choice.chunk}, .nccl = std::move(plan)};
  }
  Selection::Choice choice = selection_.choose(call);
  if ((named || nccl_) && choice.algorithm &&
      not choice.library) // named in the record, since the user has not chosen it for such calls
    choice.library = &selection_;
  // SMPI has no neighbourhood collectives to fall back on if no rule matches.
  return choice.algorithm || not call.neighbors
             ? choice
             : Selection::Choice{find_algorithm(call.collective, "basic_linear"), {}};
}

} // namespace weft
