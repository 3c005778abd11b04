// SPDX-License-Identifier: LGPL-2.1-only
/* One call by the multicast protocol: its ranks, data and record. The protocol in time is in
 * collective/multicast/execution. */
#include "binding/mechanisms/multicast/multicast_offload.hpp"

#include "binding/mechanisms/multicast/multicast_data.hpp"
#include "binding/mechanisms/offload_stage.hpp"
#include "binding/observe/profile.hpp"
#include "collective/multicast/execution/execution.hpp"

#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Returns each member's part: the sum over the ranks that it represents. */
std::vector<double> parts_of_members(const Communicator& communicator, const std::vector<double>& parts)
{
  std::vector<double> sums(communicator.member_ranks.size());
  for (std::size_t rank = 0; rank < parts.size(); ++rank)
    sums[static_cast<std::size_t>(communicator.member_of[rank])] += parts[rank];
  return sums;
}

/** Offloaded call whose ranks are those who multicast: the ranks that represent members, if the
 *  communicator's hosts have a stage of their own; otherwise all. */
class MulticastOffload : public OffloadedCall, MulticastOwner, Staged {
  MulticastRun& run_;
  const MulticastService service_;
  const std::shared_ptr<const Communicator> members_; // whose ranks multicast
  const MulticastCall call_;
  MulticastData data_;
  MulticastExecution execution_;
  std::unique_ptr<OffloadStage> stage_; // null if every rank contributes for itself

public:
  MulticastOffload(RunContext& context, MulticastRun& run, MulticastState& state,
                   const std::shared_ptr<Communicator>& communicator, const CallDescriptor& call)
      : OffloadedCall(context, communicator, call, 0), run_(run), service_(run.service(context)),
        members_(state.kept_members(communicator)),
        call_(describe_multicast(context.fabric.multicast(), state.group(), members_->rank_hosts,
                                 {members_->id, members_->handle, members_->world, state.calls++},
                                 parts_of_members(*communicator, parts_))),
        data_(call_, *exchange_, descriptor_->movement()), execution_(service_, *this, call_),
        stage_(make_stage(context, *communicator, call, *this))
  {
  }

  void deliver(int rank) override
  {
    if (stage_ || not data_.stores(rank))
      OffloadedCall::deliver(rank);
  }

protected:
  void given(int rank, const RankBuffers& buffers) override
  {
    if (not stage_) // otherwise the buffers are not used before the host's own stage is over
      data_.given(rank, buffers);
  }

  void enter(int rank) override
  {
    if (stage_)
      stage_->enter(rank, descriptor_->blocking);
    else
      contributed(rank);
  }

private:
  // Staged

  void contributed(int member) override { execution_.enter(member); }
  void stage_ended(int rank) override { end(rank); }
  void stage_failed(const std::string& why) override { fail({why}); }
  std::shared_ptr<void> kept() override { return shared_from_this(); }

  // MulticastOwner

  Seconds with_os_noise(int rank, Seconds work) override
  {
    const auto at = static_cast<std::size_t>(rank);
    return context_.core_noise.with_os_noise(members_->actors[at], call_.host(rank), service_.carrier.now(), work);
  }
  void store(int rank, int block, ChunkRun run, int from) override { data_.store(rank, block, run, from); }
  void count_on_link(LinkId link, Bytes payload) override { run_.record.count_on_link(link, payload); }
  FlowEnd when_arrived(std::function<void()> next) override { return arrival(std::move(next)); }
  std::shared_ptr<void> keep() override { return shared_from_this(); }

  void forwarded(Bytes blocks, Seconds start) override
  {
    if (not context_.record.keep_events)
      return;
    for (const ReductionTree& tree : call_.group.trees)
      for (const TreeSwitch& node : tree.switches)
        context_.record.add_event({node.index, members_->id, descriptor_->name(), members_->size(), blocks.value(),
                                   start.value(), sg::Engine::get_clock()});
  }

  void rank_ended(int rank) override
  {
    if (execution_.all_over())
      count();
    if (stage_)
      stage_->deliver(rank);
    else
      end(rank);
  }

  void count()
  {
    MulticastStatistics statistics{1, execution_.traffic(), {}};
    for (int rank = 0; rank < call_.ranks(); ++rank) {
      const MulticastRank seen = execution_.seen(rank);
      const int of_run         = Profile::get().rank_of(members_->actors[static_cast<std::size_t>(rank)]);
      statistics.ranks.emplace(of_run, seen);
      if (context_.record.keep_events)
        run_.record.add_call({of_run, communicator_->id, descriptor_->name(), execution_.start(rank).value(), seen});
    }
    run_.record.count(descriptor_->name(), communicator_->size(), statistics);
  }
};

} // namespace

std::shared_ptr<OffloadedCall> make_multicast_call(RunContext& context, MulticastRun& run, MulticastState& state,
                                                   const std::shared_ptr<Communicator>& communicator,
                                                   const CallDescriptor& call)
{
  return std::make_shared<MulticastOffload>(context, run, state, communicator, call);
}

} // namespace weft
