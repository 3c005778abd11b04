// SPDX-License-Identifier: LGPL-2.1-only
#include "model/switch/aggregation.hpp"

#include "model/switch/streaming.hpp"

#include <algorithm>
#include <stdexcept>

namespace weft {

bool Aggregation::has_channel_for(int communicator) const
{
  return channels_.contains(communicator) || channels_.size() < static_cast<std::size_t>(model_.channels);
}

bool Aggregation::acquire_channel(int communicator)
{
  if (not has_channel_for(communicator))
    return false;
  channels_.insert(communicator);
  counters_.channels_used_max = std::max(counters_.channels_used_max, static_cast<std::int64_t>(channels_.size()));
  return true;
}

void Aggregation::release_channel(int communicator)
{
  channels_.erase(communicator);
}

void Aggregation::begin(Bytes vector)
{
  slots_in_use_ += packet_train(model_, vector).slots;
  counters_.slots_used_max = std::max(counters_.slots_used_max, slots_in_use_);
}

void Aggregation::end(Bytes vector, Bytes reduced, Bytes multicast)
{
  const PacketTrain train = packet_train(model_, vector);
  slots_in_use_ -= train.slots;
  if (slots_in_use_ < 0)
    throw std::logic_error("a collective ended on a switch that had not begun it");
  counters_.offloaded += 1;
  counters_.packets_reduced += train.packets;
  counters_.bytes_reduced += reduced.value();
  counters_.bytes_multicast += multicast.value();
}

} // namespace weft
