// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/threads/program_threads.hpp"

#include "binding/abi/kernel/contexts.hpp"
#include "binding/abi/original.hpp"
#include "binding/abi/simulator_code.hpp"
#include "binding/process/process.hpp"
#include "binding/process/switched_state.hpp"
#include "binding/ranks/current.hpp"
#include "binding/threads/library_code.hpp"
#include "binding/threads/openmp.hpp"
#include "binding/threads/simulated_thread.hpp"
#include "binding/threads/spins.hpp"
#include "binding/threads/thread_functions.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <exception>
#include <functional>
#include <linux/futex.h>
#include <memory>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <smpi/smpi_helpers_internal.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <utility>
#include <vector>
#include <xbt/config.hpp>

namespace weft {

constinit bool threads_may_call = false; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): see the header

namespace {

using simgrid::kernel::actor::ActorImpl;
using simgrid::kernel::context::Context;
using namespace std::chrono_literals;

/** Time before a thread checks, or interrupts SimGrid's thread, again. */
constexpr auto PATIENCE = 100us;

/** State of a thread in the simulation. */
class ProgramThread {
public:
  Context* creator         = nullptr; ///< rank that created it; null if an OpenMP library did
  simgrid::s4u::Host* host = nullptr; ///< of that rank, which may have ended
  Context* rank            = nullptr; ///< rank as which it currently acts, to SimGrid
  bool in_call             = false;

  ProgramThread()                                = default;
  ProgramThread(const ProgramThread&)            = delete;
  ProgramThread& operator=(const ProgramThread&) = delete;
  ~ProgramThread();

  Context** context_here = nullptr; ///< its running_context
};

/** A thread's wait for SimGrid. */
struct Wait {
  ActorImpl* rank;
  Context* context;
  const ProgramThread* thread;
  bool ended = false;
  std::exception_ptr failure;
  std::function<void()> leave{}; ///< ends the rank; null: the rank yields
};

struct Threads {
  std::mutex
      lock; // protects all members except `native`; SimGrid's thread holds it only where it cannot be interrupted
  std::condition_variable changed;
  pid_t simgrids = 0;
  std::atomic<Context*> native{nullptr}; ///< rank whose own code SimGrid's thread runs
  std::atomic<std::size_t> created{0};   ///< threads created by ranks that have not ended
  std::vector<ProgramThread*> joined;    ///< threads that currently act as a rank
  std::vector<Wait*> waits;              ///< waits that SimGrid's thread has not begun
  bool main_is_in_call = false;          ///< true if the rank on SimGrid's thread is in a call of its own
  std::size_t waiting  = 0;              ///< threads that wait for their turn
  std::vector<LibraryCode> fragile;      ///< code of libraries that cannot be left at every instruction
  volatile std::sig_atomic_t kept = 0;   ///< nesting depth of scopes in which SimGrid's thread must not leave its rank
};

Threads& threads()
{
  static auto* const ALL = new Threads;
  return *ALL;
}

/** Scope in which SimGrid's thread does not leave its rank when a signal interrupts it. Its wait at `changed` looks
 * like a wait of the program, but if the rank were left there and another one notified, glibc would wait for the first
 * to leave.
 */
class KeptRank {
  const bool is_simgrids_ = not is_other_thread();

  static void add(int number)
  {
    threads().kept = threads().kept + number;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

public:
  KeptRank()
  {
    if (is_simgrids_)
      add(1);
  }
  KeptRank(const KeptRank&)            = delete;
  KeptRank& operator=(const KeptRank&) = delete;
  ~KeptRank()
  {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (is_simgrids_)
      add(-1);
  }
};

ProgramThread& this_thread()
{
  static thread_local ProgramThread own;
  return own;
}

ProgramThread::~ProgramThread()
{
  if (creator)
    --threads().created;
  if (not rank)
    return;
  const std::scoped_lock held(threads().lock);
  std::erase(threads().joined, this);
}

/** Returns whether a thread of @p rank other than the current one is in an MPI call. Requires the lock. */
bool is_called_by_others(const Context* rank)
{
  const ProgramThread& here = this_thread();
  if (is_other_thread() && threads().main_is_in_call)
    return true;
  return std::ranges::any_of(threads().joined, [&](const ProgramThread* thread) {
    return thread != &here && thread->rank == rank && thread->in_call;
  });
}

/** Makes the current thread act as the rank that created it, as soon as the rank runs its own code and no other thread
 * of it is in an MPI call. Requires the lock. */
void join_rank(std::unique_lock<std::mutex>& held)
{
  Threads& all        = threads();
  ProgramThread& here = this_thread();
  // The owner of threads of OpenMP libraries other than GCC's is unknown.
  const Context* const owner = rank_of_region() ? rank_of_region() : here.creator;
  ++all.waiting;
  for (;;) {
    Context* const native = here.rank ? here.rank : all.native.load();
    if (native && (not owner || owner == native) && not is_called_by_others(native)) {
      if (not here.rank)
        all.joined.push_back(&here);
      here.rank         = native;
      here.context_here = &running_context;
      running_context   = native;
      break;
    }
    all.changed.wait_for(held, PATIENCE);
  }
  --all.waiting;
}

/** Returns the context of a thread without one; null in the kernel's role. */
Context* context_of_thread()
{
  if (is_other_thread() && not this_thread().rank) {
    std::unique_lock held(threads().lock);
    join_rank(held);
  }
  return running_context;
}

/** Records that SimGrid's thread leaves the current rank: other threads, except @p served, no longer act as that rank.
 * Returns whether the rank is in a call of its own. */
bool part_from_rank(const ProgramThread* served)
{
  const KeptRank kept;
  Threads& all = threads();
  const std::scoped_lock held(all.lock);
  all.native.store(nullptr);
  std::erase_if(all.joined, [served](ProgramThread* thread) {
    if (thread == served || thread->rank != running_context)
      return false;
    thread->rank          = nullptr;
    *thread->context_here = nullptr;
    return true;
  });
  return std::exchange(all.main_is_in_call, false);
}

/** Records that SimGrid's thread is back in @p rank. */
void return_to_rank(Context* rank, bool is_in_call)
{
  const KeptRank kept;
  Threads& all = threads();
  const std::scoped_lock held(all.lock);
  all.main_is_in_call = is_in_call;
  all.native.store(rank);
  all.changed.notify_all();
}

/** Leaves the current rank on SimGrid's thread, for itself or for one of its threads. */
void yield_rank(ActorImpl* rank, Yield yield, const ProgramThread* served)
{
  Context* const own    = running_context;
  const bool is_in_call = part_from_rank(served);
  yield_with_team(rank, yield);
  return_to_rank(own, is_in_call);
}

/** Serves a wait of another thread of the current rank. Returns whether there was one. */
bool serve_thread()
{
  Threads& all = threads();
  Wait* wait   = nullptr;
  {
    const KeptRank kept;
    const std::scoped_lock held(all.lock);
    const auto found = std::ranges::find(all.waits, running_context, &Wait::context);
    if (found == all.waits.end())
      return false;
    wait = *found;
    all.waits.erase(found);
  }
  if (wait->leave) {
    part_from_rank(nullptr);
    wait->leave();
    throw std::logic_error("a rank that has ended goes on");
  }
  try {
    yield_rank(wait->rank, yield_keeping_state, wait->thread);
  } catch (const simgrid::ForcefulKillException&) {
    throw; // the rank ends, and with it the work of its other thread
  } catch (...) {
    wait->failure = std::current_exception();
  }
  const KeptRank kept;
  const std::scoped_lock held(all.lock);
  wait->ended = true;
  all.changed.notify_all();
  return true;
}

#ifdef __x86_64__

constexpr unsigned FUTEX_FLAGS =
    FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME; // NOLINT(hicpp-signed-bitwise): the system's

/** Returns whether the interrupted rank can be left: it holds no lock, and no change is half done. */
bool can_be_left(const ucontext_t& interrupted)
{
  constexpr std::array<std::uint8_t, 2> SYSCALL{0x0f, 0x05};
  const auto at                    = static_cast<std::uintptr_t>(interrupted.uc_mcontext.gregs[REG_RIP]);
  const LibraryCode* const library = find_code(threads().fragile, at);
  if (not library)
    return true;
  // The thread is blocked: it will either repeat its wait, or the wait has been interrupted.
  const auto number = interrupted.uc_mcontext.gregs[REG_RAX];
  const auto futex  = static_cast<unsigned>(interrupted.uc_mcontext.gregs[REG_RSI]) & ~FUTEX_FLAGS;
  const bool will_wait =
      (number == SYS_futex && (futex == FUTEX_WAIT || futex == FUTEX_WAIT_BITSET)) || number == SYS_restart_syscall;
  const auto is_syscall = [&](std::uintptr_t place) {
    return place >= library->begin && place + SYSCALL.size() <= library->end &&
           std::equal(SYSCALL.begin(), SYSCALL.end(),
                      reinterpret_cast<const std::uint8_t*>(place)); // NOLINT(performance-no-int-to-ptr)
  };
  return (is_syscall(at) && will_wait) || (is_syscall(at - SYSCALL.size()) && number == -EINTR);
}

void on_interrupt(int /*signum*/, siginfo_t* /*info*/, void* interrupted)
{
  if (threads().kept != 0 || not running_context || threads().native.load() != running_context)
    return;
  const int error = errno;
  if (can_be_left(*static_cast<const ucontext_t*>(interrupted)))
    serve_thread();
  errno = error;
}

/** Returns the signal that interrupts SimGrid's thread: the last one, which programs hardly use. */
int interrupt_signal()
{
  return SIGRTMAX;
}

void install_interrupt()
{
  threads().fragile =
      code_of_libraries({"", "libc.so", "ld-linux", "libstdc++.so", "libgcc_s.so", "libgfortran.so", "libquadmath.so",
                         "libsimgrid.so", "libweft.so", "weft-malloc.so", "weft-mimalloc.so", "weft-newer-symbols.so"});
  struct sigaction action{};
  action.sa_sigaction = on_interrupt;
  // Further signals may arrive before the handler ends, while the interrupted rank waits.
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
  set_process_action(interrupt_signal(), action);
}

constexpr bool CAN_INTERRUPT = true;

#else

void install_interrupt() {}
int interrupt_signal()
{
  return 0;
}
constexpr bool CAN_INTERRUPT = false;

#endif

/** Waits until SimGrid's thread has served the current thread's wait. */
void wait_for_simgrid(Wait& wait)
{
  Threads& all = threads();
  std::unique_lock held(all.lock);
  all.waits.push_back(&wait);
  all.changed.notify_all();
  while (not wait.ended) {
    if (std::ranges::find(all.waits, &wait) != all.waits.end())
      syscall(SYS_tgkill, syscall(SYS_getpid), all.simgrids, interrupt_signal());
    all.changed.wait_for(held, PATIENCE);
  }
}

/** Makes SimGrid's thread leave the rank on behalf of the current thread, and waits until the rank resumes. */
void yield_other_thread(ActorImpl* rank)
{
  const ProgramThread& here = this_thread();
  Wait wait{.rank = rank, .context = here.rank, .thread = &here, .failure = {}};
  wait_for_simgrid(wait);
  if (wait.failure)
    std::rethrow_exception(wait.failure);
}

/** Yields on the main thread of a rank. If another thread ends the rank meanwhile, the main thread stays there. */
void yield_main(ActorImpl* rank, Yield yield)
{
  static const auto LEAVE = original<void (*)(Context*)>("_ZN7simgrid6kernel7context14SwappedContext7suspendEv");
  const bool stays        = threads_are_simulated();
  try {
    return yield_with_team(rank, yield);
  } catch (const simgrid::ForcefulKillException&) { // SimGrid has cleaned up
    if (not stays)
      throw;
  }
  begin_switched_state(); // the rank may have been handling an exception; no other rank is
  LEAVE(Context::self());
}

void yield_of_program(ActorImpl* rank, Yield yield)
{
  wake_spinning_threads();
  if (SimulatedThread* const thread = SimulatedThread::here())
    thread->yield();
  else if (is_other_thread())
    yield_other_thread(rank);
  else if (threads_may_call)
    yield_rank(rank, yield, nullptr);
  else
    yield_main(rank, yield);
}

/** Routine of a new thread, and the rank that creates it. */
struct Start {
  void* (*routine)(void*);
  void* argument;
  Context* creator;
  simgrid::s4u::Host* host;
};

void* start_thread(void* start)
{
  const std::unique_ptr<Start> own(static_cast<Start*>(start));
  this_thread().creator = own->creator;
  this_thread().host    = own->host;
  return own->routine(own->argument);
}

} // namespace

bool allow_threads()
{
  if (not CAN_INTERRUPT || simgrid::config::get_value<std::string>("contexts/factory") == "thread")
    return false;
  if (threads_may_call)
    return true;
  threads().simgrids = static_cast<pid_t>(syscall(SYS_gettid));
  install_interrupt();
  around_yield           = yield_of_program;
  find_context_of_thread = context_of_thread;
  threads_may_call       = true;
  return true;
}

int provide_threads(int required)
{
  if (required >= MPI_THREAD_MULTIPLE && rank_here() && simulate_threads_of_rank()) {
    around_yield = yield_of_program;
    return MPI_THREAD_MULTIPLE;
  }
  const bool others = required >= MPI_THREAD_SERIALIZED && allow_threads();
  return std::min(required, static_cast<int>(others ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED));
}

bool is_other_thread()
{
  if (not threads_may_call || SimulatedThread::here())
    return false;
  static thread_local const bool IS_OTHER = syscall(SYS_gettid) != threads().simgrids;
  return IS_OTHER;
}

simgrid::s4u::Host* host_of_thread()
{
  if (this_thread().host)
    return this_thread().host;
  if (running_context)
    return rank_here() ? simgrid::s4u::Actor::self()->get_host() : nullptr;
  running_context          = rank_of_region(); // only for this query, which only reads
  const auto* const worker = running_context ? simgrid::s4u::Actor::self() : nullptr;
  auto* const host         = worker ? worker->get_host() : nullptr;
  running_context          = nullptr;
  return host;
}

bool begin_call()
{
  Threads& all  = threads();
  bool& in_call = is_other_thread() ? this_thread().in_call : all.main_is_in_call;
  std::optional<KeptRank> kept(std::in_place);
  std::unique_lock held(all.lock);
  if (in_call)
    return false;
  if (is_other_thread())
    join_rank(held);
  else
    while (is_called_by_others(running_context)) {
      held.unlock();
      kept.reset();
      const bool served = serve_thread();
      kept.emplace();
      held.lock();
      if (not served && is_called_by_others(running_context))
        all.changed.wait_for(held, PATIENCE);
    }
  in_call = true;
  return true;
}

void end_call()
{
  const KeptRank kept;
  Threads& all = threads();
  const std::scoped_lock held(all.lock);
  (is_other_thread() ? this_thread().in_call : all.main_is_in_call) = false;
  all.changed.notify_all();
}

void leave_on_simgrids_thread(std::function<void()> leave)
{
  begin_call(); // no other thread of the rank is in a call now
  const ProgramThread& here = this_thread();
  if (here.creator)
    --threads().created;
  Wait wait{.rank = nullptr, .context = here.rank, .thread = &here, .failure = {}, .leave = std::move(leave)};
  wait_for_simgrid(wait);
  throw std::logic_error("a rank that has ended goes on");
}

std::size_t waiting_threads()
{
  constexpr int MOST_TIMES = 10000; // one second
  Threads& all             = threads();
  std::unique_lock held(all.lock);
  // Threads may not have arrived yet.
  for (int times = 0; threads_may_call && all.waiting < all.created && times < MOST_TIMES; ++times)
    all.changed.wait_for(held, PATIENCE);
  return all.waiting;
}

} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" int weft_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                                   void* argument) WEFT_REPLACES("pthread_create");
int weft_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_pthread_create)>("pthread_create");
  using namespace weft;
  Context* const creator = is_other_thread() ? this_thread().creator : running_context;
  if (not creator || is_in_openmp(__builtin_return_address(0)))
    return THEIRS(thread, attributes, routine, argument);
  if (threads_are_simulated() && not is_in_simulator(__builtin_return_address(0)))
    return create_simulated_thread(THEIRS, thread, attributes, {routine, argument});
  ++threads().created;
  auto* const start = new Start(routine, argument, creator, host_of_thread()); // start_thread() deletes it
  const int failed  = THEIRS(thread, attributes, start_thread, start);
  if (failed != 0) {
    delete start;
    --threads().created;
  }
  return failed;
}
