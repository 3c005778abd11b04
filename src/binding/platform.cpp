// SPDX-License-Identifier: LGPL-2.1-only
/* Platform that SimGrid loads: `smpirun -platform libweft.so`. The settings select the fabric or
 * platform and how it is simulated (binding/settings/settings.hpp). */
#include "base/error.hpp"
#include "base/share.hpp"
#include "binding/abi/simgrid_check.hpp"
#include "binding/dynamic/spawned_worlds.hpp"
#include "binding/entries/collectives.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/entries/polls/polls.hpp"
#include "binding/entries/rank_exit.hpp"
#include "binding/faults/injected_faults.hpp"
#include "binding/faults/platform_recovery.hpp"
#include "binding/file_effects/fortran_effects.hpp"
#include "binding/files/file_system.hpp"
#include "binding/launch/job_file.hpp"
#include "binding/messages/fabric_messages.hpp"
#include "binding/messages/mpi_costs.hpp"
#include "binding/messages/simgrid_messages.hpp"
#include "binding/platform/fabric_zone.hpp"
#include "binding/platform/platform_network.hpp"
#include "binding/point_to_point/own_messages.hpp"
#include "binding/process/stacks.hpp"
#include "binding/registry.hpp"
#include "binding/settings/settings.hpp"
#include "binding/settings/tunings.hpp"
#include "binding/traffic/background_traffic.hpp"
#include "packets/deadlock/credit_cycles.hpp"

#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <system_error>
#include <unistd.h>
#include <unordered_map>
#include <unordered_set>
#include <vector>
#include <xbt/config.hpp>

namespace sg = simgrid::s4u;

namespace {

/** Replaces SMPI's network defaults, which describe TCP over Gigabit Ethernet (its source:
 * src/kernel/resource/models/network_cm02.cpp): the fabric's own numbers describe this network
 * completely. Must precede the creation of the engine's network model. */
void describe_network()
{
  weft::set_unless_chosen("network/crosstraffic", false);
  weft::set_unless_chosen("network/TCP-gamma", 0.0);
  weft::set_unless_chosen("network/weight-S", 0.0);
  for (const char* option : {"network/latency-factor", "network/bandwidth-factor"})
    if (not simgrid::config::is_default(option))
      throw weft::UserError(std::string(option) +
                            ": found on the command line; set such factors in the fabric file, as [[point_to_point]]");
}

weft::OffloadMode read_mode(const std::string& asked)
{
  const std::string text = asked.empty() ? std::string(weft::mechanism_kinds().front()->name) : asked;
  if (const auto mode = weft::find_named<weft::OffloadMode>(text))
    return *mode;
  throw weft::UserError("WEFT_OFFLOAD: found \"" + text +
                        "\"; allowed: " + weft::join(weft::names_of<weft::OffloadMode>()));
}

weft::HostFallback parse_fallback(weft::RunContext& context, const std::string& text)
{
  weft::HostFallback fallback = weft::HostFallback::parse(text);
  fallback.predict_on(context.fabric, [its = &context] { return message_costs(its->fabric, its->network); });
  return fallback;
}

/** Reads the fallback; without one, an SMPI selector chosen by the run applies. */
void read_fallback(weft::RunContext& context, bool on_fabric)
{
  const auto selector    = simgrid::config::get_value<std::string>("smpi/coll-selector");
  const std::string& own = weft::settings().fallback;
  const std::string text = own.empty() && not selector.empty() ? "smpi:" + selector : own;
  try {
    context.hosts_fallback = parse_fallback(context, text);
    if (context.hosts_fallback.takes_best() && not on_fabric)
      throw weft::UserError("found \"best\" on a platform of SimGrid's; predictions need a weft fabric: name a "
                            "selection or an algorithm, or run on a fabric");
  } catch (const weft::UserError& error) {
    throw weft::UserError("--fallback: " + std::string(error.what()));
  }
}

/** Reads what jobs choose instead of the run's mode and fallback. */
void read_choices_of_jobs(weft::RunContext& context)
{
  for (weft::JobLaunch& launch : weft::launches()) {
    if (not launch.offload.empty())
      launch.job.mode = read_mode(launch.offload);
    if (launch.job.mode && launch.job.mode->mechanism())
      context.selector.mechanism(*launch.job.mode->mechanism()).check("", launch.job.ranks);
    if (launch.job.fallback_text.empty())
      continue;
    launch.job.fallback = parse_fallback(context, launch.job.fallback_text);
    if (not launch.job.fallback->left_to_smpi().empty())
      throw weft::UserError("job " + launch.job.name + ": fallback: found \"" + launch.job.fallback_text +
                            "\"; SMPI's algorithms apply to all jobs: choose them by --fallback");
  }
}

/** Returns WEFT_PPN, or the fewest ranks per host that @p count hosts allow. */
int ranks_per_host(int ranks, int count)
{
  const std::string& text = weft::settings().ppn;
  if (text.empty())
    return (ranks + count - 1) / count;
  int ppn          = 0;
  const char* end  = text.data() + text.size();
  const auto found = std::from_chars(text.data(), end, ppn);
  if (found.ec != std::errc() || found.ptr != end || ppn < 1)
    throw weft::UserError("WEFT_PPN: found \"" + text + "\"; allowed: a number of ranks per host, at least 1");
  return ppn;
}

/** Writes each rank's host to the file that smpirun reads: blocks of ranks on the hosts in order. */
void place_ranks(const weft::PlatformNetwork& network, int ranks)
{
  const std::string& path = weft::settings().hostfile;
  if (path.empty())
    return;
  const auto hosts = network.hosts();
  const int count  = static_cast<int>(hosts.size());
  const int ppn    = ranks_per_host(ranks, count);
  if (ranks > static_cast<std::int64_t>(ppn) * count)
    throw weft::UserError(std::to_string(ranks) + " ranks do not fit on " + std::to_string(count) + " hosts with " +
                          std::to_string(ppn) + " ranks per host");
  std::ofstream file(path);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto* host = hosts[static_cast<std::size_t>(rank / ppn)];
    if (ppn > host->get_core_count())
      throw weft::UserError("host \"" + host->get_name() + "\" has " + std::to_string(host->get_core_count()) +
                            " cores, and " + std::to_string(ppn) + " ranks per host are requested");
    file << host->get_name() << "\n";
  }
  file.close();
  if (not file)
    throw weft::UserError("WEFT_HOSTFILE: " + path + " cannot be written");
  simgrid::config::set_value<std::string>("smpi/hostfile", path);
}

/** Creates the run; its context and all arguments live as long as the process. */
weft::RunContext& make_run(weft::FabricState& state, weft::Network& network, weft::Jobs& jobs)
{
  auto& context = *new weft::RunContext(state, network, jobs, read_mode(weft::settings().offload),
                                        weft::settings().record, weft::settings().events);
  weft::begin_run(context);
  weft::take_over_polls();
  weft::end_ranks_at_library_exits();
  weft::order_fortran_statements();
  context.selector.use(weft::make_mechanisms(context));
  return context;
}

/** Refuses faults that messages would not meet. */
void check_faults(bool on_fabric)
{
  if (weft::settings().faults.empty())
    return;
  if (weft::settings().point_to_point != "weft")
    throw weft::UserError("--faults: faults do not reach SMPI's messages; run with --messages weft");
  if (const auto refusal = weft::refusal_of_own_messages(on_fabric))
    throw weft::UserError("--faults: faults need weft's own network, and " +
                          weft::refusal_of_option(on_fabric).value_or(*refusal));
}

/** Ends the run when a profile turns a host of ranks off, which ends its ranks. */
void end_with_hosts(weft::RunContext& context)
{
  sg::Host::on_onoff_cb([&context](const sg::Host& host) {
    const std::vector<sg::ActorPtr> ranks = host.get_all_actors();
    if (host.is_on() || ranks.empty())
      return;
    std::ostringstream text;
    text << "host \"" << host.get_name() << "\" is off at " << sg::Engine::get_clock()
         << " s of simulated time, and its ranks have ended with it";
    context.abort("network-failure", text.str());
  });
}

/** Loads a SimGrid platform, which keeps SimGrid's own options. */
weft::RunContext& load_platform_file(const std::string& path, weft::Jobs& jobs)
{
  auto [fabric, network]      = weft::PlatformNetwork::load(path);
  weft::PlatformNetwork& ours = *network.release();
  weft::RunContext& context   = make_run(*new weft::FabricState(*new weft::Fabric(std::move(fabric))), ours, jobs);
  check_faults(false);
  weft::ResentTransfers* const resent = weft::PlatformRecovery::serve(context);
  context.make_host_network           = [&ours, resent](weft::MessageCosts costs) {
    return weft::make_simgrid_host_network(ours, std::move(costs), resent);
  };
  end_with_hosts(context);
  place_ranks(ours, jobs.ranks());
  return context;
}

/** Proves the routes of a SimGrid platform and ends the process. */
[[noreturn]] void prove_routes(const std::string& platform, const std::string& target)
{
  std::ofstream file(target);
  file << weft::PlatformNetwork::load(platform).second->check_routes(platform);
  file.close();
  if (not file)
    throw weft::UserError("WEFT_ROUTES: " + target + " cannot be written");
  std::exit(0);
}

/** Returns the hosts that ranks are placed on, as in smpi/hostfile; nothing if SMPI uses all hosts,
 * or reports an unreadable file itself. */
std::optional<std::unordered_set<std::string>> placed_hosts()
{
  std::ifstream file(simgrid::config::get_value<std::string>("smpi/hostfile"));
  if (not file)
    return std::nullopt;
  std::unordered_set<std::string> hosts;
  for (std::string line; std::getline(file, line);)
    hosts.insert(line);
  return hosts;
}

/** Returns the list of jobs: those of the launcher, or the one that smpirun launches, if the number of ranks is
 * known. */
weft::Jobs& launched_jobs(const sg::Engine& engine)
{
  auto& jobs = *new weft::Jobs;
  if (const std::string& description = weft::settings().jobs; not description.empty()) {
    weft::read_jobs(description, jobs);
    return jobs;
  }
  const int ranks = simgrid::config::get_value<int>("smpi/np");
  if (ranks == 0)
    return jobs;
  weft::Job job{weft::Job::LAUNCHED};
  job.ranks                     = ranks;
  job.hosts                     = placed_hosts();
  std::vector<std::string> line = engine.get_cmdline(); // smpimain: program, platform, arguments
  std::erase_if(line, [](const std::string& word) { return word.starts_with("--cfg=") || word.starts_with("--log="); });
  if (not line.empty())
    job.program = line.front();
  if (line.size() > 2)
    job.arguments.assign(line.begin() + 2, line.end());
  jobs.add(std::move(job));
  return jobs;
}

/** Returns the hosts that ranks of any job are placed on; nothing if all hosts are. */
std::optional<std::unordered_set<std::string>> hosts_of(const weft::Jobs& jobs)
{
  if (jobs.all().empty())
    return placed_hosts();
  std::optional<std::unordered_set<std::string>> hosts = jobs.all().front().hosts;
  for (const weft::Job& job : jobs.all())
    if (hosts && job.hosts)
      hosts->insert(job.hosts->begin(), job.hosts->end());
  return hosts;
}

/** Counts traffic and durations of calls by job, if weft's launcher starts the jobs. */
void count_by_job(weft::RunContext& context, weft::FabricZone& zone)
{
  if (not context.jobs.are_own())
    return;
  const weft::Topology& topology = context.fabric.topology();
  std::unordered_map<std::string, int> numbers;
  for (weft::VertexId host = 0; host < context.fabric.host_count(); ++host)
    numbers.emplace(topology.host_name(host), host);
  std::vector<std::vector<int>> hosts;
  for (const weft::Job& job : context.jobs.all()) {
    hosts.emplace_back();
    for (const std::string& name : *job.hosts)
      hosts.back().push_back(numbers.at(name));
  }
  context.traffic.emplace(hosts, context.fabric.host_count(), context.fabric.counted());
  context.record.keep_durations = true;
  zone.count_by_job(*context.traffic);
}

weft::LinkWeights link_weights(const weft::RunContext& context)
{
  weft::LinkWeights weights;
  if (context.traffic) {
    weights.jobs.clear();
    for (const weft::Job& job : context.jobs.all())
      weights.jobs.push_back(job.weight);
  }
  weights.background = context.background_weights;
  return weights;
}

/** Refuses what messages cannot be packets with. */
void check_packet_run(const weft::Fabric& fabric)
{
  weft::check_packets(fabric);
  const weft::Settings& settings = weft::settings();
  const auto refuse              = [&fabric](const std::string& what, const std::string& why) {
    throw weft::UserError(fabric.file() + ": [network] model: found \"packets\" together with " + what + ", " + why +
                          "; leave out one of them");
  };
  if (not settings.contention)
    refuse("--no-contention", "but packets queue at links");
}

/** Returns whether SimGrid carries all messages and flows on a fabric: a link is simulated by one network only. */
bool carries_by_simgrid()
{
  return weft::settings().point_to_point != "weft" || weft::refusal_of_own_messages().has_value();
}

weft::RunContext& load_fabric(const std::string& name_or_path, weft::Jobs& jobs)
{
  describe_network();
  auto& state =
      *new weft::FabricState(*new weft::Fabric(weft::Fabric::load(name_or_path, weft::settings().fabric_changes)));
  const weft::Fabric& fabric = state.fabric();
  if (fabric.packets().carries())
    check_packet_run(fabric);
  weft::FabricZone& zone = *weft::FabricZone::create(state, hosts_of(jobs), weft::settings().messages);
  if (not weft::settings().contention && zone.traffic().ports_bound())
    throw weft::UserError("--no-contention: the ports of " + fabric.file() +
                          " share their lookups among messages ([switch.forwarding] frame); leave out frame");
  weft::RunContext& context = make_run(state, zone, jobs);
  count_by_job(context, zone);
  weft::set_mpi_costs(fabric, context.core_noise);
  weft::FileSystem::serve(context);
  weft::BackgroundTraffic::serve(context);
  check_faults(true);
  weft::InjectedFaults::serve(context);
  context.make_host_network = [&context, &fabric, &zone](weft::MessageCosts costs) {
    const std::string& flows = weft::settings().host_flows;
    if (flows == "simgrid" || carries_by_simgrid())
      return weft::make_simgrid_fabric_network(fabric, zone, std::move(costs));
    return weft::make_fabric_host_network(
        fabric, zone, std::move(costs), flows != "unfolded" && weft::is_on(weft::TuningId::schedule_coalescing),
        context.traffic ? &*context.traffic : nullptr, context.call_recovery ? &context.state : nullptr,
        link_weights(context), context.call_recovery ? &context.call_recovery->model : nullptr);
  };
  return context;
}

/** Refuses routing policies that only weft's own network can follow. */
void check_routing(const weft::RunContext& context, const std::string& why)
{
  const weft::RoutingModel& routing = context.fabric.routing();
  if (routing.needs_own_network())
    throw weft::UserError(context.fabric.file() + ": [routing] policy: \"" + routing.policy +
                          "\" needs weft's own network, and " + why + "; allowed: static, ecmp, ecmp-message");
}

/** Refuses a message rate of NICs, which only weft's own messages keep. */
void check_message_rate(const weft::RunContext& context, const std::string& why)
{
  if (context.fabric.nic().limits_messages())
    throw weft::UserError(
        context.fabric.file() + ": [nic] message_rate: found " + weft::to_text(context.fabric.nic().message_rate) +
        ", which only weft's own messages keep, and " + why + "; leave message_rate out, or use --messages weft");
}

/** Refuses a resolution of the network, which only weft's own messages have. */
void check_resolution(const weft::RunContext& context, const std::string& why)
{
  const weft::TimeResolution& resolution = context.fabric.resolution();
  if (resolution.is_wefts())
    throw weft::UserError(context.fabric.file() + ": [network] resolution: found " + weft::to_text(resolution) +
                          ", which only weft's own messages have, and " + why +
                          "; leave resolution out, or use --messages weft");
}

/** Lets ranks be spawned on the hosts of a fabric. Where any job may use the multicast, its progress engines occupy
 * cores. */
void supply_hosts(weft::RunContext& context)
{
  const auto may_use_multicast = [&context] {
    const weft::Mechanism& multicast = context.selector.mechanism(weft::mechanism_kind("multicast"));
    return context.selector.may_use(multicast, context.mode) ||
           std::ranges::any_of(context.jobs.all(), [&](const weft::Job& job) {
             return job.mode && context.selector.may_use(multicast, *job.mode);
           });
  };
  const auto cores = [&context, may_use_multicast](weft::VertexId host) {
    if (const sg::Host* const made = context.network.host_at(host))
      return made->get_core_count();
    const auto* const engine = context.fabric.progress_engine(host);
    const int occupied       = engine ? engine->host_cores : 0;
    return context.fabric.host().cores - (occupied > 0 && may_use_multicast() ? occupied : 0);
  };
  weft::serve_spawning(context);
  context.host_supply = {
      cores, [&context, cores](weft::VertexId host) { return context.network.make_host_at(host, cores(host)); }};
}

/** Refuses packets where flows of SimGrid are messages. */
void check_packet_messages(const weft::RunContext& context, const std::string& why)
{
  if (context.fabric.packets().carries())
    throw weft::UserError(context.fabric.file() + ": [network] model: \"packets\" needs weft's own messages, and " +
                          why + "; allowed: flows");
}

/** Selects the transport of point-to-point messages. */
void choose_messages(weft::RunContext& context, bool on_fabric)
{
  const std::string& asked = weft::settings().point_to_point;
  if (asked != "" && asked != "weft" && asked != "smpi")
    throw weft::UserError("WEFT_POINT_TO_POINT: found \"" + asked + "\"; allowed: weft, smpi");
  const bool jobs = not weft::launches().empty();
  if (asked != "weft") {
    if (jobs)
      throw weft::UserError("WEFT_POINT_TO_POINT: found \"" + asked + "\" in a run of jobs; allowed: weft");
    check_routing(context, "SMPI carries the messages");
    check_message_rate(context, "SMPI carries the messages");
    check_resolution(context, "SMPI carries the messages");
    check_packet_messages(context, "SMPI carries the messages");
    return;
  }
  const bool serves              = on_fabric || not weft::settings().faults.empty(); // a platform's profiles are faults
  const auto refusal             = serves ? weft::refusal_of_own_messages(on_fabric)
                                          : std::optional<std::string>("weft's transport needs a weft fabric");
  context.record.messages_reason = refusal.value_or("");
  if (refusal && jobs) // SMPI's messages on one job's MPI_COMM_WORLD match those on other communicators
    throw weft::UserError("--jobs: messages of jobs need weft's own network, and " +
                          weft::refusal_of_option(on_fabric).value_or(*refusal) + "; leave that option out");
  if (refusal) {
    check_routing(context, *refusal);
    check_message_rate(context, *refusal);
    check_resolution(context, *refusal);
    check_packet_messages(context, *refusal);
    return;
  }
  context.record.messages = "weft";
  weft::OwnMessages::begin(context);
  if (on_fabric)
    supply_hosts(context);
}

/** Returns whether a job with ranks on @p host may use a mechanism. */
bool may_use_on(const weft::RunContext& context, const weft::Mechanism& mechanism, const sg::Host& host)
{
  const auto runs_there = [&host](const weft::Job& job) {
    return not job.hosts || job.hosts->contains(host.get_name());
  };
  const auto may_use = [&](const weft::Job& job) {
    return runs_there(job) && context.selector.may_use(mechanism, job.mode.value_or(context.mode));
  };
  const auto& jobs = context.jobs.all();
  return jobs.empty() ? context.selector.may_use(mechanism, context.mode) : std::ranges::any_of(jobs, may_use);
}

/** Takes the cores that progress engines occupy from the ranks of hosts that may use the multicast. */
void occupy_cores(const weft::RunContext& context)
{
  const weft::Fabric& fabric = context.fabric;
  if (std::ranges::none_of(fabric.progress_engines(), &weft::ProgressEngine::host_cores))
    return;
  const weft::Mechanism& multicast = context.selector.mechanism(weft::mechanism_kind("multicast"));
  for (weft::VertexId vertex = 0; vertex < fabric.host_count(); ++vertex) {
    sg::Host* const host = context.network.host_at(vertex); // null if no rank is placed there
    const int occupied   = fabric.progress_engine(vertex)->host_cores;
    if (host && occupied > 0 && may_use_on(context, multicast, *host))
      host->set_core_count(fabric.host().cores - occupied);
  }
}

/** Ends the simulator when its parent dies, however weft is killed. */
void die_with_parent()
{
  const std::string& parent = weft::settings().parent;
  if (parent.empty())
    return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (parent != std::to_string(getppid())) // the parent has already died
    ::_exit(128 + SIGKILL);
}

/** Refuses parallel contexts: SMPI has no locks around what its ranks share, so programs that
 * exchange messages crash, under plain smpirun too. */
void check_threads()
{
  const int threads = simgrid::config::get_value<int>("contexts/nthreads");
  if (threads != 1)
    throw weft::UserError("contexts/nthreads: found " + std::to_string(threads) +
                          "; SMPI crashes if ranks run in parallel, so only 1 is allowed");
}

/** Refuses SMPI's privatization by mmap: its Allgather, Allgatherv and Reduce_scatter, as its selectors `ompi` and
 * `mpich` choose them, move wrong data between global variables, under plain smpirun too (SimGrid 4.1). */
void check_privatization()
{
  if (simgrid::config::get_value<std::string>("smpi/privatization") == "mmap")
    throw weft::UserError(
        "smpi/privatization: found mmap, with which SMPI's collectives move wrong data; allowed: dlopen, "
        "or no for programs without global variables");
}

void load(const sg::Engine& engine)
{
  die_with_parent();
  weft::stop_preloading();
  weft::check_simgrid();
  check_threads();
  check_privatization();
  weft::check_tunings();
  const std::string& fabric   = weft::settings().fabric;
  const std::string& platform = weft::settings().platform;
  if (fabric.empty() == platform.empty())
    throw weft::UserError("set either WEFT_FABRIC, to a fabric file or the name of a shipped fabric, or WEFT_PLATFORM, "
                          "to a platform file of SimGrid's");
  if (const std::string& target = weft::settings().routes; not target.empty())
    prove_routes(platform, target);
  weft::Jobs& jobs = launched_jobs(engine);
  weft::expect_ranks(jobs.ranks());
  weft::RunContext& context = platform.empty() ? load_fabric(fabric, jobs) : load_platform_file(platform, jobs);
  if (const weft::MechanismKind* asked = context.mode.mechanism())
    context.selector.mechanism(*asked).check(platform, jobs.ranks());
  read_fallback(context, platform.empty());
  read_choices_of_jobs(context);
  choose_messages(context, platform.empty());
  weft::install_stacks(jobs.ranks());
  weft::register_collectives(context);
  occupy_cores(context);
}

/** Writes the error to the refusal file if there is one; otherwise, or if that fails, prints it. */
void refuse(const std::string& message)
{
  const std::string& path = weft::settings().refusal;
  std::ofstream file;
  if (not path.empty())
    file.open(path);
  if (not(file.is_open() && file << message && file.flush()))
    std::fprintf(stderr, "weft: %s\n", message.c_str());
}

} // namespace

extern "C" __attribute__((visibility("default"))) void load_platform(const simgrid::s4u::Engine& engine)
{
  try {
    load(engine);
  } catch (const weft::UserError& error) {
    refuse(error.what());
    std::exit(2);
  }
}
