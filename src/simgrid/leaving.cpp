#include "simgrid/leaving.hpp"

#include "simgrid/fortran.hpp"
#include "simgrid/replaced.hpp"
#include "simgrid/simulation.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <stdexcept>
#include <unistd.h>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** What a process can tell of its exit status. */
int told_of(int status)
{
  constexpr unsigned BITS = 0xff;
  return static_cast<int>(static_cast<unsigned>(status) & BITS);
}

struct State {
  bool running = false; // until the last rank has ended
  bool child   = false;
  std::string crash_file;
};

State& state()
{
  static State the_state;
  return the_state;
}

std::string name_of(int rank)
{
  return "rank " + std::to_string(rank);
}

void note_status(int rank, int status)
{
  if (told_of(status) == 0)
    return;
  Simulation& simulation = Simulation::get();
  const std::string text = name_of(rank) + " ended with exit status " + std::to_string(told_of(status));
  int finalized          = 0;
  PMPI_Finalized(&finalized);
  if (finalized == 0)
    simulation.abort("early-exit", text + " before it called MPI_Finalize", told_of(status));
  if (simulation.record.outcome.kind == "completed")
    simulation.record.outcome = {"exit", text};
}

[[noreturn]] void rank_exits(int rank, int status)
{
  if (is_forked_child())
    leave_forked_child(status);
  note_status(rank, status);
  Simulation::get().rank_ended(sg::this_actor::get_pid());
  theirs<void (*)(int)>("smpi_exit")(status);
  throw std::logic_error("SMPI's exit has come back");
}

/** Leave the rank's number to whoever tells of the crash, and die of it. Only what a signal handler may call. */
void on_crash(int signum, siginfo_t* /*info*/, void* /*context*/)
{
  std::signal(signum, SIG_DFL);
  const std::optional<int> rank = is_forked_child() ? std::nullopt : rank_here();
  const int file = rank ? open(state().crash_file.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600) : -1;
  if (file >= 0) {
    std::array<char, 12> digits{};
    std::size_t first = digits.size();
    for (int rest = *rank; rest > 0 || first == digits.size(); rest /= 10)
      digits[--first] = static_cast<char>('0' + rest % 10);
    if (write(file, &digits[first], digits.size() - first) < 0)
      unlink(state().crash_file.c_str());
    close(file);
  }
  raise(signum);
}

void watch_crashes()
{
  struct sigaction action = {};
  action.sa_sigaction     = on_crash;
  action.sa_flags         = SA_SIGINFO | SA_ONSTACK; // SimGrid has made that stack: a rank's own may be what is full
  for (const int signum : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(signum, &action, nullptr);
}

} // namespace

void watch_leaving(const std::string& record_path)
{
  state().running = true;
  sg::Engine::on_simulation_end_cb([] { state().running = false; });
  // What is in the buffers would be written by both, and all ranks share them.
  pthread_atfork([] { std::fflush(nullptr); }, nullptr, [] { state().child = true; });
  if (not record_path.empty()) {
    state().crash_file = record_path + ".crashed";
    watch_crashes();
  }
}

std::optional<int> rank_here()
{
  const sg::Actor* actor = state().running ? sg::Actor::self() : nullptr;
  const char* rank       = actor ? actor->get_property("rank") : nullptr;
  return rank ? std::optional(static_cast<int>(std::strtol(rank, nullptr, 10))) : std::nullopt;
}

void rank_returns(int status)
{
  if (is_forked_child())
    leave_forked_child(status);
  if (const std::optional<int> rank = rank_here())
    note_status(*rank, status);
}

bool is_forked_child()
{
  return state().child;
}

void leave_forked_child(int status)
{
  flush_output();
  ::_exit(status);
}

} // namespace weft

// ---- Replaced functions
// ----------------------------------------------------------------------------------------------

// SMPI's header makes exit a macro of its own for the program's files; libraries, libgfortran's among them, call this
// one.
extern "C" [[noreturn]] void weft_exit(int status) WEFT_REPLACES("exit");
void weft_exit(int status)
{
  if (const std::optional<int> rank = weft::rank_here())
    weft::rank_exits(*rank, status);
  weft::theirs<void (*)(int)>("exit")(status);
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
  // What has been aborted has not ended well, whatever the code.
  const int status = weft::told_of(code) != 0 ? weft::told_of(code) : 1;
  weft::Simulation::get().abort("abort",
                                (rank ? weft::name_of(*rank) : std::string("a thread of the program")) +
                                    " called MPI_Abort with error code " + std::to_string(code),
                                status);
}
