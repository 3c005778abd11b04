// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/selection/selection.hpp"

#include "base/error.hpp"
#include "base/share.hpp"
#include "collective/host/engine/nodes.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace weft {

Selection Selection::load(const std::string& name_or_path)
{
  const std::string folder = "presets/mpi";
  if (const std::optional<std::string> path = find_shared(folder, name_or_path))
    return read(OptionTable::read_file(*path), name_or_path);
  const std::size_t plus = name_or_path.find('+');
  const bool with_base   = plus != std::string::npos && find_shared(folder, name_or_path.substr(0, plus));
  if (not with_base && name_or_path.ends_with(".toml"))
    return read(OptionTable::read_file(name_or_path), name_or_path);
  const std::string path = with_base ? name_or_path.substr(plus + 1) : name_or_path;
  if (with_base || path.find_first_of("/.") != std::string::npos || std::filesystem::exists(path)) {
    TunedRules rules    = TunedRules::read_file(path);
    const int version   = rules.version();
    Selection selection = load(with_base ? name_or_path.substr(0, plus) : version == 1 ? "openmpi-4.1" : "openmpi-5.0");
    selection.library_  = std::make_shared<const Selection>(selection);
    selection.name_     = name_or_path;
    selection.tuned_    = std::move(rules);
    return selection;
  }
  const std::vector<std::string> known = list_shared(folder);
  throw UserError(
      "found \"" + name_or_path + "\"; " + did_you_mean(name_or_path, known) + "allowed: " + join(known) +
      ", or the path of a file (selections are named NAME.toml; any other file has Open MPI's dynamic rules)");
}

Selection Selection::read(const OptionTable& file, std::string name)
{
  const std::vector<std::string> known{"selection", "rule"};
  file.allow_only(known);
  Selection selection;
  selection.name_        = std::move(name);
  const OptionTable head = file.table("selection");
  head.allow_only(std::vector<std::string>{"description", "base", "best"});
  if (const std::optional<std::string> best = head.text("best")) {
    check_name(head, "best", *best, std::vector<std::string>{"yes", "no"});
    selection.in_best_ = *best == "yes";
  }
  selection.description_ = head.text("description").value_or("");
  if (const std::optional<std::string> base = head.text("base")) {
    check_name(head, "base", *base, list_shared("presets/mpi"));
    selection.base_ = selection.library_ = std::make_shared<const Selection>(load(*base));
  }
  for (const OptionTable& table : file.tables("rule")) {
    SelectionRule rule;
    require_options(table, selection_rule_options(), read_options(table, selection_rule_options(), {}, rule));
    check(table, rule);
    selection.rules_[rule.collective].push_back(std::move(rule));
  }
  return selection;
}

Selection::Choice Selection::choose(const HostCall& call) const
{
  return executed(chosen(call), call);
}

Selection::Choice Selection::executed(Choice choice, const HostCall& call) const
{
  if (choice.algorithm && choice.algorithm->ignores_hosts && call.host && choice.algorithm->ignores_hosts(call)) {
    HostCall flat            = call;
    flat.host                = {};
    flat.nodes               = {};
    const Choice without_han = choose(flat);
    return without_han.algorithm ? without_han : choice;
  }
  while (choice.algorithm && choice.algorithm->substitute) {
    const Substitute its = choice.algorithm->substitute(call, choice.tuning);
    if (its.name.empty())
      break;
    choice = {find_algorithm(call.collective, its.name), its.tuning, choice.library};
  }
  return choice;
}

std::string Selection::Choice::name() const
{
  const std::string its(algorithm->name);
  return library ? its + " (" + library->name() + ")" : its;
}

const Selection& Selection::preset()
{
  static const Selection PRESET = load(DEFAULT);
  return PRESET;
}

Selection::Choice Selection::followed(const Algorithm& algorithm, const HostCall& call, const Tuning& tuning) const
{
  if (can_do(algorithm, call) || not algorithm.otherwise.empty() || this == &preset())
    return {fitting(algorithm, call), tuning};
  return (library_ ? *library_ : preset()).choose_instead(call);
}

Selection::Choice Selection::choose_instead(const HostCall& call) const
{
  Choice choice = choose(call);
  if (not choice.algorithm && this != &preset())
    return preset().choose_instead(call);
  if (not choice.library)
    choice.library = this;
  return choice;
}

Selection::Choice Selection::chosen(const HostCall& call) const
{
  Choice choice = choose_by_rules(call);
  if (not tuned_ || not call.blocking)
    return choice;
  // HAN takes precedence over tuned, and calls it within and between hosts.
  const bool is_tuneds  = not choice.algorithm || choice.algorithm->name != "han";
  const TunedRule* rule = is_tuneds ? tuned_->rule_for(call) : nullptr;
  return rule ? followed(*rule->algorithm, call, rule->tuning) : choice;
}

Selection::Choice Selection::choose_by_rules(const HostCall& call) const
{
  const SelectionRule* best = nullptr;
  if (const auto rules = rules_.find(call.collective); rules != rules_.end())
    for (const SelectionRule& rule : rules->second)
      if (rule.holds_for(call) && (not best || rule.goes_before(*best)))
        best = &rule;
  if (not best)
    return base_ ? base_->choose(call) : Choice{nullptr, {}};
  const std::size_t at = best->entry_for(call);
  return followed(*find_algorithm(call.collective, best->algorithm[at]), call, best->tuning(at));
}

std::vector<Tuning> Selection::tunings(const Algorithm& algorithm) const
{
  std::vector<Tuning> all = base_ ? base_->tunings(algorithm) : std::vector<Tuning>();
  const auto rules        = rules_.find(algorithm.collective);
  if (rules == rules_.end())
    return all;
  for (const SelectionRule& rule : rules->second)
    for (std::size_t at = 0; at < rule.algorithm.size(); ++at)
      if (rule.algorithm[at] == algorithm.name)
        all.push_back(rule.tuning(at));
  return all;
}

HostCall Selection::resolved(HostCall call) const
{
  if (call.host && not call.nodes)
    call.nodes = std::make_shared<const Nodes>(Nodes::of(call));
  call.within = [this](const HostCall& inner, int rank) { return schedule(inner, rank); };
  return call;
}

Schedule Selection::schedule(const HostCall& call, int rank) const
{
  constexpr int MOST_DEPTH = 8; // libraries nest at most three calls
  if (call.depth > MOST_DEPTH)
    throw UserError(
        name_ + ": the rules for " + std::string(call.collective) + " of " + std::to_string(call.ranks) +
        " ranks select an algorithm that contains the same call; give one of the rules a condition (hosts, ranks)");
  const Choice choice = choose(call);
  if (not choice.algorithm)
    throw UserError(name_ + ": no rule holds for " + std::string(call.collective) + " of " +
                    std::to_string(call.ranks) + " ranks, which another call contains; add one, or a base");
  return choice.algorithm->schedule(call, rank, choice.tuning);
}

} // namespace weft
