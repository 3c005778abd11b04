// SPDX-License-Identifier: LGPL-2.1-only
/* Stream granularity: ranks leave their contribution and sleep; when the last contribution is there the flows of all
 * tree switches start; when the last flow ends, all wake up. */
#include "binding/mechanisms/stream/stream_offload.hpp"

#include "binding/mechanisms/tree_offload.hpp"
#include "collective/in_network/stream_jitter.hpp"

#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

class StreamCall : public TreeOffload {
  std::shared_ptr<const StreamPlan> plan_;
  int ready_    = 0; // members
  int flows_    = 0; // that have not ended
  double start_ = 0;

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

  Aggregation& aggregation(std::size_t position)
  {
    return simulation_.switches[static_cast<std::size_t>(communicator_->tree->switches[position].index)];
  }

  /** What jitter adds to the base latency. */
  Seconds jitter()
  {
    const std::uint32_t number = communicator_->streamed_calls++;
    const auto& noise          = simulation_.fabric.noise();
    if (not noise || noise->links.empty())
      return {};
    return stream_jitter(*communicator_->tree, call_, Jitter(*noise), static_cast<std::uint32_t>(communicator_->handle),
                         number);
  }

  void start()
  {
    start_                = sg::Engine::get_clock();
    plan_                 = communicator_->plan(simulation_.fabric, call_, host_work_.rate);
    const Seconds latency = plan_->base_latency + jitter();
    for (const SwitchPlan& its : plan_->switches)
      flows_ += static_cast<int>(its.flows.size());
    for (std::size_t position = 0; position < plan_->switches.size(); ++position) {
      aggregation(position).begin(vector());
      for (const StreamFlow& flow : plan_->switches[position].flows)
        simulation_.network.start_flow(flow, latency, communicator_->tree->forwarding, arrival([this] {
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
      aggregation(position).end(vector(), its.reduced, its.multicast);
      simulation_.record.add_event({communicator_->tree->switches[position].index, communicator_->id, called_,
                                    communicator_->size(), call_.message.value(), start_, now});
    }
    for (int member = 0; member < communicator_->members(); ++member)
      member_done(member);
  }
};

} // namespace

std::shared_ptr<OffloadedCall>
make_stream_call(Simulation& simulation, const std::shared_ptr<Communicator>& communicator, const Described& described)
{
  return std::make_shared<StreamCall>(simulation, communicator, described);
}

} // namespace weft
