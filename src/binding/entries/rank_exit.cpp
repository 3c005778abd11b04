// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/rank_exit.hpp"

#include "binding/abi/kernel/contexts.hpp"
#include "binding/abi/original.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/process/exit_handlers.hpp"
#include "binding/process/fortran.hpp"
#include "binding/process/process.hpp"
#include "binding/process/process_exit.hpp"
#include "binding/process/switched_state.hpp"
#include "binding/threads/program_threads.hpp"
#include "binding/threads/simulated_thread.hpp"

#include <cstdlib>
#include <map>
#include <optional>
#include <ranges>
#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>
#include <xbt/config.hpp>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Returns the part of an exit status that a process can report. */
int told_of(int status)
{
  constexpr unsigned BITS = 0xff;
  return static_cast<int>(static_cast<unsigned>(status) & BITS);
}

std::string name_of(int rank)
{
  return "rank " + std::to_string(rank);
}

/** Keys of the attributes that a rank has set on MPI_COMM_SELF, by its actor, in order of setting. */
std::map<aid_t, std::vector<int>>& keys_of_self()
{
  static std::map<aid_t, std::vector<int>> all;
  return all;
}

void note_key(MPI_Comm comm, int key)
{
  if (not rank_here() || comm != MPI_COMM_SELF)
    return;
  std::vector<int>& keys = keys_of_self()[simgrid::s4u::this_actor::get_pid()];
  std::erase(keys, key);
  keys.push_back(key);
}

void note_status(int rank, int status)
{
  if (told_of(status) == 0)
    return;
  RunContext& context    = current_run();
  const std::string text = name_of(rank) + " ended with exit status " + std::to_string(told_of(status));
  int finalized          = 0;
  PMPI_Finalized(&finalized);
  if (finalized == 0)
    context.abort("early-exit", text + " before it called MPI_Finalize", told_of(status));
  context.note_exit(text, told_of(status));
}

using Context       = simgrid::kernel::context::Context;
using ContextAction = void (*)(Context*);

/** Ends the current rank as SMPI does, but without the exception that SMPI throws through the program: exit() destroys
 * no objects on the stack, and may be called where exceptions cannot pass. The stack is left as it is. */
[[noreturn]] void end_rank(int status)
{
  static const bool ARE_THREADS = simgrid::config::get_value<std::string>("contexts/factory") == "thread";
  static const auto EXIT        = next_definition<void (*)(int)>("smpi_exit");
  static const auto LEAVE =
      original<ContextAction>(ARE_THREADS ? "_ZN7simgrid6kernel7context13ThreadContext5yieldEv"
                                          : "_ZN7simgrid6kernel7context14SwappedContext7suspendEv");
  try {
    EXIT(status);
  } catch (const simgrid::ForcefulKillException&) { // NOLINT(bugprone-empty-catch): SimGrid has cleaned up
  }
  begin_switched_state(); // the rank may have been handling an exception, which no other rank is
  LEAVE(Context::self());
  if (ARE_THREADS)
    syscall(SYS_exit, 0);
  throw std::logic_error("a rank that has ended goes on");
}

[[noreturn]] void rank_exits(int rank, int status)
{
  abandon_transfers(sg::this_actor::get_pid());
  run_exit_handlers();
  if (is_forked_child())
    leave_process(status);
  note_status(rank, status);
  const aid_t actor = sg::this_actor::get_pid();
  const auto end    = [status, actor] {
    current_run().rank_ended(actor);
    end_rank(status);
  };
  if (SimulatedThread* const thread = SimulatedThread::here())
    thread->leave([actor, end] {
      sg::Actor::by_pid(actor)->kill(); // the main thread's actor; other threads end with it
      end();
    });
  if (is_other_thread())
    leave_on_simgrids_thread(end);
  end();
  std::abort();
}

} // namespace

void rank_returns(int status)
{
  if (is_forked_child())
    leave_process(status);
  if (const std::optional<int> rank = rank_here())
    note_status(*rank, status);
}

void end_ranks_at_library_exits()
{
  watch_library_exits([](int status) {
    if (const std::optional<int> rank = rank_here())
      rank_exits(*rank, status);
  });
}

void check_finalize()
{
  int initialized = 0;
  int finalized   = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  const std::optional<int> rank = rank_here();
  if (rank && finalized != 0)
    current_run().abort("error", name_of(*rank) + " called MPI_Finalize twice; MPI allows one call");
  if (rank && initialized == 0)
    current_run().abort("error", name_of(*rank) + " called MPI_Finalize without MPI_Init before it");
}

void delete_own_attributes()
{
  if (keys_of_self().empty())
    return;
  const auto keys = keys_of_self().extract(simgrid::s4u::this_actor::get_pid());
  if (not keys)
    return;
  for (const int key : std::views::reverse(keys.mapped()))
    PMPI_Comm_delete_attr(MPI_COMM_SELF, key); // returns an error if the program has deleted it
}

} // namespace weft

// ---- Replaced functions
// ----------------------------------------------------------------------------------------------

// SMPI's header turns exit into a macro for the program's files; libraries, libgfortran among them,
// call this one.
// NOLINTBEGIN(readability-identifier-naming): MPI's names

extern "C" WEFT_INTERPOSED int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value)
{
  static const auto THEIRS = weft::original(&MPI_Comm_set_attr);
  weft::note_key(comm, keyval);
  return THEIRS(comm, keyval, value);
}

extern "C" WEFT_INTERPOSED int MPI_Attr_put(MPI_Comm comm, int keyval, void* value)
{
  static const auto THEIRS = weft::original(&MPI_Attr_put);
  weft::note_key(comm, keyval);
  return THEIRS(comm, keyval, value);
}

// NOLINTEND(readability-identifier-naming)

extern "C" [[noreturn]] void weft_exit(int status) WEFT_REPLACES("exit");
void weft_exit(int status)
{
  if (const std::optional<int> rank = weft::rank_here())
    weft::rank_exits(*rank, status);
  weft::next_definition<void (*)(int)>("exit")(status);
  std::abort();
}

extern "C" [[noreturn]] void weft_smpi_exit(int status) WEFT_REPLACES("smpi_exit");
void weft_smpi_exit(int status)
{
  if (const std::optional<int> rank = weft::rank_here())
    weft::rank_exits(*rank, status);
  weft_exit(status);
}

extern "C" int weft_abort(MPI_Comm comm, int code) WEFT_REPLACES("PMPI_Abort");
int weft_abort(MPI_Comm /*comm*/, int code)
{
  const std::optional<int> rank = weft::rank_here();
  // An aborted run is a failure even with code 0.
  const int status = weft::told_of(code) != 0 ? weft::told_of(code) : 1;
  weft::current_run().abort("abort",
                            (rank ? weft::name_of(*rank) : std::string("a thread of the program")) +
                                " called MPI_Abort with error code " + std::to_string(code),
                            status);
}
