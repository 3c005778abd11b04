// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/polls/idle_calls.hpp"

#include "binding/entries/frame/current_run.hpp"

#include "binding/observe/computation_clock.hpp"
#include "binding/point_to_point/own_messages.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/ranks/current.hpp"
#include "binding/requests/nap.hpp"
#include "binding/threads/program_threads.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <simgrid/s4u.hpp>
#include <utility>
#include <vector>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Number of consecutive idle calls that take no time: more than a loop that does not wait makes. Reduced afterwards,
 * since a rank that has waited in this way will do so again. */
constexpr std::int64_t FREE_AT_FIRST = 10'000;
constexpr std::int64_t FREE_LATER    = 100;
/** Consecutive idle calls per prepaid call, as for polls. */
constexpr std::int64_t IDLE_ADVANCE = 16;

constexpr std::uint64_t mixed_with(std::uint64_t hash, std::uint64_t value)
{
  // splitmix64 (Steele et al., Fast splittable pseudorandom number generators, 2014).
  std::uint64_t mix = (hash ^ value) + 0x9e3779b97f4a7c15;
  mix               = (mix ^ (mix >> 30U)) * 0xbf58476d1ce4e5b9;
  mix               = (mix ^ (mix >> 27U)) * 0x94d049bb133111eb;
  return mix ^ (mix >> 31U);
}

/** Naps that end when simulated time advances next. */
std::vector<Nap*>& naps()
{
  static auto& all = *new std::vector<Nap*>; // leaked, since ranks may outlive static objects
  return all;
}

void wake_all(double /*delta*/)
{
  for (Nap* const nap : std::exchange(naps(), {}))
    nap->wake(1);
}

double duration_of_poll()
{
  static const double DURATION = poll_duration(current_run().fabric);
  return DURATION;
}

/** Nap that any event ends. */
class LightNap {
  Nap nap_;

public:
  explicit LightNap(std::int64_t polls) : nap_(polls, duration_of_poll())
  {
    static const bool HEARS = (sg::Engine::on_time_advance_cb(wake_all), true);
    if (HEARS && polls > 1)
      naps().push_back(&nap_);
  }
  LightNap(const LightNap&)            = delete;
  LightNap& operator=(const LightNap&) = delete;
  ~LightNap() { std::erase(naps(), &nap_); }
  /** Returns the number of polls for which the rank has slept. */
  std::int64_t sleep()
  {
    nap_.sleep();
    return nap_.polls();
  }
};

std::uint64_t messages_started()
{
  const OwnMessages* const messages = OwnMessages::get();
  return messages ? messages->started() : 0;
}

/** Idle calls of a rank. */
class IdleRow {
  static constexpr std::size_t KNOWN = 16;

  double time_           = -1; // of the latest call
  std::int64_t in_a_row_ = 0;
  std::int64_t free_     = FREE_AT_FIRST;
  std::int64_t prepaid_  = 0;
  std::uint64_t started_ = 0; // number of messages started by all ranks
  std::array<std::uint64_t, KNOWN> known_{};
  std::size_t next_ = 0;

public:
  static IdleRow& of_this_rank()
  {
    static auto* const ALL        = new ActorMap<std::unique_ptr<IdleRow>>;
    std::unique_ptr<IdleRow>& row = (*ALL)[calling_actor()];
    if (not row)
      row = std::make_unique<IdleRow>();
    return *row;
  }

  void end()
  {
    in_a_row_ = 0;
    prepaid_  = 0;
    known_.fill(0);
  }

  /** Returns whether the call must be paid for. */
  bool count(std::uint64_t call)
  {
    const double before         = std::exchange(time_, sg::Engine::get_clock());
    const std::uint64_t started = std::exchange(started_, messages_started());
    // Once the rank pays for its calls, other ranks start messages too.
    if (before != time_ || (in_a_row_ <= free_ && started != started_))
      end();
    if (std::ranges::find(known_, call) == known_.end()) {
      in_a_row_     = 0;
      prepaid_      = 0;
      known_[next_] = call;
      next_         = (next_ + 1) % KNOWN;
      return false;
    }
    return ++in_a_row_ > free_ && prepaid_-- <= 0;
  }

  void pay()
  {
    smpi_bench_end(); // so that other ranks' computation is not charged to this one
    LightNap nap(std::max<std::int64_t>(1, (in_a_row_ - free_) / IDLE_ADVANCE));
    prepaid_ = nap.sleep() - 1;
    in_a_row_ -= std::exchange(free_, FREE_LATER) - FREE_LATER;
    current_run().core_noise.pay(Seconds(duration_of_poll()));
    smpi_bench_begin();
    time_ = sg::Engine::get_clock();
  }
};

} // namespace

CallIdentity::CallIdentity(const char* function, std::initializer_list<std::int64_t> arguments)
    : hash_(mixed_with(0, reinterpret_cast<std::uintptr_t>(function)))
{
  for (const std::int64_t argument : arguments)
    hash_ = mixed_with(hash_, static_cast<std::uint64_t>(argument));
}

CallIdentity& CallIdentity::add(const void* buffer, std::int64_t count, MPI_Datatype type)
{
  constexpr std::int64_t MOST = 64; // bytes: flags and counters are smaller
  int size                    = 0;
  MPI_Aint low                = 0;
  MPI_Aint extent             = 0;
  if (not buffer || type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &size) != MPI_SUCCESS ||
      PMPI_Type_get_extent(type, &low, &extent) != MPI_SUCCESS || low != 0 || extent != size)
    return *this;
  const auto* const bytes = static_cast<const std::byte*>(buffer);
  const auto length       = static_cast<std::size_t>(std::min(MOST, count * size));
  for (std::size_t at = 0; at < length; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, std::min(sizeof word, length - at));
    hash_ = mixed_with(hash_, word);
  }
  return *this;
}

bool is_idle(const CallIdentity& call)
{
  return clocks_are_simulated() && IdleRow::of_this_rank().count(call.hash());
}

void pay_for_idle_call()
{
  IdleRow::of_this_rank().pay();
}

void note_call(const CallIdentity& call)
{
  if (is_idle(call))
    pay_for_idle_call();
}

void note_progress()
{
  if (clocks_are_simulated())
    IdleRow::of_this_rank().end();
}

void note_access(const CallIdentity& call, bool writes)
{
  if (writes)
    note_progress();
  else
    note_call(call);
}

bool changes_target(MPI_Op operation)
{
  return operation != MPI_NO_OP && operation != MPI_REPLACE;
}

bool has_swapped(const void* compared, const void* result, MPI_Datatype type)
{
  return CallIdentity("").add(compared, 1, type).hash() == CallIdentity("").add(result, 1, type).hash();
}

} // namespace weft
