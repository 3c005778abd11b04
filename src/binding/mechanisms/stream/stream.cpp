// SPDX-License-Identifier: LGPL-2.1-only
/* Stream granularity: ranks contribute and sleep; the last contribution starts the flows of all tree switches
 * (collective/in_network/stream_execution.hpp); the last flow's end wakes all ranks. */
#include "binding/mechanisms/stream/stream.hpp"

#include "binding/mechanisms/tree_mechanism.hpp"
#include "binding/mechanisms/tree_offload.hpp"
#include "collective/host/prediction.hpp"
#include "collective/in_network/stream_execution.hpp"
#include "collective/in_network/stream_jitter.hpp"
#include "collective/in_network/stream_packets.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
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

/** Returns the number of trees over which a call is divided. */
std::size_t trees_of(const Fabric& fabric, const CommunicatorTree& all, const TreeCall& call)
{
  if (all.others.empty())
    return 1;
  const Bytes payload = fabric.switch_model(all.tree->switches.front().index).payload;
  return static_cast<std::size_t>(trees_for(call, payload, static_cast<int>(all.trees())));
}

class StreamCall : public TreeOffload, StreamOwner, Due, BreakableCall {
  StreamExecution execution_;
  int ready_ = 0; // members that are ready
  Seconds start_; // time of the last contribution

  // Only in runs with faults:
  double begun_ = 0;                    // time at which the flows started
  double hit_   = 0;                    // time of the last fault that hit it
  double part_  = 1;                    // remaining fraction of the call
  int timeouts_ = 0;                    // timeouts since the last hit
  std::shared_ptr<OffloadedCall> kept_; // itself, while it waits for timeouts
  int waits_ = 0;

public:
  StreamCall(RunContext& context, const std::shared_ptr<Communicator>& communicator, const CallDescriptor& call)
      : TreeOffload(context, communicator, call), execution_(state_.service(), *this, call_)
  {
  }

protected:
  bool all_end_together() const override
  {
    return communicator_->members() == communicator_->size() && not context_.call_recovery;
  }
  void member_ready(int) override
  {
    if (++ready_ != communicator_->members())
      return;
    start_ = Seconds(sg::Engine::get_clock());
    start();
  }
  void broken(const FlowResult& result) override { stop(result.left, result.failure); }

private:
  std::string collective() const override { return descriptor_->name(); }
  FlowEnd when_arrived(std::function<void()> next) override { return arrival(std::move(next)); }
  std::shared_ptr<void> keep() override { return shared_from_this(); }

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
    std::vector<StreamExecution::Share> shares;
    shares.reserve(trees_);
    for (std::size_t number = 0; number < trees_; ++number)
      shares.push_back(plan_share(number));
    begun_ = sg::Engine::get_clock();
    if (recovery())
      recovery()->running.push_back(this);
    execution_.start(std::move(shares), part_, start_);
  }

  /** Plans the share of a tree. */
  StreamExecution::Share plan_share(std::size_t number)
  {
    TreeCall call = state_.under_contention(tree(number), divided(call_, static_cast<int>(trees_)));
    if (recovery())
      call.stall = mean_stall(tree(number), *recovery());
    const auto plan = state_.plan(tree(number), number, call, host_work_.rate * (1.0 / static_cast<double>(trees_)));
    state_.lock(tree(number), call);
    return {&tree(number), plan, plan->base_latency + jitter(number), call.passed_on};
  }

  void stream_ended() override
  {
    if (recovery())
      recovery()->end(*this);
    for (int member = 0; member < communicator_->members(); ++member)
      member_done(member);
  }

  /* Faults. */

  void lose_state(int device) override
  {
    if (execution_.uses(device))
      stop(0, "switch " + context_.fabric.topology().switch_name(device) + " has lost its state");
  }

  /** Stops the flows. Of data that the network has completed, at least the fraction @p left has not arrived. */
  void stop(double left, const std::string& why)
  {
    left = execution_.stop(left);
    recovery()->end(*this);
    ++recovery()->broken;
    hit_      = sg::Engine::get_clock();
    timeouts_ = 0;
    if (recovery()->policy == CallPolicy::abort) {
      give_up(hit_, why);
      return;
    }
    part_ = recovery()->policy == CallPolicy::resend ? execution_.rest(left) : 1;
    wait();
  }

  void wait()
  {
    kept_ = shared_from_this();
    ++waits_;
    context_.host_network().call_after(recovery()->model.timeout_after(timeouts_), *this, 0);
  }

  void due(std::uint64_t /*what*/) override
  {
    const auto self = kept_;
    if (--waits_ == 0)
      kept_ = nullptr;
    go_on_if_possible();
  }

  void go_on_if_possible()
  {
    ++timeouts_;
    switch (recovery()->after_timeout(
        timeouts_, recovery()->policy == CallPolicy::hosts, [this] { return find_tree(); },
        [this] { return tree_is_up(); })) {
      case AfterTimeout::hosts:
        repeat_on_hosts(hit_, lost_since());
        break;
      case AfterTimeout::again:
        count_restart(hit_, lost_since());
        start();
        break;
      case AfterTimeout::give_up:
        give_up(hit_, "an offloaded " + descriptor_->name() + " cannot go on: " + recovery()->model.timeouts());
        break;
      case AfterTimeout::wait:
        wait();
        break;
    }
  }

  /** Returns the time since which progress is lost. */
  double lost_since() { return recovery()->policy == CallPolicy::resend ? hit_ : begun_; }
};

/** Returns whether a network of packets carries what all switches combine: packets of best-effort slots need a server,
 * and larger ones than the network's may find no buffer. */
bool send_packets(const Fabric& fabric)
{
  for (int index = 0; index < fabric.switch_count(); ++index)
    if (const SwitchModel& model = fabric.switch_model(index);
        model.smart() && (model.channel_sharing == ChannelSharing::best_effort ||
                          model.payload + model.packet_overhead > fabric.packets().packet))
      return false;
  return true;
}

class Stream : public TreeMechanism {
  const bool sends_packets_;

  std::shared_ptr<OffloadedCall> make(const std::shared_ptr<Communicator>& communicator,
                                      const CallDescriptor& call) override
  {
    return std::make_shared<StreamCall>(context_, communicator, call);
  }

public:
  explicit Stream(RunContext& context)
      : TreeMechanism(mechanism_kind("stream"), context), sends_packets_(send_packets(context.fabric))
  {
  }

  bool as_packets(const CallDescriptor& call) const override;
  bool predicts() const override { return true; }
  Seconds predicted(Communicator& communicator, const CallDescriptor& call, int calls) override;
};

bool Stream::as_packets(const CallDescriptor& call) const
{
  const auto& faults      = context_.call_recovery;
  const bool loses        = context_.fabric.packets().flow_control == FlowControl::none || faults;
  const Movement movement = movement_on_trees(call, context_.fabric.nic());
  if (not sends_packets_ || (faults && not faults->only_degrades))
    return false;
  return has_packets(movement) && (not loses || can_resend(movement));
}

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
  // A stream ends on all ranks at once, so consecutive streams do not overlap.
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
