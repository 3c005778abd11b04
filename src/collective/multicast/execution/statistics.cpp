// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/execution/statistics.hpp"

namespace weft {

void MulticastTimes::add(MulticastPhase phase, double time)
{
  switch (phase) {
    case MulticastPhase::barrier:
      barrier += time;
      break;
    case MulticastPhase::multicast:
      multicast += time;
      break;
    case MulticastPhase::recovery:
      recovery += time;
      break;
    case MulticastPhase::handshake:
      handshake += time;
      break;
    case MulticastPhase::over:
      break;
  }
}

void MulticastTimes::add(const MulticastTimes& other)
{
  barrier += other.barrier;
  multicast += other.multicast;
  recovery += other.recovery;
  handshake += other.handshake;
}

void MulticastDrops::add(const MulticastDrops& other)
{
  all += other.all;
  staging += other.staging;
  port += other.port;
}

void MulticastRank::add(const MulticastRank& other)
{
  drops.add(other.drops);
  counts.add(other.counts);
  times.add(other.times);
}

void MulticastTraffic::add(const MulticastTraffic& other)
{
  multicasts += other.multicasts;
  chunks += other.chunks;
  payload += other.payload;
  headers += other.headers;
  fetched_bytes += other.fetched_bytes;
}

void MulticastStatistics::add(const MulticastStatistics& other)
{
  calls += other.calls;
  traffic.add(other.traffic);
  for (const auto& [rank, seen] : other.ranks)
    ranks[rank].add(seen);
}

} // namespace weft
