// SPDX-License-Identifier: LGPL-2.1-only
#include "model/switch/aggregation.hpp"

#include "model/switch/streaming.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace weft {

ChannelGrant Aggregation::channel_for(int communicator, int job) const
{
  if (channels_.contains(communicator) || model_.channel_sharing == ChannelSharing::best_effort)
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

double Aggregation::taken() const
{
  if (model_.channel_sharing != ChannelSharing::best_effort)
    return 0;
  return std::min(1., slots_in_use_ / model_.pool());
}

void Aggregation::begin(Bytes vector, double passed_on)
{
  ++in_flight_;
  slots_in_use_ += static_cast<double>(packet_train(model_, vector).slots) * (1 - passed_on);
  counters_.slots_used_max = std::max(counters_.slots_used_max, static_cast<std::int64_t>(std::ceil(slots_in_use_)));
}

void Aggregation::abandon(Bytes vector, double passed_on)
{
  if (--in_flight_ < 0)
    throw std::logic_error("a collective ended on a switch that had not begun it");
  const auto slots = static_cast<double>(packet_train(model_, vector).slots);
  slots_in_use_    = in_flight_ == 0 ? 0 : slots_in_use_ - slots * (1 - passed_on);
}

void Aggregation::end(Bytes vector, Bytes reduced, Bytes multicast, double passed_on)
{
  abandon(vector, passed_on);
  const PacketTrain train = packet_train(model_, vector);
  const auto on           = static_cast<std::int64_t>(std::llround(static_cast<double>(train.packets) * passed_on));
  counters_.offloaded += 1;
  counters_.packets_reduced += train.packets - on;
  counters_.packets_passed_on += on;
  counters_.bytes_reduced += reduced.value();
  counters_.bytes_multicast += multicast.value();
}

} // namespace weft
