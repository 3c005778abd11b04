// SPDX-License-Identifier: LGPL-2.1-only
#include "nic/nic_model.hpp"

namespace weft {

const std::vector<Option<NicModel>>& nic_options()
{
  using M = NicModel;
  static const std::vector<Option<M>> ROWS{
      {"offload_overhead", "host and NIC work of one offloaded call", &M::offload_overhead, Need::required,
       Allowed::non_negative},
      {"message_gap", "delay that each further rank of a host adds to an offloaded call", &M::message_gap,
       Need::required, Allowed::non_negative},
      {"offload_copy_rate", "the host's copy and conversion rate for offloaded data", &M::offload_copy_rate,
       Need::optional},
      {"contributions",
       R"(what ranks that share a host send: "per-rank", each its own, or "per-host", combined in the host)",
       &M::contributions, Need::optional, Allowed::one_of({"per-rank", "per-host"})},
  };
  return ROWS;
}

NicModel read_nic(const OptionTable& table)
{
  return read_device<NicModel>(table, "nic", nic_options());
}

} // namespace weft
