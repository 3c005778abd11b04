// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/multicast/execution/reception.hpp"

#include <algorithm>
#include <limits>

namespace weft {

MulticastReception::MulticastReception(const Fabric& fabric, EngineUse& engines, const MulticastCall& call)
    : fabric_(fabric), engines_(engines), call_(call), busy_(static_cast<std::size_t>(call.ranks()))
{
  if (fabric.progress_engines().empty())
    return;
  for (int rank = 0; rank < call.ranks(); ++rank)
    rings_.emplace_back(engine(rank)->staging_room(call.model.transport, call.model.chunk), engine(rank)->activation);
}

MulticastReception::~MulticastReception()
{
  for (int rank = 0; rank < call_.ranks(); ++rank)
    end(rank);
}

void MulticastReception::begin(int rank)
{
  const ProgressEngine* const its = engine(rank);
  if (not its || busy_[static_cast<std::size_t>(rank)])
    return;
  busy_[static_cast<std::size_t>(rank)] = true;
  engines_.add_receiving(call_.host(rank), workers(*its));
}

void MulticastReception::end(int rank)
{
  if (not busy_[static_cast<std::size_t>(rank)])
    return;
  busy_[static_cast<std::size_t>(rank)] = false;
  engines_.add_receiving(call_.host(rank), -workers(*engine(rank)));
}

MulticastReception::Processed MulticastReception::process(int rank, const StagingRing::Arrival& arrival,
                                                          std::span<const double> going)
{
  const ProgressEngine* const its = engine(rank);
  if (not its)
    return {arrival.last, {}};
  // Workers that wait for nothing more have stopped; the rank's own have not.
  const int busy           = std::max(engines_.receiving(call_.host(rank)), workers(*its));
  StagingRing::Taken taken = rings_[static_cast<std::size_t>(rank)].take(arrival, rate(*its, busy).value(), going);
  return {taken.processed + its->latency(call_.model.transport).value(), std::move(taken.lost)};
}

BytesPerSecond MulticastReception::send_rate(int rank) const
{
  const ProgressEngine* const its = engine(rank);
  return its ? its->send_rate(call_.model.transport, call_.model.chunk)
             : BytesPerSecond(std::numeric_limits<double>::infinity());
}

} // namespace weft
