// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/mpi_model.hpp"

namespace weft {

const std::vector<Option<MpiModel>>& mpi_options()
{
  using M = MpiModel;
  static const std::vector<Option<M>> ROWS{
      {"eager_threshold", "messages of at least so many bytes wait for their receiver", &M::eager_threshold,
       Need::optional},
      {"send_overhead", "what a host spends on sending a message, beside the network", &M::send_overhead,
       Need::optional, Allowed::non_negative},
      {"send_copy_rate", "at which a sender copies an eager message", &M::send_copy_rate, Need::optional},
      {"receive_overhead", "what a host spends on receiving an eager message, beside the network", &M::receive_overhead,
       Need::optional, Allowed::non_negative},
      {"receive_copy_rate", "at which a receiver copies an eager message", &M::receive_copy_rate, Need::optional},
  };
  return ROWS;
}

std::optional<MpiModel> read_mpi(const OptionTable& file)
{
  if (not file.has("mpi"))
    return std::nullopt;
  MpiModel model;
  read_options(file.table("mpi"), mpi_options(), {}, model);
  return model;
}

} // namespace weft
