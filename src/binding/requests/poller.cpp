// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/requests/poller.hpp"

#include "binding/ranks/actor_map.hpp"
#include "binding/ranks/current.hpp"
#include "binding/threads/simulated_thread.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <unordered_map>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Consecutive failed polls per prepaid poll. */
constexpr std::int64_t ADVANCE = 16;

/** Naps by the activity or request that may end them early. */
std::unordered_multimap<const void*, Nap*>& watchers()
{
  static auto* const ALL = new std::unordered_multimap<const void*, Nap*>; // ranks may outlive static objects
  return *ALL;
}

ActorMap<std::unique_ptr<Poller>>& pollers()
{
  static auto* const ALL = new ActorMap<std::unique_ptr<Poller>>;
  return *ALL;
}

} // namespace

Poller& Poller::of_this_rank(RunContext& context)
{
  std::unique_ptr<Poller>& poller = pollers()[calling_actor()];
  if (not poller)
    poller = std::make_unique<Poller>(context);
  return *poller;
}

void Poller::watch(const void* activity)
{
  if (next_watched_ >= watched_.size())
    next_watched_ = 0;
  if (next_watched_ < watched_.size() && watched_[next_watched_] == activity) {
    ++next_watched_;
    return;
  }
  const auto found = std::ranges::find(watched_, activity);
  next_watched_    = static_cast<std::size_t>(found - watched_.begin()) + 1;
  if (found == watched_.end())
    watched_.push_back(activity);
}

void Poller::nap(std::int64_t polls, bool watch)
{
  struct Asleep {
    Poller& poller;
    Nap nap;
    bool watches;
    Asleep(Poller& its_poller, std::int64_t polls, bool watch)
        : poller(its_poller), nap(polls, its_poller.duration_), watches(watch)
    {
      poller.nap_ = &nap;
      for (const void* activity : watched())
        watchers().emplace(activity, &nap);
    }
    Asleep(const Asleep&)            = delete;
    Asleep& operator=(const Asleep&) = delete;
    ~Asleep()
    {
      poller.nap_ = nullptr;
      for (const void* activity : watched()) {
        const auto [first, last] = watchers().equal_range(activity);
        watchers().erase(std::find_if(first, last, [this](const auto& entry) { return entry.second == &nap; }));
      }
    }
    std::span<const void* const> watched() const
    {
      return watches ? std::span(poller.watched_) : std::span<const void* const>();
    }
  } asleep(*this, polls, watch);
  asleep.nap.sleep();
  prepaid_ = asleep.nap.polls() - 1;
}

bool Poller::pay()
{
  ++in_a_row_;
  if (prepaid_ > 0) {
    --prepaid_;
    return true;
  }
  const std::int64_t polls = std::max<std::int64_t>(1, in_a_row_ / ADVANCE);
  for_messages_            = not probed_.empty();
  smpi_bench_end(); // so that other ranks' computation is not charged to this one
  nap(polls, polls > 1);
  const bool paid = prepaid_ >= 0;
  if (paid) {
    noise_.pay(Seconds(duration_));
  } else {
    prepaid_ = 0;
    --in_a_row_;
  }
  smpi_bench_begin();
  last_ = sg::Engine::get_clock();
  return paid;
}

void Poller::await_message(unsigned messages)
{
  if (messages != messages_)
    return;
  for_messages_ = true;
  nap(0, false);
  end_row();
}

void wake_watchers(const void* watched)
{
  if (watchers().empty())
    return;
  const auto [first, last] = watchers().equal_range(watched);
  std::for_each(first, last, [](const auto& entry) { entry.second->wake(1); });
}

void tell_receiver(aid_t receiver)
{
  const auto tell = [](aid_t actor) {
    if (const auto* const poller = pollers().find(actor); poller && *poller)
      (*poller)->message_sent();
  };
  tell(receiver);
  for (const aid_t thread : threads_of_rank(receiver))
    tell(thread);
}

} // namespace weft
