// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/policy.hpp"

#include "model/switch/switch_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace weft {
const std::vector<Option<PolicyRow>>& policy_options()
{
  using M = PolicyRow;
  static const std::vector<Option<M>> ROWS{
      {"collectives", "collectives that it applies to, as in [[switch.offload]]", &M::collectives},
      {"at_least", "smallest message that it applies to", &M::at_least, Need::optional, Allowed::non_negative},
      {"below", "smallest message that it no longer applies to", &M::below, Need::optional},
      {"offload", "mechanism of these calls; \"auto\": the fastest by prediction", &M::offload},
  };
  return ROWS;
}

std::vector<PolicyRow> read_policy(const OptionTable& file)
{
  std::vector<PolicyRow> rows;
  for (const OptionTable& table : file.tables("policy")) {
    PolicyRow row;
    require_options(table, policy_options(), read_options(table, policy_options(), {}, row));
    row.collectives = checked_collectives(table, row.collectives);
    if (row.at_least >= row.below)
      table.fail("below",
                 "found " + table.found("below") + "; allowed: more than at_least, which is " + to_text(row.at_least));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::optional<OffloadMode> find_policy(const std::vector<PolicyRow>& rows, const std::string& collective, Bytes message)
{
  const auto found = std::ranges::find_if(rows, [&](const PolicyRow& row) {
    return row.at_least <= message && message < row.below &&
           std::ranges::find(row.collectives, collective) != row.collectives.end();
  });
  return found == rows.end() ? std::nullopt : std::optional(found->offload);
}

std::string to_text(const PolicyRow& row)
{
  std::string text = join(row.collectives);
  if (row.at_least > Bytes())
    text += " of at least " + to_text(row.at_least);
  if (std::isfinite(row.below.value()))
    text += " below " + to_text(row.below);
  return text + ": " + std::string(to_text(row.offload));
}

} // namespace weft
