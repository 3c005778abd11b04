// SPDX-License-Identifier: LGPL-2.1-only
#include "simgrid/multicast_flows.hpp"

#include "collective/multicast/drops.hpp"
#include "simgrid/private_abi.hpp"
#include "simgrid/transfer.hpp"

#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Of flows whose way is counted apart. Without any, SimGrid gives a flow the share of one whose latency is 1 s
 *  (NetworkCm02Model::communicate in its network_cm02.cpp). */
constexpr Seconds NO_LATENCY{1e-15};

} // namespace

MulticastFlows::MulticastFlows(Simulation& simulation, const MulticastCall& call, MulticastListener& listener)
    : simulation_(simulation), call_(call), listener_(listener), flights_(call.sizes.size()),
      last_started_(call.shape.chains.size(), -1)
{
}

void MulticastFlows::message(int from, int to, Bytes payload, std::function<void()> arrived)
{
  Seconds overhead;
  if (const auto& mpi = simulation_.fabric.mpi())
    overhead = mpi->send_time(payload) + mpi->receive_time(payload);
  transfer(
      host(from), host(to), payload + SMPI_ENVELOPE,
      listener_.when_arrived([this, overhead, arrived = std::move(arrived)] { listener_.after(overhead, arrived); }));
}

bool MulticastFlows::arriving(int rank, int block) const
{
  const Flight& flight = flights_[static_cast<std::size_t>(block)];
  if (flight.started)
    return flight.in_flight && seen(rank, block);
  // Its turn has not come while a root before it in its chain is heard, or was until lately.
  const int last = last_started_[call_.chain_of[static_cast<std::size_t>(block)]];
  if (last < 0 || not seen(rank, last))
    return false;
  const Flight& before = flights_[static_cast<std::size_t>(last)];
  return before.in_flight || sg::Engine::get_clock() - before.landed < call_.model.cutoff_slack.value();
}

/** Whether a rank gets anything of a block. */
bool MulticastFlows::seen(int rank, int block) const
{
  const auto& losses = flights_[static_cast<std::size_t>(block)].losses;
  return losses.empty() || count_chunks(losses[static_cast<std::size_t>(rank)]) < call_.block(block).chunks;
}

void MulticastFlows::multicast(int block)
{
  leaving_.push_back(block);
  if (leaving_.size() == 1)
    listener_.later([this] { depart(); });
}

void MulticastFlows::depart()
{
  const auto departure = std::make_shared<Departure>();
  departure->blocks    = std::exchange(leaving_, {});
  departure->start     = sg::Engine::get_clock();
  std::vector<MulticastRoot> roots;
  for (const int block : departure->blocks) {
    roots.push_back({call_.block(block).root, call_.size(block)});
    take_off(block);
  }
  departure->plan  = plan_multicast(simulation_.fabric, call_.group, roots, engine_rates(simulation_.fabric));
  departure->flows = departure->plan.flows.size();
  for (std::size_t at = 0; at < departure->plan.links.size(); ++at)
    simulation_.record.count_multicast_on_link(departure->plan.links[at].link, departure->plan.payloads[at]);
  // One share for all, as a stream has: at a receiver they are one sequence of chunks.
  const Seconds sharing = departure->plan.forwarding;
  for (const StreamFlow& flow : departure->plan.flows)
    simulation_.network.start_flow(flow, NO_LATENCY, sharing, listener_.when_arrived([this, departure] {
      if (--departure->flows == 0)
        has_left(departure);
    }));
}

void MulticastFlows::take_off(int block)
{
  Flight& flight                                                 = flights_[static_cast<std::size_t>(block)];
  flight.started                                                 = true;
  flight.in_flight                                               = true;
  last_started_[call_.chain_of[static_cast<std::size_t>(block)]] = block;
  const MulticastBlock& its                                      = call_.block(block);
  flight.losses =
      Drops(simulation_.fabric, call_.group).of({call_.communicator->id, call_.number, its.root, its.chunks});
  for (const std::vector<ChunkRun>& lost : flight.losses)
    moved_.drops += count_chunks(lost);
  ++moved_.multicasts;
  moved_.chunks += its.chunks;
  moved_.payload += call_.size(block).value();
  moved_.headers += (call_.model.packet_overhead * call_.model.packets(call_.size(block))).value();
}

void MulticastFlows::has_left(const std::shared_ptr<Departure>& departure)
{
  for (const int block : departure->blocks)
    listener_.block_left(block);
  listener_.after(departure->plan.way, [this, departure] { land(*departure); });
}

void MulticastFlows::land(const Departure& departure)
{
  for (const int block : departure.blocks) {
    Flight& flight   = flights_[static_cast<std::size_t>(block)];
    flight.in_flight = false;
    flight.landed    = sg::Engine::get_clock();
    for (int rank = 0; rank < call_.communicator->size(); ++rank)
      if (rank != call_.block(block).root)
        land_at(rank, block);
  }
  add_events(departure);
}

void MulticastFlows::land_at(int rank, int block)
{
  const auto& losses = flights_[static_cast<std::size_t>(block)].losses;
  if (losses.empty()) {
    listener_.chunks_came(rank, block, {0, call_.block(block).chunks});
    return;
  }
  for (const ChunkRun& run : others(losses[static_cast<std::size_t>(rank)], call_.block(block).chunks))
    listener_.chunks_came(rank, block, run);
}

void MulticastFlows::add_events(const Departure& departure)
{
  if (not simulation_.record.keep_events)
    return;
  Bytes all;
  for (const int block : departure.blocks)
    all += call_.size(block);
  for (const ReductionTree& tree : call_.group.trees)
    for (const TreeSwitch& node : tree.switches)
      simulation_.record.add_event({node.index, call_.communicator->id, call_.called, call_.communicator->size(),
                                    all.value(), departure.start, sg::Engine::get_clock()});
}

} // namespace weft
