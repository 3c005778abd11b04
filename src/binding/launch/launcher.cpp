// SPDX-License-Identifier: LGPL-2.1-only
/* Launcher of several jobs, in place of SMPI's (smpi_main in src/smpi/internals/smpi_global.cpp), which supports a
 * single program and sets the global MPI_COMM_WORLD to that program's. Here the variable keeps SMPI's placeholder,
 * which represents the world of the rank that uses it (src/smpi/mpi/smpi_comm.cpp). */
#include "binding/abi/original.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/jobs/job_records.hpp"
#include "binding/jobs/stopped_ranks.hpp"
#include "binding/launch/job_file.hpp"
#include "binding/launch/job_outputs.hpp"
#include "binding/launch/job_programs.hpp"
#include "binding/launch/rank_start.hpp"
#include "binding/process/process.hpp"
#include "binding/process/process_exit.hpp"
#include "binding/process/switched_state.hpp"
#include "binding/settings/settings.hpp"
#include "binding/threads/program_threads.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/plugins/file_system.h>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Starts the actor of a job whose ranks are not processes. SMPI treats it as a rank of a program that never calls MPI.
 */
void start_work(const JobLaunch& launch)
{
  Job& job = launch.job;
  open_outputs(launch); // the files belong to its actor, even if it prints nothing
  SMPI_app_instance_register(job.name.c_str(), nullptr, 1);
  const sg::ActorPtr actor =
      sg::Actor::init(job.name + "#0", sg::Engine::get_instance()->host_by_name(launch.hosts.front()));
  actor->set_property("instance_id", job.name);
  actor->set_property("rank", "0");
  current_run().jobs.begin_rank(job, actor->get_pid());
  actor->start([&job] { job.work->run(current_run()); });
}

void start_job(const JobLaunch& launch)
{
  Job& job = launch.job;
  if (job.work) {
    start_work(launch);
    current_run().check_hosts();
    return;
  }
  open_outputs(launch);
  if (not launch.copies)
    load_shared(launch);
  SMPI_app_instance_register(job.name.c_str(), nullptr, job.ranks);
  for (int rank = 0; rank < job.ranks; ++rank)
    start_rank(launch, {job.name, rank, launch.hosts[static_cast<std::size_t>(rank)]},
               [&job](aid_t actor) { current_run().jobs.begin_rank(job, actor); });
  current_run().check_hosts();
}

/** Ends the job of the current rank, which a signal has killed. */
void end_job_of_crash(int signum, std::optional<std::size_t> stack)
{
  constexpr int KILLED   = 128; // a shell's exit status of a process that a signal has killed
  RunContext& context    = current_run();
  const int rank         = *rank_here();
  const std::string name = std::string("SIG") + sigabbrev_np(signum);
  Outcome outcome{"signal", "rank " + std::to_string(rank) + " crashed (" + name + ")", name, rank};
  if (stack)
    outcome = {"stack-overflow",
               "stack overflow: rank " + std::to_string(rank) + " needs more stack than it has (" + name +
                   "): " + advise_on_stack(*stack),
               name, rank};
  else if (signum == SIGSEGV || signum == SIGBUS)
    outcome.message += "; if its stack arrays are larger than its stack, try --cfg contexts/stack-size:65536 (in KiB)";
  if (is_other_thread())
    begin_call(); // so that no other thread of the rank calls MPI meanwhile
  context.stop_job(*context.jobs.of(sg::this_actor::get_pid()), outcome, KILLED + signum);
  stay_stopped();
}

/** Equivalent of smpi_main() for several jobs. */
int run_jobs(int argc, char** argv)
{
  original<void (*)()>("smpi_init_options")();
  sg::Engine engine(&argc, argv);
  sg_storage_file_system_init();
  engine.load_platform(argv[1]);
  using Copy = void (*)(simgrid::kernel::activity::CommImpl*, void*, std::size_t);
  engine.set_default_comm_data_copy_callback(
      original<Copy>("_Z30smpi_comm_copy_buffer_callbackPN7simgrid6kernel8activity8CommImplEPvm"));
  original<void (*)()>("_ZN7simgrid4smpi5colls15set_collectivesEv")();
  using Cleanup                                                              = void (*)();
  *original<Cleanup*>("_ZN7simgrid4smpi5colls26smpi_coll_cleanup_callbackE") = nullptr;
  SMPI_init();
  end_crashed_ranks(end_job_of_crash);
  for (const JobLaunch& launch : launches()) {
    if (launch.job.start > 0)
      simgrid::kernel::timer::Timer::set(launch.job.start, [&launch] { start_job(launch); });
    else
      start_job(launch);
  }
  std::fflush(stdout);
  engine.run();
  std::fflush(stdout);
  SMPI_finalize();
  return status_of(current_run().jobs);
}

} // namespace
} // namespace weft

extern "C" int weft_smpi_main(const char* program, int argc, char** argv) WEFT_REPLACES("smpi_main");
int weft_smpi_main(const char* program, int argc, char** argv)
{
  if (weft::settings().jobs.empty()) {
    weft::name_program(program);
    return weft::next_definition<decltype(&weft_smpi_main)>("smpi_main")(program, argc, argv);
  }
  return weft::run_jobs(argc, argv);
}
