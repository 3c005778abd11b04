// SPDX-License-Identifier: LGPL-2.1-only
/* Stream granularity: ranks contribute and sleep; the last contribution starts the flows of all
 * tree switches; the last flow's end wakes all ranks. */
#include "binding/mechanisms/stream/stream.hpp"

#include "binding/mechanisms/tree_mechanism.hpp"
#include "binding/mechanisms/tree_offload.hpp"
#include "collective/host/prediction.hpp"
#include "collective/in_network/stream_jitter.hpp"
#include "model/switch/streaming.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Number of streams that a communicator has started, which selects their jitter. */
struct StreamState : CommunicatorState {
  std::uint32_t calls = 0;
};

/** Returns the number of trees among which a call is divided. */
std::size_t trees_of(const Fabric& fabric, const CommunicatorTree& all, const TreeCall& call)
{
  if (all.others.empty())
    return 1;
  const Bytes payload = fabric.switch_model(all.tree->switches.front().index).payload;
  return static_cast<std::size_t>(trees_for(call, payload, static_cast<int>(all.trees())));
}

class StreamCall : public TreeOffload, Due, BreakableCall {
  /** Part of the call that one of its trees carries. */
  struct Share {
    std::shared_ptr<const StreamPlan> plan;
    double passed_on = 0;
  };
  std::vector<Share> shares_; // by tree
  int ready_    = 0;          // members
  int flows_    = 0;          // unfinished
  double start_ = 0;

  // In runs with faults.
  static constexpr std::uint64_t ENDED = ~std::uint64_t{0};
  static constexpr std::uint64_t HIT   = ~std::uint64_t{0}; // in the agenda; other entries are attempts
  std::vector<std::uint64_t> numbers_;                      // of the flows, for their cancellation; ENDED
  double part_           = 1;                               // part of the call that the flows carry
  double begun_          = 0;                               // time at which the flows started
  double hit_            = 0;                               // time of the last hit
  int timeouts_          = 0;                               // since the last hit
  std::uint64_t attempt_ = 0;                               // number of hits
  std::shared_ptr<OffloadedCall> kept_;                     // itself, while there are events
  int events_ = 0;                                          // entries in the agenda

public:
  using TreeOffload::TreeOffload;

protected:
  bool all_end_together() const override
  {
    return communicator_->members() == communicator_->size() && not context_.call_recovery;
  }
  void member_ready(int) override
  {
    if (++ready_ != communicator_->members())
      return;
    start_ = sg::Engine::get_clock();
    start();
  }
  void broken(const FlowResult& result) override { stop(result.left, result.failure); }

private:
  /** Returns the part of a vector that each tree combines. */
  Bytes vector() const { return call_.movement.combines ? call_.message / static_cast<double>(trees_) : Bytes(); }

  template <class Use> void for_each_switch(Use&& use) const
  {
    for (std::size_t number = 0; number < trees_; ++number)
      for (const TreeSwitch& node : tree(number).switches)
        use(node);
  }

  /** Returns the jitter to add to the base latency of a tree. */
  Seconds jitter(std::size_t number)
  {
    const auto& noise = context_.fabric.noise();
    if (not noise || noise->links.empty())
      return {};
    const std::uint32_t drawn =
        communicator_->state<StreamState>([] { return std::make_unique<StreamState>(); }).calls++;
    return stream_jitter(tree(number), call_, Jitter(*noise), static_cast<std::uint32_t>(communicator_->handle), drawn);
  }

  void start()
  {
    trees_ = trees_of(context_.fabric, *kept_tree_, call_);
    shares_.clear();
    std::vector<Seconds> latencies(trees_);
    for (std::size_t number = 0; number < trees_; ++number)
      latencies[number] = plan_share(number);
    begun_ = sg::Engine::get_clock();
    if (recovery())
      recovery()->running.push_back(this);
    for (std::size_t number = 0; number < trees_; ++number)
      start_share(number, latencies[number]);
  }

  /** Plans what a tree carries; returns its base latency. */
  Seconds plan_share(std::size_t number)
  {
    TreeCall call = state_.under_contention(tree(number), divided(call_, static_cast<int>(trees_)));
    if (recovery())
      call.stall = stall(number);
    const auto plan = state_.plan(tree(number), number, call, host_work_.rate * (1.0 / static_cast<double>(trees_)));
    shares_.push_back({plan, call.passed_on});
    state_.lock(tree(number), call);
    for (const SwitchPlan& its : plan->switches)
      flows_ += static_cast<int>(its.flows.size());
    return plan->base_latency + jitter(number);
  }

  void start_share(std::size_t number, Seconds latency)
  {
    const auto [plan, passed_on] = shares_[number]; // kept: the last flow may end at once
    for (std::size_t position = 0; position < plan->switches.size(); ++position) {
      state_.aggregation(tree(number).switches[position]).begin(vector(), passed_on);
      for (const StreamFlow& flow : plan->switches[position].flows)
        if (recovery())
          start_breakable(flow, latency, number);
        else
          context_.host_network().start_flow(flow, latency, tree(number).forwarding, communicator_->world,
                                             arrival([this] {
                                               if (--flows_ == 0)
                                                 finish();
                                             }));
    }
  }

  void start_breakable(StreamFlow flow, Seconds latency, std::size_t number)
  {
    const std::size_t at = numbers_.size();
    numbers_.push_back(ENDED);
    flow.wire = flow.wire * part_;
    for (FlowLink& its : flow.links)
      its.wire = its.wire * part_;
    numbers_[at] = context_.host_network().start_breakable_flow(flow, latency, tree(number).forwarding,
                                                                communicator_->world, arrival([this, at] {
                                                                  numbers_[at] = ENDED;
                                                                  if (--flows_ == 0)
                                                                    await_last_packets();
                                                                }));
  }

  void finish()
  {
    const double now = sg::Engine::get_clock();
    for (std::size_t number = 0; number < trees_; ++number)
      for (std::size_t position = 0; position < tree(number).switches.size(); ++position) {
        const SwitchPlan& its  = shares_[number].plan->switches[position];
        const TreeSwitch& node = tree(number).switches[position];
        state_.aggregation(node).end(vector(), its.reduced, its.multicast, shares_[number].passed_on);
        context_.record.count_on_switch(communicator_->world, node.index, its.reduced, its.multicast);
        context_.record.add_event({node.index, communicator_->id, descriptor_->name(), communicator_->size(),
                                   call_.message.value() / static_cast<double>(trees_), start_, now});
      }
    if (recovery())
      recovery()->end(*this);
    for (int member = 0; member < communicator_->members(); ++member)
      member_done(member);
  }

  /* Faults. */

  /** Returns the probability that a packet is lost on some link of a tree, up or down. */
  double lost(std::size_t number) const
  {
    std::vector<int> links;
    for (const TreeSwitch& node : tree(number).switches)
      for (const TreeLink& link : node.links)
        links.insert(links.end(), {link.up, reverse(link.up)});
    return context_.call_recovery->losses.lost(links);
  }

  /** Returns the mean time that the packets of a slot wait for retransmissions. */
  Seconds stall(std::size_t number) const
  {
    const double probability = context_.call_recovery->losses.any() ? lost(number) : 0;
    return context_.call_recovery->model.timeout * (probability / (1 - probability));
  }

  /** Waits until the last packet of every slot has been sent often enough to arrive. */
  void await_last_packets()
  {
    const int times = recovery()->losses.any() ? transmissions() : 1;
    if (times == 1) {
      finish();
      return;
    }
    call_after(recovery()->model.time_of(times - 1), attempt_);
  }

  /** Draws how often the last packets are sent: at most r times with the product of (1 - p^r)^slots over the trees as
   * probability. */
  int transmissions()
  {
    std::vector<std::pair<double, double>> trees; // probability of a loss, slots
    for (std::size_t number = 0; number < trees_; ++number) {
      double slots = 1;
      for (const TreeSwitch& node : tree(number).switches)
        if (const SwitchModel& model = context_.fabric.switch_model(node.index); not call_.streams_through(model))
          slots = std::max(slots, static_cast<double>(packet_train(model, call_.message).slots));
      trees.emplace_back(lost(number), slots);
    }
    if (std::ranges::all_of(trees, [](const auto& its) { return its.first <= 0; }))
      return 1;
    const auto at_most = [&trees](int times) {
      double all = 1;
      for (const auto& [probability, slots] : trees)
        all *= std::pow(1 - std::pow(probability, times), slots);
      return all;
    };
    const double drawn = recovery()->losses.draw();
    int times          = 1;
    while (drawn >= at_most(times))
      ++times;
    return times;
  }

  void lose_state(int device) override
  {
    bool its = false;
    for_each_switch([&](const TreeSwitch& node) { its = its || node.index == device; });
    if (its)
      stop(0, "switch " + context_.fabric.topology().switch_name(device) + " has lost its state");
  }

  /** Stops the flows. At least @p left of those that it does not know any more has not arrived. */
  void stop(double left, const std::string& why)
  {
    HostNetwork& network = context_.host_network();
    for (const std::uint64_t number : std::exchange(numbers_, {}))
      if (number != ENDED)
        left = std::max(left, network.cancel_flow(number));
    flows_ = 0;
    for (std::size_t number = 0; number < trees_; ++number)
      for (const TreeSwitch& node : tree(number).switches)
        state_.aggregation(node).abandon(vector(), shares_[number].passed_on);
    recovery()->end(*this);
    ++recovery()->broken;
    ++attempt_;
    hit_      = sg::Engine::get_clock();
    timeouts_ = 0;
    if (recovery()->policy == CallPolicy::abort) {
      give_up(hit_, why);
      return;
    }
    part_ = recovery()->policy == CallPolicy::resend ? rest(part_ * left) : 1;
    wait();
  }

  /** Returns the part of the call that follows its last complete window, if @p left has not arrived. */
  double rest(double left) const
  {
    double windows = 1; // windows in the vector
    for_each_switch([&](const TreeSwitch& node) {
      if (const Bytes window = context_.fabric.switch_model(node.index).window(); window > Bytes())
        windows = std::max(windows, vector() / window);
    });
    return part_after_complete_windows(windows, left);
  }

  void wait() { call_after(recovery()->model.timeout_after(timeouts_), HIT); }

  void call_after(Seconds delay, std::uint64_t what)
  {
    kept_ = shared_from_this();
    ++events_;
    context_.host_network().call_after(delay, *this, what);
  }

  void due(std::uint64_t what) override
  {
    const auto self = kept_;
    if (--events_ == 0)
      kept_ = nullptr;
    if (what == HIT)
      go_on_if_possible();
    else if (what == attempt_) // otherwise it has been hit since
      finish();
  }

  void go_on_if_possible()
  {
    ++timeouts_;
    if (recovery()->policy == CallPolicy::hosts || not find_tree())
      repeat_on_hosts(hit_, lost_since());
    else if (tree_is_up())
      go_on();
    else if (timeouts_ > recovery()->model.retries)
      give_up(hit_, "an offloaded " + descriptor_->name() + " cannot go on: " + recovery()->model.timeouts());
    else
      wait();
  }

  void go_on()
  {
    count_restart(hit_, lost_since());
    start();
  }

  /** Returns the time since which what was done is lost. */
  double lost_since() { return recovery()->policy == CallPolicy::resend ? hit_ : begun_; }
};

class Stream : public TreeMechanism {
  std::shared_ptr<OffloadedCall> make(const std::shared_ptr<Communicator>& communicator,
                                      const CallDescriptor& call) override
  {
    return std::make_shared<StreamCall>(context_, communicator, call);
  }

public:
  explicit Stream(RunContext& context) : TreeMechanism(mechanism_kind("stream"), context) {}

  bool predicts() const override { return true; }
  Seconds predicted(Communicator& communicator, const CallDescriptor& call, int calls) override;
};

Seconds Stream::predicted(Communicator& communicator, const CallDescriptor& call, int calls)
{
  const Fabric& fabric      = context_.fabric;
  TreeState& state          = tree_state(context_, communicator);
  const TreeCall load       = tree_call(call, communicator.all_members(), call.part_sizes(), fabric.nic());
  const auto tree           = state.tree();
  const std::size_t trees   = trees_of(fabric, *tree, load);
  const TreeCall share      = divided(load, static_cast<int>(trees));
  const BytesPerSecond rate = host_work(fabric, *tree, call).rate * (1.0 / static_cast<double>(trees));
  Seconds duration;
  for (std::size_t number = 0; number < trees; ++number) {
    const ReductionTree& its = tree->at(number);
    duration = std::max(duration, state.plan(its, number, state.under_contention(its, share), rate)->duration());
  }
  // A stream ends for all ranks at once, so consecutive streams do not overlap.
  if (communicator.members() == communicator.size())
    return duration;
  return predicted_staged_interval(fabric, context_.costs(), communicator.rank_hosts, communicator.all_members(),
                                   context_.stage_algorithms, host_stage_call(call), duration, calls);
}

} // namespace

std::unique_ptr<Mechanism> make_stream(RunContext& context)
{
  return std::make_unique<Stream>(context);
}

} // namespace weft
