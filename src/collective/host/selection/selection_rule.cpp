// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/selection/selection_rule.hpp"

#include "collective/host/engine/nodes.hpp"
#include "collective/host/selection/algorithms.hpp"
#include "collective/host/steps/rank_bits.hpp"

#include <algorithm>
#include <tuple>

namespace weft {
namespace {

void check_length(const OptionTable& table, const std::string& key, std::size_t length, std::size_t expected)
{
  if (length != expected)
    table.fail(key, "found " + std::to_string(length) + " entries; allowed: " + std::to_string(expected) +
                        ", one per entry of bytes");
}

bool meets(Asked asked, bool is)
{
  return asked == Asked::any || (asked == Asked::yes) == is;
}

bool meets(Operations asked, const HostCall& call)
{
  switch (asked) {
    case Operations::commutative:
    case Operations::ordered:
      return (asked == Operations::commutative) == call.commutative;
    case Operations::predefined:
    case Operations::own:
      return (asked == Operations::predefined) == (call.predefined && call.commutative);
    default:
      return true;
  }
}

bool meets(Spread asked, const HostCall& call)
{
  if (asked == Spread::any)
    return true;
  if (asked == Spread::one)
    return is_within_host(call) && call.ranks > 1;
  if (not call.host)
    return asked == Spread::own;
  const std::shared_ptr<const Nodes> nodes = call.nodes ? call.nodes : std::make_shared<const Nodes>(Nodes::of(call));
  switch (asked) {
    case Spread::own:
      return not nodes->shared();
    case Spread::several:
      return nodes->shared() && nodes->number() > 1;
    case Spread::even:
      return nodes->even();
    case Spread::in_order:
      return nodes->shared() && nodes->in_order();
    default:
      return nodes->shared();
  }
}

bool blocks_are_even(const HostCall& call)
{
  if (not call.block)
    return true;
  for (int rank = 0; rank < call.ranks; ++rank)
    if (call.to(rank) != call.to(0) || call.from(rank) != call.from(0))
      return false;
  return true;
}

/** Returns the number of elements, summed over all ranks. */
Elements all_elements(const HostCall& call)
{
  const bool scatters = call.collective == "reduce_scatter";
  if (not scatters && call.collective != "allgatherv")
    return call.count * call.ranks;
  Elements sum = 0;
  for (int rank = 0; rank < call.ranks; ++rank)
    sum += scatters ? call.to(rank) : call.from(rank);
  return sum;
}

double size_of(const HostCall& call, Measure measure)
{
  if (measure == Measure::own)
    return bytes_that_select(call).value();
  const Elements all = all_elements(call);
  return measure == Measure::total_elements ? static_cast<double>(all) : call.bytes(all).value();
}

} // namespace

const std::vector<Option<SelectionRule>>& selection_rule_options()
{
  using M = SelectionRule;
  static const std::vector<Option<M>> ROWS{
      {"collective", "collective, by its name in `weft collectives`", &M::collective},
      {"operation", "any; commutative; ordered: non-commutative; predefined: an MPI operation; own: a user-defined one",
       &M::operation, Need::optional},
      {"calls", "blocking, nonblocking, or any; specific rules take precedence over any", &M::calls, Need::optional},
      {"ranks", "minimum number of ranks, up to that of the next rule", &M::ranks, Need::optional},
      {"power_of_two", "yes or no: whether the number of ranks is one", &M::power_of_two, Need::optional},
      {"enough_elements",
       "yes or no: whether there are at least as many elements as the largest power of two up to the number of ranks",
       &M::enough_elements, Need::optional},
      {"more_elements", "yes or no: whether there are more elements than ranks", &M::more_elements, Need::optional},
      {"elements_up_to", "maximum number of elements; 0: no limit", &M::elements_up_to, Need::optional,
       Allowed::non_negative},
      {"even_blocks", "yes or no: whether the blocks of all ranks have equal lengths", &M::even_blocks, Need::optional},
      {"hosts",
       "own: one rank per host; shared: several ranks on some host; several: shared, with more than one host; even: "
       "several, with equally many ranks per host; one: all ranks on one host; in_order: shared, with consecutive "
       "ranks on each host",
       &M::hosts, Need::optional},
      {"measure",
       "quantity compared with `bytes`: own: bytes of one rank; total: bytes of all ranks; total_elements: elements of "
       "all ranks",
       &M::measure, Need::optional},
      {"bytes", "sizes from which the algorithms apply; the first is 0", &M::bytes, Need::optional,
       Allowed::non_negative},
      {"bytes_per_rank", "growth of each size per rank beyond `ranks`; an entry needs all sizes up to its own",
       &M::bytes_per_rank, Need::optional, Allowed::non_negative},
      {"algorithm", "one algorithm per size", &M::algorithm},
      {"segment", "segment size, one per size; 0: no segmentation", &M::segment, Need::optional, Allowed::non_negative},
      {"fan_out", "fan-out of the algorithm's tree, one per size; 0: the default of the algorithm", &M::fan_out,
       Need::optional, Allowed::non_negative},
  };
  return ROWS;
}

void check(const OptionTable& table, const SelectionRule& rule)
{
  check_name(table, "collective", rule.collective, collectives_with_algorithms());
  const std::vector<std::string> known = algorithms_of(rule.collective);
  for (const std::string& name : rule.algorithm)
    check_name(table, "algorithm", name, known);
  const bool rising = not rule.bytes_per_rank.empty() || std::ranges::is_sorted(rule.bytes);
  if (rule.bytes.empty() || rule.bytes.front() != 0 || not rising)
    table.fail("bytes", "found " + table.found("bytes") + "; allowed: 0, then increasing sizes");
  if (not rule.bytes_per_rank.empty())
    check_length(table, "bytes_per_rank", rule.bytes_per_rank.size(), rule.bytes.size());
  check_length(table, "algorithm", rule.algorithm.size(), rule.bytes.size());
  if (not rule.segment.empty())
    check_length(table, "segment", rule.segment.size(), rule.bytes.size());
  if (not rule.fan_out.empty())
    check_length(table, "fan_out", rule.fan_out.size(), rule.bytes.size());
}

bool SelectionRule::holds_for(const HostCall& call) const
{
  return collective == call.collective && ranks <= call.ranks && meets(operation, call) &&
         (calls == Calls::any || (calls == Calls::blocking) == call.blocking) &&
         meets(power_of_two, is_power_of_two(call.ranks)) &&
         meets(enough_elements, call.count >= power_of_two_below(call.ranks)) &&
         meets(more_elements, call.count > call.ranks) && (elements_up_to == 0 || call.count <= elements_up_to) &&
         meets(hosts, call) && (even_blocks == Asked::any || meets(even_blocks, blocks_are_even(call)));
}

bool SelectionRule::goes_before(const SelectionRule& other) const
{
  const auto precedence = [](const SelectionRule& rule) { return std::tuple(rule.calls != Calls::any, rule.ranks); };
  return precedence(*this) >= precedence(other);
}

std::size_t SelectionRule::entry_for(const HostCall& call) const
{
  const double size = size_of(call, measure);
  std::size_t next  = 1;
  while (next < bytes.size() && bytes_at(next, call.ranks) <= size)
    ++next;
  return next - 1;
}

Tuning SelectionRule::tuning(std::size_t entry) const
{
  return {segment.empty() ? Bytes() : Bytes(segment[entry]), fan_out.empty() ? 0 : fan_out[entry]};
}

double SelectionRule::bytes_at(std::size_t entry, int of_ranks) const
{
  const double more = bytes_per_rank.empty() ? 0.0 : static_cast<double>(bytes_per_rank[entry]) * (of_ranks - ranks);
  return bytes[entry] + more;
}

} // namespace weft
