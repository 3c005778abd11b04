// SPDX-License-Identifier: LGPL-2.1-only
/* Coalesces equal messages of many ranks into one flow.
 *
 * SimGrid creates an action for each message, whose solver variable has one element per link: some 600 bytes, plus time
 * in every solution in which other traffic uses its links. In a halo
 * exchange, the ranks of a host send equal numbers of bytes to the ranks of another host at the
 * same instant, and equal flows that start together stay equal. In runs with many ranks, such messages share the action
 * of the first, which then loads its links as much as all of them:
 *
 *   - An element's weight is the number of bytes that its link carries per byte of the variable.
 *     The weight for n messages is n times that of one; rate, bound and end of the action remain
 *     those of one. On FATPIPE links flows do not slow each other down, and the weight stays as is
 *     (lmm::System::expand in src/kernel/lmm/System.cpp).
 *   - SimGrid extracts each finished action once and ends its activity. A shared action is
 *     returned once per message.
 *   - Cancelling one message leaves the others running. (MPI never suspends a rank; SimGrid's own
 *     suspend function would also suspend the other messages.)
 *
 * Each message still starts with an action of its own, which is then discarded, so that all code that counts or tracks
 * messages still sees each of them. Times are equal up to rounding. But
 * when several messages end at the same instant, ranks resume in a different order, so that a rank
 * may match a different message first and a call may end earlier or later by the receiver's cost
 * of one message. Runs with fewer ranks, which can be compared with plain SimGrid, therefore do
 * not coalesce messages.
 */
#include "binding/abi/kernel/activities.hpp"
#include "binding/abi/kernel/network_actions.hpp"
#include "binding/abi/original.hpp"
#include "binding/platform/fabric_zone.hpp"
#include "binding/settings/settings.hpp"
#include "binding/settings/tunings.hpp"

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

/** Load of a variable on a link. */
struct Demand {
  Constraint* link;
  double weight;
};

/** Key under which messages that start at the same instant are equal. */
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
    constexpr std::size_t ODD = 0x9E3779B97F4A7C15U; // Fibonacci hashing: 2^64 divided by the golden ratio
    std::size_t hash          = 0;
    for (const std::size_t part : {std::hash<const void*>()(one.from), std::hash<const void*>()(one.to),
                                   std::hash<double>()(one.bytes), std::hash<double>()(one.bound)})
      hash = (hash ^ part) * ODD;
    return hash ^ (hash >> 32U);
  }
};

/** Messages that share an action. */
struct CoalescedMessages {
  std::vector<Demand> demands;         // load of one message
  std::vector<ActivityImplPtr> others; // all except the message to which the action refers, in starting order
};

/** Finished action, and those of its messages that SimGrid has yet to end. */
struct Ending {
  Action* action = nullptr;
  std::vector<ActivityImplPtr> left; // in reverse: the last element ends first
};

/** Failed action that stands in for a cancelled message until SimGrid ends the message. */
class Cancelled : public Action {
public:
  explicit Cancelled(Model* model) : Action(model, 1, true) {}
  void update_remains_lazy(double /*now*/) override {}
};

class FlowCoalescing {
  bool one_       = is_on(TuningId::message_coalescing) && actions_are_shared();
  double instant_ = -1;
  std::unordered_map<Likeness, Action*, HashLikeness>
      started_; // actions started at instant_; holds a reference to each
  std::unordered_map<const Action*, CoalescedMessages> together_;
  std::vector<Demand> demands_; // load of the message that is starting
  bool starts_ = false;
  Ending ending_;
  ActivityImplPtr told_;      // message of ending_ that SimGrid is ending
  std::size_t action_at_ = 0; // offset in an activity; 0: not known yet

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
    static auto* const THE_MESSAGES = new FlowCoalescing; // leaked, since ranks may end during static destruction
    return *THE_MESSAGES;
  }

  /** True if this run coalesces equal messages. */
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
  /** Called after a message has started, or has begun to wait for its peer. */
  void end(CommImpl* message);
  /** Called before a message is cancelled. */
  void leave(CommImpl* message);
  /** Returns a finished action that refers to the message that SimGrid is to end; null: none. */
  Action* next_ended(Model* model, Action* (*next)(Model*));
};

void FlowCoalescing::find_action_in(CommImpl* message, const Action* action)
{
  constexpr std::size_t WORDS = 32; // an ActivityImpl has some 20
  const std::span words(reinterpret_cast<Action**>(message), WORDS);
  if (action_at_ == 0)
    action_at_ = static_cast<std::size_t>(std::ranges::find(words, action) - words.begin()) * sizeof(Action*);
  if (action_at_ == words.size_bytes() || action_of(message) != action)
    throw std::logic_error("the layout of messages in this SimGrid is unknown to weft; use SimGrid 4.1");
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
  if (not own || own->get_activity() != as_activity(message) ||
      own->is_suspended()) // for instance, it failed immediately
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

// The action refers to one of its messages, so it gets another one if that message leaves.
void FlowCoalescing::leave(CommImpl* message)
{
  if (action_at_ == 0 || not action_of(message))
    return;
  const ActivityImplPtr kept(as_activity(message)); // these lists may hold the only reference
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
    forget_started(); // it is the only message, and may end the action
    return;
  }
  auto* const cancelled = new Cancelled(shared->get_model()); // owned by the message
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
