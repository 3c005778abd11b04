// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/messages/resent_transfers.hpp"

#include "binding/messages/host_network.hpp"

#include <algorithm>
#include <simgrid/s4u.hpp>
#include <utility>

namespace weft {

void ResentTransfers::start(Transfer transfer)
{
  if (idle_.empty()) {
    idle_.push_back(rests_.size());
    rests_.emplace_back();
  }
  const std::size_t place = idle_.back();
  idle_.pop_back();
  rests_[place] = {std::move(transfer)};
  network_->message_leaves();
  send(place);
}

void ResentTransfers::send(std::size_t place)
{
  const auto send = rests_[place].transfer.send; // a copy, since the transfer may fail immediately
  send(rests_[place].part, [this, place](const FlowResult& result) { ended(place, result); });
}

void ResentTransfers::ended(std::size_t place, const FlowResult& result)
{
  if (result.arrived()) {
    free(place)(result);
    return;
  }
  ++counts_.cut;
  Rest& rest = rests_[place];
  rest.part *= result.rest;
  rest.since    = simgrid::s4u::Engine::get_clock();
  rest.timeouts = 0;
  await(place);
}

/** Schedules the next retransmission of a remainder. */
void ResentTransfers::await(std::size_t place)
{
  Rest& rest        = rests_[place];
  const double next = rest.since + model_.time_of(++rest.timeouts).value();
  network_->call_after(Seconds(next - simgrid::s4u::Engine::get_clock()), *this, place);
}

void ResentTransfers::due(std::uint64_t place)
{
  const Rest& rest           = rests_[place];
  const double waited        = simgrid::s4u::Engine::get_clock() - rest.since;
  const std::string obstacle = rest.transfer.obstacle();
  if (obstacle.empty()) {
    ++counts_.resumed;
    counts_.waited_s += waited;
    counts_.longest_waiting_s = std::max(counts_.longest_waiting_s, waited);
    send(place);
  } else if (rest.timeouts > model_.retries) {
    give_up(place, obstacle);
  } else {
    await(place);
  }
}

void ResentTransfers::give_up(std::size_t place, const std::string& obstacle)
{
  ++counts_.given_up;
  const std::string why = rests_[place].transfer.what + " was given up after " + model_.timeouts() + ": " + obstacle;
  free(place)({why});
}

FlowEnd ResentTransfers::free(std::size_t place)
{
  FlowEnd done  = std::move(rests_[place].transfer.done);
  rests_[place] = {};
  idle_.push_back(place);
  network_->message_ends();
  return done;
}

} // namespace weft
