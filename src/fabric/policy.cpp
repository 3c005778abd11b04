#include "fabric/policy.hpp"

#include "smart_switch/switch_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace weft {
namespace {

constexpr std::array MODES{std::pair{OffloadMode::off, std::string_view("off")},
                           std::pair{OffloadMode::message, std::string_view("message")},
                           std::pair{OffloadMode::stream, std::string_view("stream")},
                           std::pair{OffloadMode::multicast, std::string_view("multicast")},
                           std::pair{OffloadMode::automatic, std::string_view("auto")}};

} // namespace

std::optional<OffloadMode> parse_offload_mode(std::string_view text)
{
  for (const auto& [mode, name] : MODES)
    if (name == text)
      return mode;
  return std::nullopt;
}

std::string_view to_text(OffloadMode mode)
{
  for (const auto& [value, name] : MODES)
    if (value == mode)
      return name;
  throw std::logic_error("no such offload mode");
}

const std::vector<Option<PolicyRow>>& policy_options()
{
  using M = PolicyRow;
  static const std::vector<Option<M>> ROWS{
      {"collectives", "collectives that it is for, as in [[switch.offload]]", &M::collectives},
      {"at_least", "smallest message that it holds for", &M::at_least, Need::optional, Bound::non_negative},
      {"below", "smallest message that it no longer holds for", &M::below, Need::optional},
      {"offload", "off, stream, message, multicast, or auto: by the predicted times", &M::offload},
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
    if (not parse_offload_mode(row.offload)) {
      std::vector<std::string> known;
      std::ranges::transform(MODES, std::back_inserter(known),
                             [](const auto& mode) { return std::string(mode.second); });
      table.fail("offload", "found " + table.found("offload") + "; " + did_you_mean(row.offload, known) +
                                "allowed: " + join(known));
    }
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
  return found == rows.end() ? std::nullopt : parse_offload_mode(found->offload);
}

std::string to_text(const PolicyRow& row)
{
  std::string text = join(row.collectives);
  if (row.at_least > Bytes())
    text += " of at least " + to_text(row.at_least);
  if (std::isfinite(row.below.value()))
    text += " below " + to_text(row.below);
  return text + ": " + row.offload;
}

} // namespace weft
