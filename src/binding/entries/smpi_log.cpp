// SPDX-License-Identifier: LGPL-2.1-only
/* SimGrid's errors, reworded by weft: one line that names the rank and the call. SimGrid logs such errors in several
 * lines, with advice on its own tools, and aborts. Its whole log passes through one function, on which weft interposes
 * to act on known messages. */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/abi/refusals.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/entries/frame/mpi_errors.hpp"
#include "binding/entries/rank_exit.hpp"
#include "binding/process/process.hpp"
#include "binding/run/diagnosis.hpp"
#include "binding/threads/program_threads.hpp"
#include "binding/threads/simulated_thread.hpp"
#include "binding/threads/thread_functions.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <xbt/config.hpp>
#include <xbt/log.h>

namespace weft {
namespace {

/** SMPI's message formats (src/smpi/bindings/smpi_mpi.cpp, include/private.hpp, internals/smpi_global.cpp). */
constexpr std::string_view MISSING  = "Not yet implemented: %s. Please contact the SimGrid team if support is needed";
constexpr std::string_view FAILED   = " - returned %.*s instead of MPI_SUCCESS"; // preceded by the function, or "recv"
constexpr std::string_view NO_INIT  = "%s: MPI_Init was not called !";
constexpr std::string_view RETURNED = "SMPI process did not return 0. Return value : %d";
/** SMPI's warnings about invalid arguments, each the reason of an error that it returns (CHECK_ARGS in
 * src/smpi/include/private.hpp, src/smpi/bindings/smpi_pmpi_coll.cpp and smpi_pmpi_group.cpp,
 * src/smpi/mpi/smpi_request.cpp, smpi_win.cpp and smpi_datatype.cpp). */
constexpr std::array REASONS = {"%s: param %d ",
                                "%s, param 2 > group size",
                                "%s: Invalid parameters ",
                                "%s: MPI_Init was not called !",
                                "%s: MPI_Finalize was already called !",
                                "%s: collective mismatch",
                                "%s: Trying to move ",
                                "MPI_(I)",
                                "Mismatched datatypes :",
                                "subarray :"};
/** SimGrid's messages about any actor (src/kernel/context). */
constexpr std::string_view UNCAUGHT    = "Actor killed by an uncaught exception %s";
constexpr std::string_view TOOL_ADVICE = "-trace-call-location";
/** SMPI's messages about files (src/smpi/mpi/smpi_file.cpp) and shared memory
 * (src/smpi/internals/smpi_shared.cpp). */
constexpr std::string_view NO_DISK    = "SMPI/IO : Trying to open file on a diskless host";
constexpr std::string_view NO_MAPPING = "Could not map folded virtual memory";
constexpr std::string_view NO_MEMORY  = "Failed to allocate %zuMiB of memory. Run \"sysctl vm.overcommit_memory";
/** SimGrid's message about a missing route (src/kernel/resource/models/network_cm02.cpp). */
constexpr std::string_view NO_ROUTE = " but there is no connecting path between these two hosts.";
/** SimGrid's messages about a failed allocation with its bytes (include/xbt/sysdep.h), an uncaught
 * exception, and a copy of the program that cannot be loaded (src/smpi/internals/smpi_global.cpp),
 * with the loader's message (glibc's elf/dl-load.c). */
constexpr std::string_view NO_BYTES  = "of %lu bytes failed";
constexpr std::string_view NO_OBJECT = "std::bad_alloc";
constexpr std::string_view NO_COPY   = "dlopen failed: %s";
constexpr std::array NOT_MAPPED = {"failed to map segment", "cannot allocate", "cannot create shared object descriptor",
                                   "cannot apply additional memory protection", "cannot change memory protections"};
/** Block size that the message proposes, as a multiple of the current one; DT of class C needs a factor of two. */
constexpr int LARGER_BLOCKS = 16;

struct State {
  std::string last_warning; // reason of the failure that will be reported next
  bool told_of_threads = false;
  std::map<aid_t, int> thread_levels; // by actor
};

State& state()
{
  static State the_state;
  return the_state;
}

std::string who()
{
  const std::optional<int> rank = rank_here();
  return rank ? "rank " + std::to_string(*rank) : "a thread of the program";
}

/** Returns the user's name of a function: MPI_Recv for both "PMPI_Recv" and "MPI_Recv". */
std::string users_name(std::string_view function)
{
  return std::string(function.starts_with("PMPI_") ? function.substr(1) : function);
}

[[noreturn]] void refuse_missing(const char* function)
{
  current_run().abort("unsupported",
                      who() + " called " + users_name(function) + ", which SimGrid's MPI does not implement");
}

[[noreturn]] void refuse_thread(const char* function)
{
  current_run().abort("unsupported",
                      "a thread created by the program called " + users_name(function) +
                          (any_threads_are_simulated()
                               ? ", but existed before MPI_Init_thread, or belongs to a library's own pool; let "
                                 "threads that call MPI be created by the program, after MPI_Init_thread"
                               : ", but asked MPI_Init_thread for less than MPI_THREAD_SERIALIZED, or not at all"));
}

[[noreturn]] void refuse_file()
{
  current_run().abort("unsupported", who() + " opened a file with MPI (MPI_File_…), but host '" +
                                         simgrid::s4u::this_actor::get_host()->get_name() +
                                         "' has no disk; give it one with <disk> in the platform file");
}

std::string first_line_of(const char* file)
{
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line.empty() ? "unknown" : line;
}

[[noreturn]] void tell_of_mappings()
{
  const auto block = static_cast<long long>(simgrid::config::get_value<double>("smpi/shared-malloc-blocksize"));
  current_run().abort(
      "memory", "the shared memory of all ranks needs more mappings than Linux allows a process, in blocks of " +
                    std::to_string(block) + " B (vm.max_map_count is " + first_line_of("/proc/sys/vm/max_map_count") +
                    "): use larger blocks, --cfg smpi/shared-malloc-blocksize:" +
                    std::to_string(block * LARGER_BLOCKS) + ", of which the memory needs one in all");
}

[[noreturn]] void tell_of_memory()
{
  current_run().abort("memory",
                      who() + " asked for more shared memory than Linux commits: allow overcommitting (as root, sysctl "
                              "vm.overcommit_memory=1), which needs no more memory, because all ranks share one block");
}

/** Returns the limit that most likely keeps the process from allocating more memory. */
std::string limits_and_mappings()
{
  const std::string limits = memory_limits();
  return (limits.empty() ? "the machine's memory is used or committed" : limits) + "; vm.max_map_count is " +
         first_line_of("/proc/sys/vm/max_map_count") + ", of which " + std::to_string(mappings_now()) + " are taken";
}

[[noreturn]] void tell_of_refusal(const std::string& asked)
{
  current_run().abort("memory", (rank_here() ? who() : std::string("the simulator")) + " asked for " + asked +
                                    ", which the system refused: " + limits_and_mappings() +
                                    "; raise the limit, or use fewer ranks");
}

/** Aborts the run because a platform has no route for a message. */
[[noreturn]] void tell_of_missing_route(std::string text)
{
  constexpr std::string_view BEFORE = "You're trying to send data ";
  text.resize(text.find(NO_ROUTE));
  if (text.starts_with(BEFORE))
    text.erase(0, BEFORE.size());
  current_run().abort(
      "network-failure",
      "the platform has no route " + text +
          " for a message; add one, for example with <route>, and check all routes with `weft fabric check`");
}

/** Returns the only number in SimGrid's text. */
std::string bytes_in(const std::string& text)
{
  const auto first = text.find_first_of("0123456789");
  return text.substr(first, text.find_first_not_of("0123456789", first) - first);
}

/** Aborts the run if SimGrid reports a failed allocation. */
void act_on_want_of_memory(std::string_view format, const std::string& text)
{
  if (format.find(NO_BYTES) != std::string_view::npos)
    tell_of_refusal(bytes_in(text) + " bytes of memory");
  if (text.find(NO_OBJECT) != std::string::npos)
    tell_of_refusal("memory");
  if (format.starts_with(NO_COPY) &&
      std::ranges::any_of(NOT_MAPPED, [&text](const char* words) { return text.find(words) != std::string::npos; }))
    tell_of_refusal("a copy of the program of its own");
}

[[noreturn]] void tell_of_failure(const std::string& text)
{
  const auto end     = text.find(" - returned ");
  const auto code    = end + std::strlen(" - returned ");
  const auto name    = text.substr(0, end);
  std::string reason = take_reason();
  if (reason.empty())
    reason = state().last_warning;
  if (reason.starts_with("P" + name))
    reason = reason.substr(1);
  // A message that does not fit is detected at its receive, whichever call waits for it.
  current_run().abort("error", (name == "recv" ? "a receive of " + who() : who() + " called " + name + ", which") +
                                   " failed with " + text.substr(code, text.find(' ', code) - code) +
                                   (reason.empty() ? "" : " (" + reason + ")") +
                                   "; the error handler MPI_ERRORS_ARE_FATAL ends the program");
}

/** Returns whether a warning is about an error that the call returns: the program's error handler gets it, and a fatal
 * handler reports the reason (tell_of_failure). */
bool is_about_returned_error(std::string_view format)
{
  return format.ends_with(FAILED) ||
         std::ranges::any_of(REASONS, [format](const char* reason) { return format.starts_with(reason); });
}

/** Acts on a log message of SimGrid. @return true if the message has been handled and must not be logged */
bool act_on(const xbt_log_event_s& event, std::string_view format, const std::string& text)
{
  if (text.find(TOOL_ADVICE) != std::string::npos)
    return true;
  if (event.priority == xbt_log_priority_critical && RefusalsAsErrors::exist())
    throw std::runtime_error(text);
  if (format == RETURNED) {
    rank_returns(static_cast<int>(std::strtol(text.c_str() + text.rfind(' '), nullptr, 10)));
    return true;
  }
  // Neither SMPI nor the switches' actors catch this exception.
  if (format == UNCAUGHT && text.find("NetworkFailureException") != std::string::npos)
    current_run().abort("network-failure",
                        describe_broken_message(rank_here() ? who() : std::string("a switch or NIC")));
  const std::optional<int> rank = rank_here();
  if (not rank && format == NO_INIT && not simgrid::s4u::Actor::self())
    refuse_thread(text.substr(0, text.find(':')).c_str());
  if (rank && event.priority == xbt_log_priority_critical && format == MISSING)
    refuse_missing(event.functionName);
  if (rank && event.priority == xbt_log_priority_critical && format.ends_with(FAILED))
    tell_of_failure(text);
  if (event.priority == xbt_log_priority_critical && is_simulating() && text.find(NO_ROUTE) != std::string::npos)
    tell_of_missing_route(text);
  if (event.priority == xbt_log_priority_critical && is_simulating())
    act_on_want_of_memory(format, text);
  if (rank && format.starts_with(NO_DISK))
    refuse_file();
  if (rank && format.starts_with(NO_MAPPING))
    tell_of_mappings();
  if (rank && format.starts_with(NO_MEMORY))
    tell_of_memory();
  if (rank && event.priority == xbt_log_priority_warning)
    state().last_warning = text;
  return rank && event.priority == xbt_log_priority_warning && is_about_returned_error(format);
}

const char* level_name(int level)
{
  if (level == MPI_THREAD_MULTIPLE)
    return "MPI_THREAD_MULTIPLE";
  return level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED" : "MPI_THREAD_FUNNELED";
}

} // namespace
} // namespace weft

extern "C" void weft_log(xbt_log_event_t event, const char* format, ...) WEFT_REPLACES("_xbt_log_event_log");
void weft_log(xbt_log_event_t event, const char* format, ...)
{
  va_list arguments;
  va_list again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string text(static_cast<std::size_t>(std::max(0, std::vsnprintf(nullptr, 0, format, arguments))), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  va_end(arguments);
  if (not weft::act_on(*event, format, text))
    weft::next_definition<void (*)(xbt_log_event_t, const char*, ...)>("_xbt_log_event_log")(event, "%s", text.c_str());
}

// SMPI provides MPI_THREAD_SINGLE, whatever is requested.
extern "C" int weft_init_thread(int* argc, char*** argv, int required, int* provided) WEFT_REPLACES("PMPI_Init_thread");
int weft_init_thread(int* argc, char*** argv, int required, int* provided)
{
  const int level = weft::provide_threads(required);
  if (required > level && not weft::state().told_of_threads) {
    weft::state().told_of_threads = true;
    std::fprintf(stderr, "weft: MPI_Init_thread: the program requests %s, weft provides %s: %s\n",
                 weft::level_name(required), weft::level_name(level),
                 level == MPI_THREAD_SERIALIZED ? "one thread of a rank calls MPI at a time, others wait"
                                                : "only the main thread may call MPI");
  }
  if (weft::rank_here())
    weft::state().thread_levels[simgrid::s4u::this_actor::get_pid()] = level;
  if (provided)
    *provided = level;
  return MPI_Init(argc, argv);
}

extern "C" int weft_query_thread(int* provided) WEFT_REPLACES("PMPI_Query_thread");
int weft_query_thread(int* provided)
{
  if (not provided)
    return MPI_ERR_ARG;
  *provided = weft::rank_here() ? weft::state().thread_levels[simgrid::s4u::this_actor::get_pid()] : MPI_THREAD_SINGLE;
  return MPI_SUCCESS;
}

extern "C" int weft_is_thread_main(int* flag) WEFT_REPLACES("PMPI_Is_thread_main");
int weft_is_thread_main(int* flag)
{
  if (not flag)
    return MPI_ERR_ARG;
  *flag = not weft::is_other_thread() && not weft::SimulatedThread::here() && weft::rank_here() ? 1 : 0;
  return MPI_SUCCESS;
}
