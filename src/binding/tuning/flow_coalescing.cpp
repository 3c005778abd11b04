// SPDX-License-Identifier: LGPL-2.1-only
/* Equal messages of many ranks are one flow.
 *
 * SimGrid makes an action for each message, with a variable for its solver that has an element for each link: some
 * 600 bytes, and a part of each solution where others use its links. In a halo exchange the ranks of a host send as
 * many bytes as each other to the ranks of another host at the same instant, and flows that start alike stay alike.
 * Where there are many ranks such messages share the first one's action, which demands as much of its links as all of
 * them:
 *
 *   - A variable's element has a weight, how many bytes its link carries for each of the variable's. That of n messages
 *     is n times that of one; rate, bound and end of the action stay those of one. On links of kind FATPIPE flows
 *     do not slow each other down, and the weight stays (lmm::System::expand in src/kernel/lmm/System.cpp).
 *   - SimGrid takes each action that has ended once, and ends its activity. It is given a shared one once for each
 *     message.
 *   - A message that is cancelled leaves the others. (Nothing of MPI's suspends a rank; SimGrid's own function would
 *     suspend the messages of the others with it.)
 *
 * A message is started as ever, with an action of its own, which is given up then: whatever counts and follows messages
 * is asked about each of them. Times are the same but for rounding. But where several messages end at one instant,
 * ranks go on in another order, so that a rank may find another message first and a call may end earlier or later by
 * what a message costs its receiver: runs of fewer ranks, which can be held against SimGrid alone, have each message
 * apart.
 */
#include "binding/abi/original.hpp"
#include "binding/abi/private_abi.hpp"
#include "binding/platform/fabric_zone.hpp"
#include "binding/settings/settings.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <simgrid/s4u.hpp>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {
namespace {

using simgrid::kernel::activity::ActivityImpl;
using simgrid::kernel::activity::ActivityImplPtr;
using simgrid::kernel::activity::CommImpl;
using simgrid::kernel::lmm::Constraint;
using simgrid::kernel::lmm::System;
using simgrid::kernel::lmm::Variable;
using simgrid::kernel::resource::Action;
using simgrid::kernel::resource::Model;

/** What a variable demands of a link. */
struct Demand {
  Constraint* link;
  double weight;
};

/** What makes two messages equal that start at the same instant. */
struct Likeness {
  const simgrid::s4u::Host* from;
  const simgrid::s4u::Host* to;
  double bytes;
  double bound;
  bool operator==(const Likeness&) const = default;
};

struct HashLikeness {
  std::size_t operator()(const Likeness& one) const
  {
    constexpr std::size_t ODD = 0x9E3779B97F4A7C15U; // of Fibonacci hashing: 2^64 by the golden ratio
    std::size_t hash          = 0;
    for (const std::size_t part : {std::hash<const void*>()(one.from), std::hash<const void*>()(one.to),
                                   std::hash<double>()(one.bytes), std::hash<double>()(one.bound)})
      hash = (hash ^ part) * ODD;
    return hash ^ (hash >> 32U);
  }
};

/** Messages that share an action. */
struct CoalescedMessages {
  std::vector<Demand> demands;         // of one of them
  std::vector<ActivityImplPtr> others; // beside the one that the action knows, in the order in which they started
};

/** An action that has ended, and messages that SimGrid has yet to be told of. */
struct Ending {
  Action* action = nullptr;
  std::vector<ActivityImplPtr> left; // in the end the one to be told of first
};

/** What stands for a message that has left the others, until SimGrid ends it: an action that has failed. */
class Cancelled : public Action {
public:
  explicit Cancelled(Model* model) : Action(model, 1, true) {}
  void update_remains_lazy(double /*now*/) override {}
};

class FlowCoalescing {
  bool one_       = actions_are_shared();
  double instant_ = -1;
  std::unordered_map<Likeness, Action*, HashLikeness> started_; // at that instant; each is held
  std::unordered_map<const Action*, CoalescedMessages> together_;
  std::vector<Demand> demands_; // of the message that starts now
  bool starts_ = false;
  Ending ending_;
  ActivityImplPtr told_;      // the message of it that SimGrid is ending
  std::size_t action_at_ = 0; // in an activity; 0: not known yet

  static ActivityImpl* as_activity(CommImpl* message) { return reinterpret_cast<ActivityImpl*>(message); }
  Action*& action_of(CommImpl* message) const
  {
    return *reinterpret_cast<Action**>(reinterpret_cast<std::byte*>(message) + action_at_);
  }
  void find_action_in(CommImpl* message, const Action* action);
  void demand(Action* action, std::span<const Demand> demands, double sign) const;
  void join(CommImpl* message, Action* own, Action* shared);
  void forget_started();

public:
  static FlowCoalescing& get()
  {
    static auto* const THE_MESSAGES = new FlowCoalescing; // ranks may still end while static objects are destroyed
    return *THE_MESSAGES;
  }

  /** Whether equal messages are one flow in this run. */
  bool are_sought() const { return one_; }
  void begin()
  {
    starts_ = true;
    demands_.clear();
  }
  void note(Constraint* link, double weight)
  {
    if (starts_)
      demands_.push_back({link, weight});
  }
  /** A message has been started, or waits for its other side. */
  void end(CommImpl* message);
  /** It is about to be cancelled. */
  void leave(CommImpl* message);
  /** An action that has ended, with the message of it that SimGrid is to end; null: none. */
  Action* next_ended(Model* model, Action* (*next)(Model*));
};

void FlowCoalescing::find_action_in(CommImpl* message, const Action* action)
{
  constexpr std::size_t WORDS = 32; // an ActivityImpl has some 20
  const std::span words(reinterpret_cast<Action**>(message), WORDS);
  if (action_at_ == 0)
    action_at_ = static_cast<std::size_t>(std::ranges::find(words, action) - words.begin()) * sizeof(Action*);
  if (action_at_ == words.size_bytes() || action_of(message) != action)
    throw std::logic_error("a message of SimGrid's has its action elsewhere than weft thinks; use SimGrid 4.1");
}

void FlowCoalescing::demand(Action* action, std::span<const Demand> demands, double sign) const
{
  System* const system = action->get_model()->get_maxmin_system();
  for (const Demand& one : demands)
    system->expand(one.link, action->get_variable(), sign * one.weight, false);
}

void FlowCoalescing::forget_started()
{
  for (const auto& [likeness, action] : std::exchange(started_, {}))
    action->unref();
}

void FlowCoalescing::end(CommImpl* message)
{
  starts_                                   = false;
  const std::optional<LatestMessage> latest = FabricZone::take_latest_message();
  if (not latest)
    return;
  Action* const own = latest_action(*latest->model);
  if (not own || own->get_activity() != as_activity(message) || own->is_suspended()) // it has failed at once, for one
    return;
  find_action_in(message, own);
  if (const double now = simgrid::s4u::Engine::get_clock(); now != instant_) {
    forget_started();
    instant_ = now;
  }
  const auto [at, is_first] =
      started_.try_emplace({latest->from, latest->to, latest->bytes, own->get_user_bound()}, own);
  if (is_first)
    own->ref();
  else
    join(message, own, at->second);
}

void FlowCoalescing::join(CommImpl* message, Action* own, Action* shared)
{
  CoalescedMessages& all = together_[shared];
  if (all.demands.empty())
    all.demands = demands_;
  all.others.emplace_back(shared->get_activity());
  shared->set_activity(own->get_activity());
  shared->ref();
  action_of(message) = shared;
  own->unref();
  demand(shared, all.demands, 1);
}

// The action knows one of them. It is given another one where that leaves.
void FlowCoalescing::leave(CommImpl* message)
{
  if (action_at_ == 0 || not action_of(message))
    return;
  const ActivityImplPtr kept(as_activity(message)); // it may be these lists alone that keep it
  Action* const shared = action_of(message);
  if (const auto found = together_.find(shared); found != together_.end() && not found->second.others.empty()) {
    std::vector<ActivityImplPtr>& others = found->second.others;
    const auto it                        = std::ranges::find(others, as_activity(message), &ActivityImplPtr::get);
    if (it == others.end()) {
      shared->set_activity(others.back().get());
      others.pop_back();
    } else {
      others.erase(it);
    }
    demand(shared, found->second.demands, -1);
    if (others.empty())
      together_.erase(found);
  } else if (std::erase(ending_.left, as_activity(message)) == 0) {
    forget_started(); // it is alone, and may end the action
    return;
  }
  auto* const cancelled = new Cancelled(shared->get_model()); // the message owns it
  cancelled->set_activity(as_activity(message));
  action_of(message) = cancelled;
  shared->unref();
}

Action* FlowCoalescing::next_ended(Model* model, Action* (*next)(Model*))
{
  told_.reset(); // SimGrid has ended it
  if (ending_.left.empty()) {
    Action* const ended = next(model);
    if (not ended)
      return nullptr;
    forget_started();
    const auto found = together_.find(ended);
    if (found == together_.end())
      return ended;
    ending_.action = ended;
    ending_.left   = std::move(found->second.others);
    ending_.left.emplace_back(ended->get_activity());
    std::ranges::reverse(ending_.left);
    together_.erase(found);
  }
  ending_.action->set_activity(ending_.left.back().get());
  told_ = std::move(ending_.left.back());
  ending_.left.pop_back();
  return ending_.action;
}

} // namespace
} // namespace weft

namespace simgrid::kernel {

WEFT_INTERPOSED activity::CommImpl* activity::CommImpl::start()
{
  static const auto THEIRS  = weft::original<CommImpl* (*)(CommImpl*)>("_ZN7simgrid6kernel8activity8CommImpl5startEv");
  weft::FlowCoalescing& all = weft::FlowCoalescing::get();
  if (not all.are_sought())
    return THEIRS(this);
  all.begin();
  THEIRS(this);
  all.end(this);
  return this;
}

WEFT_INTERPOSED void activity::CommImpl::cancel()
{
  static const auto THEIRS = weft::original<void (*)(CommImpl*)>("_ZN7simgrid6kernel8activity8CommImpl6cancelEv");
  weft::FlowCoalescing::get().leave(this);
  THEIRS(this);
}

WEFT_INTERPOSED void lmm::System::expand(Constraint* link, Variable* variable, double weight, bool anew)
{
  static const auto THEIRS = weft::original<void (*)(System*, Constraint*, Variable*, double, bool)>(
      "_ZN7simgrid6kernel3lmm6System6expandEPNS1_10ConstraintEPNS1_8VariableEdb");
  weft::FlowCoalescing::get().note(link, weight);
  THEIRS(this, link, variable, weight, anew);
}

WEFT_INTERPOSED resource::Action* resource::Model::extract_done_action()
{
  static const auto THEIRS =
      weft::original<Action* (*)(Model*)>("_ZN7simgrid6kernel8resource5Model19extract_done_actionEv");
  return weft::FlowCoalescing::get().next_ended(this, THEIRS);
}

WEFT_INTERPOSED resource::Action* resource::Model::extract_failed_action()
{
  static const auto THEIRS =
      weft::original<Action* (*)(Model*)>("_ZN7simgrid6kernel8resource5Model21extract_failed_actionEv");
  return weft::FlowCoalescing::get().next_ended(this, THEIRS);
}

} // namespace simgrid::kernel
