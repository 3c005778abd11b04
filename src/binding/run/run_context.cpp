// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/run_context.hpp"

#include "binding/messages/mpi_costs.hpp"
#include "binding/observe/call_trace.hpp"
#include "binding/observe/profile.hpp"
#include "binding/process/process.hpp"
#include "binding/process/process_exit.hpp"
#include "binding/process/stacks.hpp"
#include "binding/run/diagnosis.hpp"
#include "binding/settings/settings.hpp"
#include "binding/settings/tunings.hpp"

#include <cstdio>
#include <utility>
#include <vector>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

constexpr const char* OUT_OF_STACK = "stack-overflow";

} // namespace

RunContext::RunContext(FabricState& its_state, Network& its_network, Jobs& its_jobs, OffloadMode its_mode,
                       const std::string& record_path, bool keep_events)
    : record_file_(record_path), fabric(its_state.fabric()), state(its_state), network(its_network), jobs(its_jobs),
      core_noise(fabric, its_network), mode(its_mode), stage_algorithms(HostStageAlgorithms::of(fabric.nic())),
      selector(state, mode, algorithms, hosts_fallback, [this]() -> const MessageCosts& { return costs(); }),
      communicators(fabric, network, jobs)
{
  for (int index = 0; index < fabric.switch_count(); ++index)
    switches.emplace_back(fabric.switch_model(index));
  record.keep_events         = keep_events;
  Profile::get().keep_slices = keep_events;
  ranks_.watch(network, [this](aid_t rank) { rank_ended(rank); });
  if (not settings().calls.empty())
    CallTrace::begin(settings().calls);
  watch_process();
  if (record_file_.wanted())
    watch_crashes(record_path + ".crashed");
  sg::Engine::on_simulation_end_cb([this] {
    check_stacks();
    write_record();
    if (CallTrace::get())
      CallTrace::get()->end();
  });
  sg::Engine::on_deadlock_cb([this] {
    abort("deadlock", describe_deadlock(communicators, (describe_messages ? describe_messages() : "") +
                                                           (describe_files ? describe_files() : "")));
  });
}

const MessageCosts& RunContext::costs()
{
  if (not costs_)
    costs_ = message_costs(fabric, network);
  return *costs_;
}

HostNetwork& RunContext::host_network()
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

void RunContext::refuse_fallback(const std::string& why)
{
  abort("refused", "--fallback: " + why);
}

void RunContext::rank_ended(aid_t rank)
{
  ranks_.has_ended(rank);
  if (const Communicator* communicator = waiting_for(communicators, rank))
    check_members(*communicator);
}

// SMPI's algorithms crash on a message to a rank that has ended; a stream would wait for it forever.
void RunContext::check_members(const Communicator& communicator)
{
  if (const auto missing = describe_missing_rank(communicator, ranks_.ended()))
    abort("mismatch", *missing);
}

// A stack overflow may have caused whatever else went wrong, so it is reported first.
void RunContext::check_stacks()
{
  if (const auto rank = rank_out_of_stack())
    abort(OUT_OF_STACK, "rank " + std::to_string(*rank) +
                            " overflowed its stack and may have overwritten data of other ranks; " +
                            advise_on_stack(stacks_made()->bytes));
}

void RunContext::write_record() const
{
  if (not record_file_.wanted())
    return;
  Profile::get().stop();
  std::vector<const RecordPart*> parts = record_parts;
  for (const auto& mechanism : selector.mechanisms())
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
                        tunings_off(),
                        poll_overhead(fabric)};
  record_file_.write([&](std::ostream& file) { record.write_json(run, file); });
}

void RunContext::abort(const std::string& kind, const std::string& message, int status)
{
  if (kind != OUT_OF_STACK)
    check_stacks();
  record.outcome = {kind, message};
  write_record();
  // With a record, its reader shows the message.
  if (not record_file_.wanted())
    std::fprintf(stderr, "weft: %s\n", message.c_str());
  leave_process(status);
}

} // namespace weft
