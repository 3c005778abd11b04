// SPDX-License-Identifier: LGPL-2.1-only
#include "model/switch/aggregation.hpp"

#include "model/switch/streaming.hpp"

#include <algorithm>
#include <stdexcept>

namespace weft {

ChannelGrant Aggregation::channel_for(int communicator, int job) const
{
  if (channels_.contains(communicator))
    return ChannelGrant::granted;
  const auto is_its = [job](const std::pair<const int, int>& held) { return held.second == job; };
  if (model_.channel_sharing == ChannelSharing::exclusive && not std::ranges::all_of(channels_, is_its))
    return ChannelGrant::locked;
  const bool reserves = model_.channel_sharing == ChannelSharing::reserved;
  if (reserves && not reservations_.contains(job) &&
      static_cast<int>(reservations_.size()) >= model_.channels / model_.job_channels)
    return ChannelGrant::reserved;
  if ((reserves || model_.channel_sharing == ChannelSharing::quota) &&
      std::ranges::count_if(channels_, is_its) >= model_.job_channels)
    return ChannelGrant::over_quota;
  return channels_.size() < static_cast<std::size_t>(model_.channels) ? ChannelGrant::granted : ChannelGrant::all_taken;
}

bool Aggregation::acquire_channel(int communicator, int job)
{
  if (channel_for(communicator, job) != ChannelGrant::granted)
    return false;
  channels_.emplace(communicator, job);
  if (model_.channel_sharing == ChannelSharing::reserved)
    reservations_.insert(job);
  counters_.channels_used_max = std::max(counters_.channels_used_max, static_cast<std::int64_t>(channels_.size()));
  return true;
}

void Aggregation::release_channel(int communicator)
{
  channels_.erase(communicator);
}

void Aggregation::release_job(int job)
{
  reservations_.erase(job);
  std::erase_if(locked_, [job](const std::pair<const int, int>& its) { return its.second == job; });
}

bool Aggregation::may_stream(int job, int link) const
{
  const auto holder = locked_.find(link);
  return holder == locked_.end() || holder->second == job;
}

void Aggregation::lock(int job, int link)
{
  if (model_.stream_sharing == StreamSharing::locked)
    locked_.emplace(link, job);
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
