// SPDX-License-Identifier: LGPL-2.1-only
#include "model/nic/nic_model.hpp"

#include <algorithm>
#include <iterator>

namespace weft {
namespace {

/** Returns the keys that [nic] and [[nic.calls]] share. */
template <class M> std::vector<Option<M>> costs(Need overhead)
{
  return {
      {"offload_overhead", "host and NIC time per offloaded call", &M::offload_overhead, std::move(overhead),
       Allowed::non_negative},
      {"offload_copy_rate", "the host's copy and conversion rate for offloaded data", &M::offload_copy_rate,
       Need::optional},
      {"packet_copy_rate", "rate of copying a packet to and from the NIC; delays the first packet of a call",
       &M::packet_copy_rate, Need::optional},
  };
}

/** Reads the [[nic.calls]] tables of a [nic] table or a preset; tables in a file replace its preset's. */
std::vector<NicCalls> read_nic_calls(const OptionTable& nic)
{
  std::vector<NicCalls> all;
  for (const OptionTable& table : nic.tables("calls")) {
    NicCalls row;
    require_options(table, nic_calls_options(), read_options(table, nic_calls_options(), {}, row));
    if (not all.empty() && row.from <= all.back().from)
      table.fail("from", "found " + table.found("from") +
                             "; allowed: more than in the [[nic.calls]] before, which is " + to_text(all.back().from));
    all.push_back(row);
  }
  return all;
}

/** Applies the costs in @p from to calls of all sizes: a [nic] table overrides its preset's [[calls]], and --set
 * overrides the file's as well. */
void apply_to_calls(const OptionTable& from, bool own_calls, NicModel& nic)
{
  const auto applies = [&](const char* key) { return from.has(key) && (not own_calls || from.is_changed(key)); };
  for (NicCalls& row : nic.calls) {
    if (applies("offload_overhead"))
      row.offload_overhead = nic.offload_overhead;
    if (applies("offload_copy_rate"))
      row.offload_copy_rate = nic.offload_copy_rate;
    if (applies("packet_copy_rate"))
      row.packet_copy_rate = nic.packet_copy_rate;
  }
}

void read_nic_tables(const OptionTable& from, NicModel& nic)
{
  const bool own_calls = from.has("calls");
  if (own_calls)
    nic.calls = read_nic_calls(from);
  apply_to_calls(from, own_calls, nic);
  if (from.has("host_reduce"))
    nic.host_reduce_place = from.place("host_reduce");
  if (from.has("host_bcast"))
    nic.host_bcast_place = from.place("host_bcast");
}

} // namespace

NicCalls NicModel::costs(Bytes message) const
{
  const auto after = std::ranges::upper_bound(calls, message, {}, &NicCalls::from);
  return after == calls.begin() ? NicCalls{Bytes(), offload_overhead, offload_copy_rate, packet_copy_rate}
                                : *std::prev(after);
}

const std::vector<Option<NicModel>>& nic_options()
{
  using M                = NicModel;
  static const auto ROWS = [] {
    std::vector<Option<M>> rows = costs<M>(Need::required);
    rows.insert(rows.begin() + 1, {"message_gap", "delay of an offloaded call per further rank of the host",
                                   &M::message_gap, Need::required, Allowed::non_negative});
    const std::vector<Option<M>> others{
        {"message_rate",
         "messages per second that the NIC sends to other hosts, and that it receives from them, all ranks together",
         &M::message_rate, Need::otherwise("unlimited")},
        {"stripes", "most cables of a host over which messages to other hosts, and offloaded calls, are divided",
         &M::stripes, Need::otherwise("all")},
        {"least_stripe", "least part of a message that gets a cable of its own", &M::least_stripe, Need::optional},
        {"reduce_scatter",
         R"(execution of an offloaded Reduce_scatter: "parts", each rank gets its part, or "allreduce", all get the whole vector and copy their part)",
         &M::reduce_scatter, Need::optional, Allowed::one_of({"parts", "allreduce"})},
        {"part_copy_rate", "rate at which a rank copies its part of a Reduce_scatter executed as Allreduce",
         &M::part_copy_rate, Need::optional},
        {"registration_rate", "rate of registering the whole vector of such a call with the NIC", &M::registration_rate,
         Need::optional},
        {"registration_from", "smallest whole vector that is registered again for each such call",
         &M::registration_from, Need::optional, Allowed::non_negative},
        {"contributions",
         R"(contributions of ranks that share a host: "per-rank", each its own, or "per-host", combined in the host)",
         &M::contributions, Need::optional, Allowed::one_of({"per-rank", "per-host"})},
        {"host_reduce", "per-host: algorithm that reduces the contributions within a host", &M::host_reduce,
         Need::optional},
        {"host_bcast", "per-host: algorithm that distributes the result within a host", &M::host_bcast, Need::optional},
    };
    rows.insert(rows.end(), others.begin(), others.end());
    return rows;
  }();
  return ROWS;
}

const std::vector<Option<NicCalls>>& nic_calls_options()
{
  static const auto ROWS = [] {
    std::vector<Option<NicCalls>> rows = costs<NicCalls>(Need::required);
    rows.insert(rows.begin(),
                {"from", "smallest call that its keys apply to, instead of those of [nic]", &NicCalls::from});
    return rows;
  }();
  return ROWS;
}

NicModel read_nic(const OptionTable& table)
{
  return read_device<NicModel>(table, "nic", nic_options(), {"calls"}, read_nic_tables);
}

} // namespace weft
