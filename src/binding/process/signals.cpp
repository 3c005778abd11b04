// SPDX-License-Identifier: LGPL-2.1-only
/* Signals and process IDs of ranks, which share one process.
 *
 * Each rank has its own signal handlers. The process installs a single handler, which calls the running rank's. Signals
 * from elsewhere (a child, a timer, a user's kill) that arrive while another
 * rank or SimGrid runs go to the rank that installed a handler last.
 *
 * A rank's process ID is unique and one that Linux never assigns: it identifies the rank like a real one, and a signal
 * to it reaches no process. kill() recognises the IDs of ranks. A signal
 * that a rank sends to itself, to its process group or to all processes reaches only the
 * simulation; the launcher of the simulation cannot be signalled.
 *
 * weft starts the simulation with SIGINT blocked, since weft itself handles Ctrl-C and then ends the simulation. Ranks
 * must start with the default action, as under a launcher, so watch_process() replaces the block by a handler that does
 * nothing. */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/abi/simulator_code.hpp"
#include "binding/process/own_state.hpp"
#include "binding/process/process_exit.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <link.h>
#include <map>
#include <sched.h>
#include <simgrid/s4u.hpp>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace weft {
namespace {

/** Linux's limit of process IDs on 64-bit systems: no process has this ID or a larger one. */
constexpr pid_t PID_MAX_LIMIT = 4 * 1024 * 1024;

using Actions = std::map<int, struct sigaction>;

struct OwnActions {
  Actions all;
};

/** Actions of the process: from before a rank installed any, and those that a rank installed last. */
struct ProcessActions {
  Actions before;
  Actions latest;
};

ProcessActions& process_actions()
{
  static auto* const ACTIONS = new ProcessActions;
  return *ACTIONS;
}

bool does_nothing_by_default(int signum)
{
  return signum == SIGCHLD || signum == SIGCONT || signum == SIGURG || signum == SIGWINCH;
}

bool is_function(const struct sigaction& action)
{
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

/** Returns the flags of @p action that are in @p flags. */
unsigned flags_of(const struct sigaction& action, unsigned flags = ~0U)
{
  return static_cast<unsigned>(action.sa_flags) & flags;
}

constexpr unsigned SYSV_FLAGS = static_cast<unsigned>(SA_RESETHAND) | static_cast<unsigned>(SA_NODEFER);
/** Flags of a rank's handler that the process's handler adopts. */
constexpr unsigned COMMON_FLAGS = static_cast<unsigned>(SA_RESTART) | static_cast<unsigned>(SA_ONSTACK) |
                                  static_cast<unsigned>(SA_NOCLDSTOP) | static_cast<unsigned>(SA_NOCLDWAIT);

/** Returns the action of a rank that has not set one for @p signum: the initial action of a separate process, without
 * weft's own handlers. */
struct sigaction at_start(int signum)
{
  struct sigaction action{};
  const auto before = process_actions().before.find(signum);
  if (before != process_actions().before.end())
    action = before->second;
  else
    system_sigaction(signum, nullptr, &action);
  if (not is_function(action))
    return action;
  struct sigaction none{};
  none.sa_handler = SIG_DFL;
  return none;
}

const struct sigaction* find_action(const Actions& actions, int signum)
{
  const auto found = actions.find(signum);
  return found == actions.end() ? nullptr : &found->second;
}

/** Returns the action of the running rank. */
struct sigaction own_action(int signum)
{
  OwnActions* const own               = OwnState<OwnActions>::get().find_made();
  const struct sigaction* const found = own ? find_action(own->all, signum) : nullptr;
  return found ? *found : at_start(signum);
}

/** Returns whether @p info reports a fault, or a signal that the process sent to itself; both concern the running
 * rank. */
bool comes_from_within(int signum, const siginfo_t& info)
{
  const bool is_fault =
      signum == SIGSEGV || signum == SIGBUS || signum == SIGFPE || signum == SIGILL || signum == SIGTRAP;
  return info.si_code > 0 ? is_fault : info.si_pid == static_cast<pid_t>(syscall(SYS_getpid));
}

/** Returns the action to take: the running rank's or, for a signal from elsewhere that this rank does not handle, the
 * action of the rank that installed one last. */
struct sigaction action_for(int signum, const siginfo_t& info)
{
  const struct sigaction own = own_action(signum);
  if (is_function(own) || (rank_here() && comes_from_within(signum, info)))
    return own;
  const struct sigaction* const latest = find_action(process_actions().latest, signum);
  return latest ? *latest : own;
}

/** Applies the action that the process had before any rank installed a handler. */
void act_as_process(int signum)
{
  if (does_nothing_by_default(signum))
    return;
  set_process_action(signum, process_actions().before[signum]);
  process_actions().before.erase(signum);
  raise_in_process(signum); // delivered after this handler returns
}

void call(const struct sigaction& action, int signum, siginfo_t* info, void* context)
{
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &action.sa_mask, &before);
  if (flags_of(action, SA_NODEFER) != 0) {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, signum);
    pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  }
  if (flags_of(action, SA_SIGINFO) != 0)
    action.sa_sigaction(signum, info, context);
  else
    action.sa_handler(signum);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void on_signal(int signum, siginfo_t* info, void* context)
{
  if (signum == SIGINT && info->si_code == SI_KERNEL) // Ctrl-C, after which weft ends the simulation
    return;
  const int error               = errno;
  const struct sigaction action = action_for(signum, *info);
  if (is_function(action)) {
    if (flags_of(action, SA_RESETHAND) != 0)
      if (auto* const own = OwnState<OwnActions>::get().find_made())
        own->all[signum].sa_handler = SIG_DFL;
    call(action, signum, info, context);
  } else if (action.sa_handler == SIG_DFL) {
    act_as_process(signum);
  }
  errno = error;
}

/** Installs on_signal() for the process; on the alternative stack for faults, since a stack overflow may have caused
 * them. */
void watch_signal(int signum, const struct sigaction& wanted)
{
  if (process_actions().before.contains(signum))
    return;
  const bool is_fault = signum == SIGSEGV || signum == SIGBUS;
  struct sigaction ours{};
  ours.sa_sigaction  = on_signal;
  const auto watched = static_cast<unsigned>(SA_SIGINFO) | (is_fault ? static_cast<unsigned>(SA_ONSTACK) : 0U);
  ours.sa_flags      = static_cast<int>(watched | flags_of(wanted, COMMON_FLAGS));
  system_sigaction(signum, &ours, &process_actions().before[signum]);
}

int own_sigaction(int signum, const struct sigaction* wanted, struct sigaction* before)
{
  OwnActions* const own = OwnState<OwnActions>::get().here();
  if (not own || signum < 1 || signum >= NSIG || signum == SIGKILL || signum == SIGSTOP)
    return system_sigaction(signum, wanted, before);
  const auto known           = own->all.find(signum);
  const struct sigaction had = known == own->all.end() ? at_start(signum) : known->second;
  if (wanted) {
    const struct sigaction copy = *wanted; // may alias *before
    watch_signal(signum, copy);
    own->all[signum] = process_actions().latest[signum] = copy;
  }
  if (before)
    *before = had;
  return 0;
}

sighandler_t own_signal(int signum, sighandler_t handler, int flags)
{
  struct sigaction wanted{};
  struct sigaction before{};
  wanted.sa_handler = handler;
  wanted.sa_flags   = flags;
  return handler == SIG_ERR || own_sigaction(signum, &wanted, &before) != 0 ? SIG_ERR : before.sa_handler;
}

// ---- Process IDs ----------------------------------------------------------------------------------------------------

pid_t real_pid()
{
  return next_definition<pid_t (*)()>("getpid")();
}

/** Returns the process ID of the simulation, cached before any rank forks. */
pid_t simulations_pid()
{
  static const pid_t PID = real_pid();
  return PID;
}

enum class SignalTarget { itself, other_rank, launcher, stranger };

bool is_own_number(pid_t pid)
{
  return pid == pid_of_rank(simgrid::s4u::this_actor::get_pid());
}

/** Returns the target of a signal that the current rank sends to @p pid. */
SignalTarget addressed(pid_t pid)
{
  if (pid == 0 || pid == -1 || pid == simulations_pid() || pid == -getpgrp() || is_own_number(pid) ||
      is_own_number(-pid))
    return SignalTarget::itself;
  if (pid > PID_MAX_LIMIT)
    return SignalTarget::other_rank;
  return pid == PID_MAX_LIMIT || pid == next_definition<pid_t (*)()>("getppid")() ? SignalTarget::launcher
                                                                                  : SignalTarget::stranger;
}

bool has_ended_or_never_was(pid_t rank)
{
  return not simgrid::s4u::Actor::by_pid(rank - PID_MAX_LIMIT);
}

/** Sends a signal to the current rank, and records the rank if the signal ends the process. */
int signal_itself(int signum)
{
  if (signum == 0)
    return 0;
  const struct sigaction action = own_action(signum);
  const bool is_fatal = signum == SIGKILL || (action.sa_handler == SIG_DFL && not does_nothing_by_default(signum));
  if (is_fatal) {
    end_crashed_rank(signum);
    note_crash();
    if (signum == SIGINT) { // the process has its own handler
      struct sigaction none{};
      none.sa_handler = SIG_DFL;
      set_process_action(signum, none);
    }
  }
  raise_in_process(signum);
  return 0;
}

/** Sends a signal from a rank, or from its child, to @p pid. @p send performs the system call if a real process is the
 * target. */
template <class Send> int send_signal(pid_t pid, int signum, Send send)
{
  if (not rank_here())
    return send(pid);
  if (is_forked_child())
    return send(is_own_number(pid) ? simulations_pid() : pid); // own number: the parent rank's
  switch (addressed(pid)) {
    case SignalTarget::itself:
      return signal_itself(signum);
    case SignalTarget::other_rank:
      errno = has_ended_or_never_was(pid) ? ESRCH : EPERM;
      return signum == 0 && errno == EPERM ? 0 : -1;
    case SignalTarget::launcher:
      errno = EPERM;
      return -1;
    default:
      return send(pid);
  }
}

} // namespace

pid_t pid_of_rank(aid_t rank)
{
  return PID_MAX_LIMIT + static_cast<pid_t>(rank);
}

} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" {

int weft_sigaction(int signum, const struct sigaction* wanted, struct sigaction* before) WEFT_REPLACES("sigaction");
sighandler_t weft_signal(int signum, sighandler_t handler) WEFT_REPLACES("signal");
sighandler_t weft_bsd_signal(int signum, sighandler_t handler) WEFT_REPLACES("bsd_signal");
sighandler_t weft_sysv_signal(int signum, sighandler_t handler) WEFT_REPLACES("__sysv_signal");
sighandler_t weft_sysv_signal_2(int signum, sighandler_t handler) WEFT_REPLACES("sysv_signal");

int weft_sigaction(int signum, const struct sigaction* wanted, struct sigaction* before)
{
  return weft::own_sigaction(signum, wanted, before);
}

sighandler_t weft_signal(int signum, sighandler_t handler)
{
  return weft::own_signal(signum, handler, SA_RESTART);
}

sighandler_t weft_bsd_signal(int signum, sighandler_t handler)
{
  return weft::own_signal(signum, handler, SA_RESTART);
}

sighandler_t weft_sysv_signal(int signum, sighandler_t handler)
{
  return weft::own_signal(signum, handler, static_cast<int>(weft::SYSV_FLAGS));
}

sighandler_t weft_sysv_signal_2(int signum, sighandler_t handler)
{
  return weft_sysv_signal(signum, handler);
}

pid_t weft_getpid() WEFT_REPLACES("getpid");
pid_t weft_smpi_getpid() WEFT_REPLACES("smpi_getpid");
pid_t weft_getppid() WEFT_REPLACES("getppid");
int weft_kill(pid_t pid, int signum) WEFT_REPLACES("kill");
int weft_killpg(pid_t group, int signum) WEFT_REPLACES("killpg");
int weft_sigqueue(pid_t pid, int signum, sigval value) WEFT_REPLACES("sigqueue");
int weft_raise(int signum) WEFT_REPLACES("raise");
int weft_pthread_kill(pthread_t thread, int signum) WEFT_REPLACES("pthread_kill");

pid_t weft_smpi_getpid()
{
  if (weft::is_forked_child() || not weft::rank_here())
    return weft::real_pid();
  weft::simulations_pid();
  return weft::pid_of_rank(simgrid::s4u::this_actor::get_pid());
}

pid_t weft_getpid()
{
  // The simulator uses the ID in file names, and other simulations run at the same time.
  return weft::is_simulating() && not weft::is_in_simulator(__builtin_return_address(0)) ? weft_smpi_getpid()
                                                                                         : weft::real_pid();
}

pid_t weft_getppid()
{
  return weft::is_forked_child() || not weft::rank_here() ? weft::next_definition<decltype(&weft_getppid)>("getppid")()
                                                          : weft::PID_MAX_LIMIT;
}

int weft_kill(pid_t pid, int signum)
{
  return weft::send_signal(
      pid, signum, [signum](pid_t to) { return weft::next_definition<decltype(&weft_kill)>("kill")(to, signum); });
}

int weft_killpg(pid_t group, int signum)
{
  return weft_kill(-group, signum);
}

int weft_sigqueue(pid_t pid, int signum, sigval value)
{
  return weft::send_signal(pid, signum, [signum, value](pid_t to) {
    return weft::next_definition<decltype(&weft_sigqueue)>("sigqueue")(to, signum, value);
  });
}

int weft_raise(int signum)
{
  if (weft::is_forked_child() || not weft::rank_here() || signum <= 0 || signum >= NSIG)
    return weft::next_definition<decltype(&weft_raise)>("raise")(signum);
  return weft::signal_itself(signum);
}

int weft_pthread_kill(pthread_t thread, int signum)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_pthread_kill)>("pthread_kill");
  if (signum <= 0 || signum >= NSIG || weft::is_forked_child() || not weft::rank_here() ||
      pthread_equal(thread, pthread_self()) == 0)
    return THEIRS(thread, signum);
  return weft::signal_itself(signum);
}

// Other functions that take a process ID; 0 means the caller.

#define WEFT_OF_PROCESS(name, Result, parameters, ...)                                                                 \
  Result weft_##name parameters WEFT_REPLACES(#name);                                                                  \
  Result weft_##name parameters                                                                                        \
  {                                                                                                                    \
    if (weft::rank_here() && not weft::is_forked_child() && weft::is_own_number(pid))                                  \
      pid = 0;                                                                                                         \
    return weft::next_definition<Result(*) parameters>(#name)(__VA_ARGS__);                                            \
  }

WEFT_OF_PROCESS(getpgid, pid_t, (pid_t pid), pid)
WEFT_OF_PROCESS(getsid, pid_t, (pid_t pid), pid)
WEFT_OF_PROCESS(setpgid, int, (pid_t pid, pid_t group), pid, group)

} // extern "C"
