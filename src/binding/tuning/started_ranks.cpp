// SPDX-License-Identifier: LGPL-2.1-only
/* Parts of a rank that SimGrid and SMPI create at its start but few programs use: created on
 * demand, or not at all. With a million ranks, every 100 bytes are 100 MB.
 *
 * Parts of a rank (src/smpi/internals/smpi_actor.cpp):
 *   - The mailbox for small messages, 0.6 KB, used by messages below smpi/async-small-thresh and
 *     by one-sided communication. MPI_Init creates it to set its receiver, so that messages start before any receive is
 *     posted. The mailbox holds a reference to the receiver, which would
 *     keep every rank's actor until the end of the run.
 *   - The lock of its two mailboxes, 0.3 KB, for the same messages.
 *   - The timer of its computation, 64 bytes (computation_clock.cpp lists its users).
 * Part of an actor (src/kernel/actor/ActorImpl.cpp): the list of its reads and writes, 0.2 KB, for
 * the model checker.
 *
 * Creating a mailbox is a simcall, during which other ranks run. Here its user must continue immediately, as if the
 * mailbox already existed, so it is created in kernel context.
 */
#include "binding/abi/kernel_scope.hpp"
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/actor_extensions.hpp"
#include "binding/ranks/current.hpp"
#include "binding/settings/tunings.hpp"

#include <cstddef>
#include <optional>
#include <simgrid/s4u.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <xbt/config.hpp>

namespace sg = simgrid::s4u;
using simgrid::smpi::ActorExt;
using simgrid::smpi::ActorExtLayout;

namespace weft {
namespace {

/** State of the creation in progress, and its latest result. */
struct BeingStarted {
  bool parts           = false;   ///< inside an ActorExt's constructor, whose parts are deferred
  bool rank            = false;   ///< inside MPI_Init, before others run
  const void* accesses = nullptr; ///< list of accesses that an actor has just received
};

BeingStarted& being_started()
{
  static BeingStarted what;
  return what;
}

/** Sets @p flag during its lifetime. */
class FlagScope {
  bool& flag_;

public:
  explicit FlagScope(bool& flag) : flag_(flag) { flag_ = true; }
  FlagScope(const FlagScope&)            = delete;
  FlagScope& operator=(const FlagScope&) = delete;
  ~FlagScope() { flag_ = false; }
};

/** Placeholder that MPI_Init gets for a rank's mailbox of small messages, and whose receiver it sets. */
sg::Mailbox* nobodys_mailbox()
{
  static auto* const MAILBOX = [] {
    const KernelScope kernel;
    return sg::Mailbox::by_name("weft.nobody");
  }();
  return MAILBOX;
}

ActorExtLayout& late_parts(const ActorExt* rank)
{
  return *reinterpret_cast<ActorExtLayout*>(const_cast<ActorExt*>(rank));
}

/** Checks the layout against an ActorExt that has all its parts. @throws std::logic_error if it
 *  differs. */
void check_layout(ActorExt* rank)
{
  using Mutex             = sg::MutexPtr (*)(const ActorExt*);
  using Timer             = xbt_os_timer_t (*)(ActorExt*);
  static const auto MUTEX = original<Mutex>("_ZNK7simgrid4smpi8ActorExt15mailboxes_mutexEv");
  static const auto TIMER = original<Timer>("_ZN7simgrid4smpi8ActorExt5timerEv");

  const ActorExtLayout& layout = late_parts(rank);
  if (not layout.timer || layout.timer != TIMER(rank) || not layout.mailboxes_mutex ||
      layout.mailboxes_mutex != MUTEX(rank))
    throw std::logic_error("the layout of actor extensions in this SimGrid is unknown to weft; use SimGrid 4.1");
}

/** Offset of the list of accesses in an actor, found in the first actor that gets one. */
std::optional<std::size_t> place_of_accesses(const void* actor, const void* accesses)
{
  constexpr std::size_t FIELDS = 64; // fewer than in an actor
  static std::optional<std::size_t> place;
  for (std::size_t at = 0; not place && at < FIELDS; ++at)
    if (static_cast<void* const*>(actor)[at] == accesses)
      place = at;
  return place && static_cast<void* const*>(actor)[*place] == accesses ? place : std::nullopt;
}

void free_accesses(void* actor, const void* accesses)
{
  using simgrid::kernel::activity::ActivityImplPtr;
  if (const auto place = place_of_accesses(actor, accesses))
    static_cast<ActivityImplPtr*>(actor)[*place].reset();
}

/** Timer of a simulated thread other than the main thread (simulated_thread.hpp). */
xbt_os_timer_t timer_of_thread()
{
  struct ThreadTimer {
    xbt_os_timer_t its                         = xbt_os_timer_new();
    ThreadTimer()                              = default;
    ThreadTimer(const ThreadTimer&)            = delete;
    ThreadTimer& operator=(const ThreadTimer&) = delete;
    ~ThreadTimer() { xbt_os_timer_free(its); }
  };
  static thread_local const ThreadTimer OWN;
  return OWN.its;
}

/** True if the model checker replays this run. */
bool is_replayed_for_checker()
{
  static const bool REPLAYED = not simgrid::config::get_value<std::string>("model-check/replay").empty();
  return REPLAYED;
}

} // namespace
} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

// Constructors, from src/smpi/internals/smpi_actor.cpp, src/kernel/actor/ActorImpl.cpp and
// src/kernel/activity/MemoryImpl.cpp.

constexpr const char* ADD_TO_ACTOR  = "_ZN7simgrid4smpi8ActorExtC1EPNS_3s4u5ActorE";
constexpr const char* MAKE_ACTOR    = "_ZN7simgrid6kernel5actor9ActorImplC1ERKNSt7__cxx1112basic_stringIcSt11char_"
                                      "traitsIcESaIcEEEPNS_3s4u4HostEl";
constexpr const char* MAKE_ACCESSES = "_ZN7simgrid6kernel8activity16MemoryAccessImplC1EPNS0_5actor9ActorImplE";

void add_to_actor(ActorExt* self, sg::Actor* actor) WEFT_REPLACES("_ZN7simgrid4smpi8ActorExtC1EPNS_3s4u5ActorE");
void make_actor(void* self, const std::string& name, sg::Host* host, aid_t parent)
    WEFT_REPLACES("_ZN7simgrid6kernel5actor9ActorImplC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEPNS_"
                  "3s4u4HostEl");
void make_accesses(void* self, void* actor)
    WEFT_REPLACES("_ZN7simgrid6kernel8activity16MemoryAccessImplC1EPNS0_5actor9ActorImplE");

void add_to_actor(ActorExt* self, sg::Actor* actor)
{
  static const auto THEIRS = weft::original<decltype(&add_to_actor)>(ADD_TO_ACTOR);
  static bool checked      = false;
  if (not weft::is_on(weft::TuningId::started_ranks))
    return THEIRS(self, actor);
  if (checked) {
    const weft::FlagScope making(weft::being_started().parts);
    THEIRS(self, actor);
    return;
  }
  THEIRS(self, actor);
  weft::check_layout(self);
  checked = true;
}

void make_actor(void* self, const std::string& name, sg::Host* host, aid_t parent)
{
  static const auto THEIRS = weft::original<decltype(&make_actor)>(MAKE_ACTOR);
  THEIRS(self, name, host, parent);
  if (host && weft::is_on(weft::TuningId::access_lists) &&
      not weft::is_replayed_for_checker()) // the kernel's own actor has none
    weft::free_accesses(self, weft::being_started().accesses);
}

void make_accesses(void* self, void* actor)
{
  static const auto THEIRS = weft::original<decltype(&make_accesses)>(MAKE_ACCESSES);
  THEIRS(self, actor);
  weft::being_started().accesses = self;
}

extern "C" WEFT_INTERPOSED xbt_os_timer_t xbt_os_timer_new()
{
  static const auto THEIRS = weft::original<decltype(&xbt_os_timer_new)>("xbt_os_timer_new");
  return weft::being_started().parts ? nullptr : THEIRS();
}

namespace simgrid::s4u {

WEFT_INTERPOSED MutexPtr Mutex::create(bool recursive)
{
  static const auto THEIRS = weft::original<MutexPtr (*)(bool)>("_ZN7simgrid3s4u5Mutex6createEb");
  return weft::being_started().parts ? MutexPtr() : THEIRS(recursive);
}

WEFT_INTERPOSED void Mailbox::set_receiver(ActorPtr actor)
{
  static const auto THEIRS = weft::original<void (*)(Mailbox*, ActorPtr)>(
      "_ZN7simgrid3s4u7Mailbox12set_receiverEN5boost13intrusive_ptrINS0_5ActorEEE");
  if (not weft::being_started().rank || this != weft::nobodys_mailbox())
    THEIRS(this, std::move(actor));
}

} // namespace simgrid::s4u

namespace simgrid::smpi {

WEFT_INTERPOSED void ActorExt::init()
{
  static const auto THEIRS = weft::original<void (*)()>("_ZN7simgrid4smpi8ActorExt4initEv");
  if (not weft::is_on(weft::TuningId::started_ranks))
    return THEIRS();
  const weft::FlagScope starting(weft::being_started().rank);
  THEIRS();
}

WEFT_INTERPOSED s4u::Mailbox* ActorExt::mailbox_small()
{
  static const auto THEIRS = weft::original<s4u::Mailbox* (*)(ActorExt*)>("_ZN7simgrid4smpi8ActorExt13mailbox_smallEv");
  if (not weft::is_on(weft::TuningId::started_ranks))
    return THEIRS(this);
  if (s4u::Mailbox* const made = weft::late_parts(this).mailbox_small)
    return made;
  if (weft::being_started().rank)
    return weft::nobodys_mailbox();
  const weft::KernelScope kernel;
  s4u::Mailbox* const made = THEIRS(this);
  if (initializing() != 0 || initialized() != 0 || finalizing() != 0) // otherwise MPI_Init sets it
    made->set_receiver(get_actor());
  return made;
}

WEFT_INTERPOSED s4u::MutexPtr ActorExt::mailboxes_mutex() const
{
  static const auto THEIRS =
      weft::original<s4u::MutexPtr (*)(const ActorExt*)>("_ZNK7simgrid4smpi8ActorExt15mailboxes_mutexEv");
  if (not weft::is_on(weft::TuningId::started_ranks))
    return THEIRS(this);
  s4u::MutexPtr& mutex = weft::late_parts(this).mailboxes_mutex;
  if (not mutex)
    mutex = s4u::Mutex::create();
  return mutex;
}

WEFT_INTERPOSED xbt_os_timer_t ActorExt::timer()
{
  static const auto THEIRS = weft::original<xbt_os_timer_t (*)(ActorExt*)>("_ZN7simgrid4smpi8ActorExt5timerEv");
  if (weft::thread_actor != 0)
    return weft::timer_of_thread();
  if (not weft::is_on(weft::TuningId::started_ranks))
    return THEIRS(this);
  xbt_os_timer_t& timer = weft::late_parts(this).timer;
  if (not timer)
    timer = xbt_os_timer_new();
  return timer;
}

} // namespace simgrid::smpi
