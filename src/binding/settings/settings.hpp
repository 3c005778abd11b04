// SPDX-License-Identifier: LGPL-2.1-only
/* Settings of a run: weft's own, which come in the environment, and SimGrid's.
 *
 * SimGrid refuses options that it does not know, so weft's travel as variables WEFT_… of the environment. No other file
 * reads the environment (tests/python/layout/test_rooms.py). `weft run` sets the variables in
 * python/weft/runs/settings.py; docs/guide.md explains those that users of plain smpirun set.
 */
#pragma once

#include <string>
#include <vector>
#include <xbt/config.hpp>

namespace weft {

using Lines = std::vector<std::string>; ///< values of a variable that has several, one a line

/** The variables WEFT_…; an empty one counts as absent. Texts are parsed where they are used, where errors are caught.
 *
 * The last three are for tests: they change how messages and stacks are made, and no time. */
struct Settings {
  std::string fabric;   ///< WEFT_FABRIC: a fabric file, or the name of one that ships with weft
  Lines fabric_changes; ///< WEFT_FABRIC_CHANGES: values in place of the file's, TABLE.KEY=VALUE each
  std::string platform; ///< WEFT_PLATFORM: in place of a fabric, a platform of SimGrid's (.xml or .so)
  std::string hostfile; ///< WEFT_HOSTFILE: file to write the host of each rank of a platform to
  std::string ppn;      ///< WEFT_PPN: ranks per host of a platform; all its hosts are used where absent
  bool contention;      ///< WEFT_CONTENTION: "no" gives each message every link on its way to itself
  std::string routes;   ///< WEFT_ROUTES: file for the proof of a platform's routes; no program runs then

  std::string offload;  ///< WEFT_OFFLOAD: a mechanism (the first one where absent), "auto" or "off"
  std::string fallback; ///< WEFT_FALLBACK: algorithms of the hosts, as collective/host/fallback.hpp has it

  std::string program;     ///< WEFT_PROGRAM: the program's file, whose exit handlers are each rank's own
  Lines private_libraries; ///< WEFT_PRIVATE_LIBRARIES: libraries that each rank has a copy of, NAME=PATH each
  bool cxx_streams;        ///< WEFT_CXX_STREAMS: the program uses libstdc++, whose streams get a state per rank
  std::string parent;      ///< WEFT_PARENT: process whose death ends this one

  std::string record;   ///< WEFT_RECORD: file for the record; none where absent
  bool events;          ///< WEFT_EVENTS: "1" lists each offloaded collective in the record
  std::string calls;    ///< WEFT_CALLS: file for every call of MPI, as traces have them
  std::string messages; ///< WEFT_MESSAGES: file for the hosts of each message: int32 sender, int32 receiver
  std::string refusal;  ///< WEFT_REFUSAL: file for why the run is refused; standard error where absent

  std::string host_flows;   ///< WEFT_HOST_FLOWS: "simgrid": schedules' messages are SimGrid's; "unfolded": a flow each
  std::string rank_flows;   ///< WEFT_RANK_FLOWS: "together": equal messages of ranks are one flow; "apart": one each
  std::string stack_guards; ///< WEFT_STACK_GUARDS: "mappings": guard pages take mappings; "none": there are none
};

/** Returns the settings of this process, which are read once. */
const Settings& settings();

/** Takes weft's libraries out of LD_PRELOAD: what ranks start are programs of their own. */
void stop_preloading();

template <class T> void set_unless_chosen(const char* option, T value)
{
  if (simgrid::config::is_default(option))
    simgrid::config::set_value<T>(option, value);
}

/** With more ranks memory is what a run lacks first: stacks are small, and equal messages go as one. */
constexpr int MANY_RANKS = 32768;

/** Tells how many ranks the jobs of the run have, before settings that depend on it are asked for. */
void expect_ranks(int ranks);

/** Whether ranks may share SimGrid's actions: with more than MANY_RANKS, unless somebody looks at single actions
 * (SimGrid's tracing or a plugin of it), or links have no room for more than so many, or do not contend. Tests choose
 * by Settings::rank_flows. */
bool actions_are_shared();

/** Whether all ranks' memory can be reached at any time. With privatization by mmap, a rank's global variables are
 * mapped only while it runs. */
bool memory_is_shared();

/** Whether SMPI's functions do nothing for a right call but to call the algorithm, or to wait. */
bool smpi_only_checks();

/** Whether SMPI says at the end which handles the program has not freed (smpi_cfg_display_alloc() in its
 * src/smpi/internals/smpi_config.cpp). */
bool handles_are_listed();

} // namespace weft
