// SPDX-License-Identifier: LGPL-2.1-only
/* Stream granularity: ranks contribute and sleep; the last contribution starts the flows of all
 * tree switches; the last flow's end wakes all ranks. */
#include "binding/mechanisms/stream/stream.hpp"

#include "binding/mechanisms/tree_mechanism.hpp"
#include "binding/mechanisms/tree_offload.hpp"
#include "collective/host/prediction.hpp"
#include "collective/in_network/stream_jitter.hpp"

#include <cstdint>
#include <memory>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Number of streams that a communicator has started, which selects their jitter. */
struct StreamState : CommunicatorState {
  std::uint32_t calls = 0;
};

class StreamCall : public TreeOffload {
  std::shared_ptr<const StreamPlan> plan_;
  double passed_on_ = 0;
  int ready_        = 0; // members
  int flows_        = 0; // unfinished
  double start_     = 0;

public:
  using TreeOffload::TreeOffload;

protected:
  bool all_end_together() const override { return communicator_->members() == communicator_->size(); }
  void member_ready(int) override
  {
    if (++ready_ == communicator_->members())
      start();
  }

private:
  Bytes vector() const { return call_.movement.combines ? call_.message : Bytes(); }

  /** Returns the jitter to add to the base latency. */
  Seconds jitter()
  {
    const auto& noise = context_.fabric.noise();
    if (not noise || noise->links.empty())
      return {};
    const std::uint32_t number =
        communicator_->state<StreamState>([] { return std::make_unique<StreamState>(); }).calls++;
    return stream_jitter(tree_, call_, Jitter(*noise), static_cast<std::uint32_t>(communicator_->handle), number);
  }

  void start()
  {
    start_                = sg::Engine::get_clock();
    const TreeCall call   = state_.under_contention(tree_, call_);
    plan_                 = state_.plan(tree_, call, host_work_.rate);
    const Seconds latency = plan_->base_latency + jitter();
    passed_on_            = call.passed_on;
    state_.lock(tree_, call);
    for (const SwitchPlan& its : plan_->switches)
      flows_ += static_cast<int>(its.flows.size());
    for (std::size_t position = 0; position < plan_->switches.size(); ++position) {
      state_.aggregation(tree_.switches[position]).begin(vector(), passed_on_);
      for (const StreamFlow& flow : plan_->switches[position].flows)
        context_.host_network().start_flow(flow, latency, tree_.forwarding, communicator_->world, arrival([this] {
                                             if (--flows_ == 0)
                                               finish();
                                           }));
    }
  }

  void finish()
  {
    const double now = sg::Engine::get_clock();
    for (std::size_t position = 0; position < plan_->switches.size(); ++position) {
      const SwitchPlan& its = plan_->switches[position];
      state_.aggregation(tree_.switches[position]).end(vector(), its.reduced, its.multicast, passed_on_);
      context_.record.count_on_switch(communicator_->world, tree_.switches[position].index, its.reduced, its.multicast);
      context_.record.add_event({tree_.switches[position].index, communicator_->id, descriptor_->name(),
                                 communicator_->size(), call_.message.value(), start_, now});
    }
    for (int member = 0; member < communicator_->members(); ++member)
      member_done(member);
  }
};

class Stream : public TreeMechanism {
  bool needs_shared_memory(const CallDescriptor& call) const override { return not call.blocking; }
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
  const Fabric& fabric = context_.fabric;
  TreeState& state     = tree_state(context_, communicator);
  const TreeCall load  = tree_call(call, communicator.all_members(), call.part_sizes(), fabric.nic());
  const auto tree      = state.tree();
  const auto plan =
      state.plan(*tree->tree, state.under_contention(*tree->tree, load), host_work(fabric, *tree, call).rate);
  // A stream ends for all ranks at once, so consecutive streams do not overlap.
  if (communicator.members() == communicator.size())
    return plan->duration();
  return predicted_staged_interval(fabric, context_.costs(), communicator.rank_hosts, communicator.all_members(),
                                   context_.stage_algorithms, host_stage_call(call), plan->duration(), calls);
}

} // namespace

std::unique_ptr<Mechanism> make_stream(RunContext& context)
{
  return std::make_unique<Stream>(context);
}

} // namespace weft
