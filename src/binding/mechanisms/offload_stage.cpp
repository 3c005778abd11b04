// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/offload_stage.hpp"

#include <simgrid/s4u.hpp>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {

OffloadStage::OffloadStage(HostNetwork& network, const Communicator& communicator, HostStageAlgorithms algorithms,
                           HostStageCall call, Staged& staged)
    : network_(network), communicator_(communicator), call_(staged), actors_(network, communicator),
      stage_(network.agenda(), network.messages(), network.costs, communicator.rank_hosts, communicator.all_members(),
             algorithms, std::move(call), *this, network.memory)
{
}

void OffloadStage::enter(int rank, bool blocks)
{
  actors_.enter(rank, blocks, *this);
  if (entered_++ == 0)
    network_.begin();
  stage_.enter(rank, Seconds(sg::Engine::get_clock()));
  network_.wake();
}

void OffloadStage::deliver(int member)
{
  stage_.deliver(member, Seconds(sg::Engine::get_clock()));
  network_.wake();
}

void OffloadStage::rank_ended(int rank)
{
  actors_.end(rank, *this);
  if (++ended_ == communicator_.size())
    network_.end(call_.kept());
  call_.stage_ended(rank);
}

std::unique_ptr<OffloadStage> make_stage(RunContext& context, const Communicator& communicator,
                                         const CallDescriptor& call, Staged& staged)
{
  if (communicator.members() == communicator.size())
    return nullptr;
  context.record.host_stages = true;
  return std::make_unique<OffloadStage>(context.host_network(), communicator, context.stage_algorithms,
                                        host_stage_call(call), staged);
}

} // namespace weft
