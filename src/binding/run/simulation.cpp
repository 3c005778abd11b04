// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/simulation.hpp"

#include "binding/messages/mpi_costs.hpp"
#include "binding/observe/call_trace.hpp"
#include "binding/observe/profile.hpp"
#include "binding/process/leaving.hpp"
#include "binding/process/process.hpp"
#include "binding/process/stacks.hpp"
#include "binding/run/diagnosis.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>
#include <vector>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

constexpr const char* OUT_OF_STACK = "stack-overflow";

/** Null until there is one. */
Simulation*& the_simulation()
{
  static Simulation* simulation = nullptr;
  return simulation;
}

} // namespace

Simulation::Simulation(const Fabric& its_fabric, Network& its_network, OffloadMode its_mode,
                       const std::string& record_path)
    : record_file_(record_path), fabric(its_fabric), state(fabric), network(its_network),
      core_noise(its_fabric, its_network), mode(its_mode), stage_algorithms(HostStageAlgorithms::of(fabric.nic())),
      decider(fabric, mode, algorithms, hosts_fallback, [this]() -> const MessageCosts& { return costs(); }),
      communicators(fabric, network)
{
  for (int index = 0; index < fabric.switch_count(); ++index)
    switches.emplace_back(fabric.switch_model(index));
}

Simulation& Simulation::create(const Fabric& fabric, Network& network, OffloadMode mode, const std::string& record_path,
                               bool keep_events)
{
  if (the_simulation())
    throw std::logic_error("the platform is loaded already");
  auto* simulation               = new Simulation(fabric, network, mode, record_path);
  the_simulation()               = simulation;
  simulation->record.keep_events = keep_events;
  Profile::get().keep_slices     = keep_events;
  simulation->ranks_.watch(network, [simulation](aid_t rank) { simulation->rank_ended(rank); });
  if (const char* calls = std::getenv("WEFT_CALLS"))
    CallTrace::begin(calls);
  watch_process();
  if (simulation->record_file_.wanted())
    watch_crashes(record_path + ".crashed");
  sg::Engine::on_simulation_end_cb([simulation] {
    simulation->check_stacks();
    simulation->write_record();
    if (CallTrace::get())
      CallTrace::get()->end();
  });
  sg::Engine::on_deadlock_cb(
      [simulation] { simulation->abort("deadlock", describe_deadlock(simulation->communicators)); });
  return *simulation;
}

Simulation& Simulation::get()
{
  return *the_simulation();
}

const MessageCosts& Simulation::costs()
{
  if (not costs_)
    costs_ = message_costs(fabric, network);
  return *costs_;
}

HostNetwork& Simulation::host_network()
{
  if (not host_network_) {
    host_network_             = make_host_network(costs());
    host_network_->core_noise = &core_noise;
    host_network_->refuse     = [this](const std::string& why) { refuse_fallback(why); };
    if (fabric.mpi() && fabric.mpi()->progress == Progress::calls)
      host_network_->advance_by_calls();
  }
  return *host_network_;
}

void Simulation::refuse_fallback(const std::string& why)
{
  abort("refused", "--fallback: " + why);
}

void Simulation::rank_ended(aid_t rank)
{
  ranks_.has_ended(rank);
  if (const Communicator* communicator = waiting_for(communicators, rank))
    check_members(*communicator);
}

// SMPI's algorithms die of a message to a rank that has ended; a stream would wait for it for ever.
void Simulation::check_members(const Communicator& communicator)
{
  if (const auto missing = describe_missing_rank(communicator, ranks_.ended()))
    abort("mismatch", *missing);
}

// What else went wrong may have come of it.
void Simulation::check_stacks()
{
  if (const auto rank = rank_out_of_stack())
    abort(OUT_OF_STACK, "rank " + std::to_string(*rank) +
                            " has used up its stack, and may have written over other ranks' data; " +
                            advise_on_stack(stacks_made()->bytes));
}

void Simulation::write_record() const
{
  if (not record_file_.wanted())
    return;
  Profile::get().stop();
  std::vector<const RecordPart*> parts;
  for (const auto& mechanism : decider.mechanisms())
    if (const RecordPart* part = mechanism->report())
      parts.push_back(part);
  const Record::Run run{fabric,
                        mode,
                        ranks_.count(),
                        ranks_.hosts(),
                        sg::Engine::get_clock(),
                        switches,
                        std::move(parts),
                        [this](LinkId link) { return network.bytes_on_link(link); },
                        [this](int index) { return network.lookups(index); },
                        algorithms,
                        stacks_made(),
                        poll_overhead(fabric)};
  record_file_.write([&](std::ostream& file) { record.write_json(run, file); });
}

void Simulation::abort(const std::string& kind, const std::string& message, int status)
{
  if (kind != OUT_OF_STACK)
    check_stacks();
  record.outcome = {kind, message};
  write_record();
  // Whoever asked for a record shows the message from there.
  if (not record_file_.wanted())
    std::fprintf(stderr, "weft: %s\n", message.c_str());
  leave_process(status);
}

} // namespace weft
