// SPDX-License-Identifier: LGPL-2.1-only
/* Settings of a run: weft's own, which come from the environment, and SimGrid's.
 *
 * SimGrid rejects unknown options, so weft's are environment variables WEFT_…. No other file reads the environment
 * (tests/python/layout/test_rooms.py). `weft run` sets the
 * variables in python/weft/runs/settings.py; docs/guide.md explains those that users of plain
 * smpirun set. */
#pragma once

#include <string>
#include <vector>
#include <xbt/config.hpp>

namespace weft {

using Lines = std::vector<std::string>; ///< values of a multi-line variable, one per line

/** Returns an environment variable; empty if it is absent. */
std::string variable(const char* name);
/** Returns the lines of an environment variable. */
Lines variable_lines(const char* name);

/** Environment variables WEFT_…; an empty one counts as absent. Values are parsed where they are used, where errors are
 * caught. An option of runs that the library reads (python/weft/runs/options.py) has its name here.
 *
 * The last three are for tests: they change how messages and stacks are created, but no simulated time. */
struct Settings {
  /// A fabric file, or the name of a shipped one
  std::string fabric = variable("WEFT_FABRIC");
  /// Overrides of the file's values, TABLE.KEY=VALUE each
  Lines fabric_changes = variable_lines("WEFT_FABRIC_CHANGES");
  /// A SimGrid platform (.xml or .so) instead of a fabric
  std::string platform = variable("WEFT_PLATFORM");
  /// Output file for the host of each rank of a platform
  std::string hostfile = variable("WEFT_HOSTFILE");
  /// Ranks per host of a platform; if absent, all its hosts are used
  std::string ppn = variable("WEFT_PPN");
  /// "no": each message gets the full capacity of every link
  bool contention = variable("WEFT_CONTENTION") != "no";
  /// Output file for the proof of a platform's routes; no program runs then
  std::string routes = variable("WEFT_ROUTES");
  /// A mechanism (default: the first one), "auto" or "off"
  std::string offload = variable("WEFT_OFFLOAD");
  /// Algorithms of the hosts, in the syntax of collective/host/fallback.hpp
  std::string fallback = variable("WEFT_FALLBACK");
  /// Enabled tunings, in the syntax of model/tuning/tuning.hpp; default: all
  std::string tunings = variable("WEFT_TUNINGS");
  /// Description of the jobs of a run, in JSON; absent if smpirun launches the only job
  std::string jobs = variable("WEFT_JOBS");
  /// Description of faults, in JSON; absent if nothing fails
  std::string faults = variable("WEFT_FAULTS");
  /// Description of background traffic, in JSON; absent if there is none
  std::string traffic = variable("WEFT_TRAFFIC");
  /// The program's file, whose exit handlers run per rank
  std::string program = variable("WEFT_PROGRAM");
  /// Libraries copied for each rank, as NAME=PATH
  Lines private_libraries = variable_lines("WEFT_PRIVATE_LIBRARIES");
  /// Command that checks a program to be spawned, one word per line
  Lines spawn = variable_lines("WEFT_SPAWN");
  /// The program uses libstdc++, whose streams get one state per rank
  bool cxx_streams = not variable("WEFT_CXX_STREAMS").empty();
  /// Process whose death ends this one
  std::string parent = variable("WEFT_PARENT");
  /// Output file for the record; no record if absent
  std::string record = variable("WEFT_RECORD");
  /// Lists each offloaded collective in the record
  bool events = variable("WEFT_EVENTS") == "1";
  /// Output file for every MPI call, in trace format
  std::string calls = variable("WEFT_CALLS");
  /// Output file for the durations of the calls of jobs (observe/json/call_durations.hpp)
  std::string durations = variable("WEFT_DURATIONS");
  /// File that shows the progress of the run (run/progress_page.hpp)
  std::string progress = variable("WEFT_PROGRESS");
  /// Output file for the hosts of each message: int32 sender, int32 receiver
  std::string messages = variable("WEFT_MESSAGES");
  /// Transport of point-to-point messages, "weft" or "smpi"
  std::string point_to_point = variable("WEFT_POINT_TO_POINT");
  /// Directory in which the ranks start; default: the current one
  std::string files = variable("WEFT_FILES");
  /// Output file for the reason if the run is refused; default: standard error
  std::string refusal = variable("WEFT_REFUSAL");
  /// "simgrid": SimGrid carries schedules' messages; "unfolded": one flow per message
  std::string host_flows = variable("WEFT_HOST_FLOWS");
  /// "together": equal messages are coalesced; "apart": one flow per message
  std::string rank_flows = variable("WEFT_RANK_FLOWS");
  /// "mappings": guard pages use mappings; "none": no guard pages
  std::string stack_guards = variable("WEFT_STACK_GUARDS");
};

/** Returns the settings of this process, read once. */
const Settings& settings();

/** Returns PATH of the current rank. */
std::string program_path();

/** Removes weft's libraries from LD_PRELOAD: programs that ranks start are independent. */
void stop_preloading();

template <class T> void set_unless_chosen(const char* option, T value)
{
  if (simgrid::config::is_default(option))
    simgrid::config::set_value<T>(option, value);
}

/** Number of ranks above which memory is the scarcest resource: stacks are small, and equal messages are coalesced. */
constexpr int MANY_RANKS = 32768;

/** Sets the number of ranks of the run's jobs, before settings that depend on it are queried. */
void expect_ranks(int ranks);
/** Returns the number set by expect_ranks(). */
int number_of_ranks();

/** Returns whether ranks may share SimGrid's actions: above MANY_RANKS, unless single actions are observed (SimGrid's
 * tracing or a plugin), links limit their concurrency, or links are without contention. Tests override it by
 * Settings::rank_flows. */
bool actions_are_shared();

/** Returns the reason why flows must be SimGrid's in this run: they are observed (SimGrid's tracing or a plugin), or
 * options change SimGrid's network model. Empty if there is none. */
const std::string& need_of_simgrid_flows();
/** Returns the first SimGrid option that is that reason, in command-line form: "--cfg KEY:VALUE"; empty if there is
 * none.
 */
std::string option_for_simgrid_flows();

/** Returns whether SMPI reports unfreed handles of the program at the end (smpi_cfg_display_alloc() in its
 * src/smpi/internals/smpi_config.cpp). */
bool handles_are_listed();

} // namespace weft
