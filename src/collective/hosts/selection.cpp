// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/hosts/selection.hpp"

#include "base/share.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>
#include <tuple>

namespace weft {
namespace {

constexpr std::array<std::string_view, 3> OPERATIONS{"any", "commutative", "ordered"};

template <class T> std::size_t last_not_above(const std::vector<T>& bounds, double value)
{
  std::size_t found = 0;
  for (std::size_t index = 0; index < bounds.size(); ++index)
    if (bounds[index] <= value)
      found = index;
  return found;
}

std::vector<std::string> algorithms_of(std::string_view collective)
{
  std::vector<std::string> names;
  for (const Algorithm& one : host_algorithms())
    if (one.collective == collective)
      names.emplace_back(one.name);
  return names;
}

std::vector<std::string> collectives_with_algorithms()
{
  std::vector<std::string> names;
  for (const Algorithm& one : host_algorithms())
    if (names.empty() || names.back() != one.collective)
      names.emplace_back(one.collective);
  return names;
}

void check_length(const OptionTable& table, const std::string& key, std::size_t length, std::size_t expected)
{
  if (length != expected)
    table.fail(key, "found " + std::to_string(length) + " entries; allowed: " + std::to_string(expected) +
                        ", one per entry of bytes");
}

void check(const OptionTable& table, const SelectionRule& rule)
{
  check_name(table, "collective", rule.collective, collectives_with_algorithms());
  const std::vector<std::string> operations(OPERATIONS.begin(), OPERATIONS.end());
  check_name(table, "operation", rule.operation, operations);
  const std::vector<std::string> known = algorithms_of(rule.collective);
  for (const std::string& name : rule.algorithm)
    check_name(table, "algorithm", name, known);
  if (rule.bytes.empty() || rule.bytes.front() != 0 || not std::ranges::is_sorted(rule.bytes))
    table.fail("bytes", "found " + table.found("bytes") + "; allowed: 0, then larger and larger sizes");
  check_length(table, "algorithm", rule.algorithm.size(), rule.bytes.size());
  if (not rule.segment.empty())
    check_length(table, "segment", rule.segment.size(), rule.bytes.size());
  if (not rule.fan_out.empty())
    check_length(table, "fan_out", rule.fan_out.size(), rule.bytes.size());
}

} // namespace

const std::vector<Option<SelectionRule>>& selection_rule_options()
{
  using M = SelectionRule;
  static const std::vector<Option<M>> ROWS{
      {"collective", "the collective, as `weft collectives` names it", &M::collective},
      {"operation", "any, commutative, or ordered: one that does not commute", &M::operation, Need::optional},
      {"calls", "blocking, nonblocking, or any; a rule for one of them goes before those for any", &M::calls,
       Need::optional},
      {"ranks", "holds from so many ranks on, up to the next rule", &M::ranks, Need::optional},
      {"bytes", "from these sizes on the algorithms hold; the first is 0", &M::bytes, Need::optional,
       Allowed::non_negative},
      {"algorithm", "one algorithm per size", &M::algorithm},
      {"segment", "bytes that messages are cut into, one per size; 0: not cut", &M::segment, Need::optional,
       Allowed::non_negative},
      {"fan_out", "children of a vertex of the algorithm's tree, one per size; 0: its own", &M::fan_out, Need::optional,
       Allowed::non_negative},
  };
  return ROWS;
}

bool SelectionRule::holds_for(const HostCall& call) const
{
  return collective == call.collective && ranks <= call.ranks &&
         (operation == "any" || (operation == "commutative") == call.commutative) &&
         (calls == Calls::any || (calls == Calls::blocking) == call.blocking);
}

bool SelectionRule::goes_before(const SelectionRule& other) const
{
  const auto precedence = [](const SelectionRule& rule) { return std::tuple(rule.calls != Calls::any, rule.ranks); };
  return precedence(*this) >= precedence(other);
}

Selection Selection::load(const std::string& name_or_path)
{
  const std::string folder = "presets/mpi";
  if (const std::optional<std::string> path = find_shared(folder, name_or_path))
    return read(OptionTable::read_file(*path), name_or_path);
  if (name_or_path.ends_with(".toml"))
    return read(OptionTable::read_file(name_or_path), name_or_path);
  const std::size_t plus = name_or_path.find('+');
  const bool with_base   = plus != std::string::npos && find_shared(folder, name_or_path.substr(0, plus));
  const std::string path = with_base ? name_or_path.substr(plus + 1) : name_or_path;
  if (with_base || path.find_first_of("/.") != std::string::npos || std::filesystem::exists(path)) {
    TunedRules rules    = TunedRules::read_file(path);
    const int version   = rules.version();
    Selection selection = load(with_base ? name_or_path.substr(0, plus) : version == 1 ? "openmpi-4.1" : "openmpi-5.0");
    selection.name_     = name_or_path;
    selection.tuned_    = std::move(rules);
    return selection;
  }
  const std::vector<std::string> known = list_shared(folder);
  throw UserError("found \"" + name_or_path + "\"; " + did_you_mean(name_or_path, known) + "allowed: " + join(known) +
                  ", or the path of a file (a selection is NAME.toml, Open MPI's own rules have any other name)");
}

Selection Selection::read(const OptionTable& file, std::string name)
{
  const std::vector<std::string> known{"selection", "rule"};
  file.allow_only(known);
  Selection selection;
  selection.name_        = std::move(name);
  selection.description_ = file.table("selection").text("description").value_or("");
  for (const OptionTable& table : file.tables("rule")) {
    SelectionRule rule;
    require_options(table, selection_rule_options(), read_options(table, selection_rule_options(), {}, rule));
    check(table, rule);
    selection.rules_.push_back(std::move(rule));
  }
  return selection;
}

Selection::Choice Selection::choose(const HostCall& call) const
{
  if (tuned_ && call.blocking)
    if (const TunedRule* rule = tuned_->rule_for(call))
      return {rule->algorithm, rule->tuning};
  const SelectionRule* best = nullptr;
  for (const SelectionRule& rule : rules_)
    if (rule.holds_for(call) && (not best || rule.goes_before(*best)))
      best = &rule;
  if (not best)
    return {nullptr, {}};
  const std::size_t at = last_not_above(best->bytes, bytes_that_select(call).value());
  Tuning tuning;
  if (not best->segment.empty())
    tuning.segment = Bytes(best->segment[at]);
  if (not best->fan_out.empty())
    tuning.fan_out = best->fan_out[at];
  return {find_algorithm(call.collective, best->algorithm[at]), tuning};
}

HostCall Selection::resolved(HostCall call) const
{
  call.within = [this](const HostCall& inner, int rank) { return schedule(inner, rank); };
  return call;
}

Schedule Selection::schedule(const HostCall& call, int rank) const
{
  const Choice choice = choose(call);
  if (not choice.algorithm)
    throw std::logic_error("no rule of " + name_ + " holds for " + std::string(call.collective));
  return choice.algorithm->schedule(call, rank, choice.tuning);
}

} // namespace weft
