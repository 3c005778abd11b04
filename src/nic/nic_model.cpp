#include "nic/nic_model.hpp"

namespace weft {

const std::vector<Option<NicModel>>& nic_options()
{
  using M = NicModel;
  static const std::vector<Option<M>> ROWS{
      {"offload_overhead", "host and NIC work of one offloaded call", &M::offload_overhead, Need::required,
       Bound::non_negative},
      {"message_gap", "delay that each further rank of a host adds to an offloaded call", &M::message_gap,
       Need::required, Bound::non_negative},
      {"offload_copy_rate", "the host's copy and conversion rate for offloaded data; unlimited where absent",
       &M::offload_copy_rate, Need::optional},
      {"contributions",
       "what ranks that share a host send: \"per-rank\", each its own (where absent), or \"per-host\", combined in the "
       "host",
       &M::contributions, Need::optional},
  };
  return ROWS;
}

NicModel read_nic(const OptionTable& table)
{
  return read_device<NicModel>(table, "nic", nic_options(), {}, [](const OptionTable& source, NicModel& model) {
    if (model.contributions != "per-rank" && model.contributions != "per-host")
      source.fail("contributions", "found \"" + model.contributions + "\"; allowed: per-rank, per-host");
  });
}

} // namespace weft
