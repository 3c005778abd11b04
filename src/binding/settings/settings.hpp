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

/** Environment variables WEFT_…; an empty one counts as absent. Values are parsed where they are used, where errors are
 * caught.
 *
 * The last three are for tests: they change how messages and stacks are created, but no simulated time. */
struct Settings {
  std::string fabric;   ///< WEFT_FABRIC: a fabric file, or the name of a shipped one
  Lines fabric_changes; ///< WEFT_FABRIC_CHANGES: overrides of the file's values, TABLE.KEY=VALUE each
  std::string platform; ///< WEFT_PLATFORM: a SimGrid platform (.xml or .so) instead of a fabric
  std::string hostfile; ///< WEFT_HOSTFILE: output file for the host of each rank of a platform
  std::string ppn;      ///< WEFT_PPN: ranks per host of a platform; if absent, all its hosts are used
  bool contention;      ///< WEFT_CONTENTION: "no" gives each message the full capacity of every link
  std::string routes;   ///< WEFT_ROUTES: output file for the proof of a platform's routes; no program runs then

  std::string offload;  ///< WEFT_OFFLOAD: a mechanism (default: the first one), "auto" or "off"
  std::string fallback; ///< WEFT_FALLBACK: algorithms of the hosts, in the syntax of collective/host/fallback.hpp

  std::string tunings; ///< WEFT_TUNINGS: enabled tunings, in the syntax of model/tuning/tuning.hpp; default: all

  std::string jobs; ///< WEFT_JOBS: description of the jobs of a run, in JSON; absent if smpirun launches the only job

  std::string faults; ///< WEFT_FAULTS: description of faults, in JSON; absent if nothing fails

  std::string traffic; ///< WEFT_TRAFFIC: description of background traffic, in JSON; absent if there is none

  std::string program;     ///< WEFT_PROGRAM: the program's file, whose exit handlers run per rank
  Lines private_libraries; ///< WEFT_PRIVATE_LIBRARIES: libraries copied for each rank, as NAME=PATH
  Lines spawn;             ///< WEFT_SPAWN: command that checks a program to be spawned, one word per line
  bool cxx_streams;        ///< WEFT_CXX_STREAMS: the program uses libstdc++, whose streams get one state per rank
  std::string parent;      ///< WEFT_PARENT: process whose death ends this one

  std::string record;   ///< WEFT_RECORD: output file for the record; no record if absent
  bool events;          ///< WEFT_EVENTS: "1" lists each offloaded collective in the record
  std::string calls;    ///< WEFT_CALLS: output file for every MPI call, in trace format
  std::string messages; ///< WEFT_MESSAGES: output file for the hosts of each message: int32 sender, int32 receiver
  std::string point_to_point; ///< WEFT_POINT_TO_POINT: transport of point-to-point messages, "weft" or "smpi"
  std::string files;          ///< WEFT_FILES: directory in which the ranks start; default: the current one
  std::string refusal; ///< WEFT_REFUSAL: output file for the reason if the run is refused; default: standard error

  std::string
      host_flows; ///< WEFT_HOST_FLOWS: "simgrid": SimGrid carries schedules' messages; "unfolded": one flow per message
  std::string rank_flows; ///< WEFT_RANK_FLOWS: "together": equal messages are coalesced; "apart": one flow per message
  std::string stack_guards; ///< WEFT_STACK_GUARDS: "mappings": guard pages use mappings; "none": no guard pages
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
