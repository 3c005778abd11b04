// SPDX-License-Identifier: LGPL-2.1-only
#include "model/nccl/nccl_constants.hpp"

#include "base/error.hpp"
#include "base/share.hpp"

#include <optional>
#include <string>
#include <utility>

namespace weft {
namespace {

constexpr const char* NCCL_PRESETS = "presets/nccl";

/** Reads three quantities; all zero if the key is absent. */
template <class Q> std::array<Q, 3> read_three_quantities(const OptionTable& table, const std::string& key)
{
  std::array<Q, 3> values{};
  const std::optional<std::vector<std::string>> texts = table.texts(key);
  if (not texts)
    return values;
  if (texts->size() != values.size())
    table.fail(key, "found " + table.found(key) + "; allowed: three quantities");
  for (std::size_t at = 0; at < values.size(); ++at)
    try {
      values.at(at) = parse<Q>((*texts)[at]);
    } catch (const UnitError& error) {
      table.fail(key, error.what());
    }
  return values;
}

template <Named E> E read_name(const OptionTable& table, const std::string& key)
{
  const std::string name = table.text(key).value_or("");
  check_name(table, key, name, names_of<E>());
  return *find_named<E>(name);
}

std::vector<double> read_percent(const OptionTable& table, const std::string& key)
{
  std::vector<double> shares;
  for (const int percent : table.integers(key).value_or(std::vector<int>()))
    shares.push_back(percent / 100.0);
  return shares;
}

NcclLatency read_latency(const OptionTable& table)
{
  table.allow_only(std::vector<std::string>{"algorithm", "base", "nvlink", "pcie", "network"});
  return {read_three_quantities<Seconds>(table, "base"), read_three_quantities<Seconds>(table, "nvlink"),
          read_three_quantities<Seconds>(table, "pcie"), read_three_quantities<Seconds>(table, "network")};
}

NcclBandwidth read_bandwidth(const OptionTable& table)
{
  table.allow_only(std::vector<std::string>{"architecture", "ll", "ring_ll128", "tree_ll128", "tree", "nvls_tree",
                                            "nvls_efficiency"});
  const auto rates = [&](const char* key) { return read_three_quantities<BytesPerSecond>(table, key); };
  return {rates("ll"),   rates("ring_ll128"), rates("tree_ll128"),
          rates("tree"), rates("nvls_tree"),  table.number("nvls_efficiency").value_or(0)};
}

} // namespace

NcclConstants NcclConstants::load(const std::string& version)
{
  if (const std::optional<std::string> path = find_shared(NCCL_PRESETS, version))
    return read(OptionTable::read_file(*path), version);
  const std::vector<std::string> known = list_shared(NCCL_PRESETS);
  throw UserError("found NCCL \"" + version + "\"; " + did_you_mean(version, known) + "allowed: " + join(known));
}

NcclConstants NcclConstants::read(const OptionTable& file, std::string name)
{
  file.allow_only(std::vector<std::string>{"formulas", "latency", "bandwidth", "tree_correction"});
  NcclConstants all;
  all.name     = std::move(name);
  all.formulas = read_name<NcclFormulas>(file, "formulas");
  for (const OptionTable& row : file.tables("latency"))
    all.latency.at(index_of(read_name<NcclAlgorithm>(row, "algorithm"))) = read_latency(row);
  for (const OptionTable& row : file.tables("bandwidth"))
    all.bandwidth[read_name<GpuArchitecture>(row, "architecture")] = read_bandwidth(row);
  const OptionTable correction = file.table("tree_correction");
  correction.allow_only(names_of<NcclProtocol>());
  for (const auto& [protocol, key] : Names<NcclProtocol>::ROWS)
    all.tree_correction.at(index_of(protocol)) = read_percent(correction, std::string(key));
  return all;
}

} // namespace weft
