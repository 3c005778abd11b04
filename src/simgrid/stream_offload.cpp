/* Stream granularity: ranks leave their contribution and sleep; the last to arrive starts one stream a tree switch;
 * when the last stream ends, all wake up and copy the result. */
#include "collective/stream.hpp"
#include "simgrid/offload.hpp"

#include <algorithm>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

class StreamAggregation : public OffloadedCall {
  sg::SemaphorePtr gate_ = sg::Semaphore::create(0);
  int arrived_           = 0;
  int streams_           = 0;

public:
  Contributions contributions;

  explicit StreamAggregation(int ranks, const AggregationArguments& arguments) : contributions(ranks, arguments) {}

  /** True for the last rank. */
  bool arrive(int ranks) { return ++arrived_ == ranks; }
  void wait() { gate_->acquire(); }
  void begin(int streams) { streams_ = streams; }
  /** True for the last stream. */
  bool stream_done() { return --streams_ == 0; }
  void open(int ranks)
  {
    for (int rank = 0; rank < ranks; ++rank)
      gate_->release();
  }
};

StreamRequest request_stream(const Simulation& simulation, const ReductionTree& tree, const TreeSwitch& node,
                             const StreamPlan& plan)
{
  StreamRequest request{{}, base_latency(simulation.fabric, tree), tree.forwarding, plan.wire, plan.rate_limit};
  for (const TreeLink& link : node.links)
    for (std::int64_t copy = 0; copy < link.messages; ++copy) {
      simulation.network->append_links(link.up, request.links);
      simulation.network->append_links(reverse(link.up), request.links);
    }
  return request;
}

void finish(Simulation& simulation, const Communicator& communicator, StreamAggregation& aggregation, Bytes message,
            double start)
{
  const double now = sg::Engine::get_clock();
  for (const TreeSwitch& node : communicator.tree->switches) {
    simulation.switches[static_cast<std::size_t>(node.index)].end(message, node.contributions);
    simulation.record.add_event(
        {node.index, communicator.id, "allreduce", communicator.size(), message.value(), start, now});
  }
  aggregation.open(communicator.size());
}

void start_streams(Simulation& simulation, const Communicator& communicator,
                   const std::shared_ptr<StreamAggregation>& aggregation, Bytes message)
{
  const ReductionTree& tree           = *communicator.tree;
  const std::vector<StreamPlan> plans = plan_streams(simulation.fabric, tree, message);
  const double start                  = sg::Engine::get_clock();
  aggregation->begin(static_cast<int>(tree.switches.size()));
  for (std::size_t at = 0; at < tree.switches.size(); ++at) {
    const TreeSwitch& node = tree.switches[at];
    simulation.switches[static_cast<std::size_t>(node.index)].begin(message);
    simulation.network->streams().start(request_stream(simulation, tree, node, plans[at]),
                                        [&simulation, &communicator, aggregation, message, start] {
                                          if (aggregation->stream_done())
                                            finish(simulation, communicator, *aggregation, message, start);
                                        });
  }
}

} // namespace

void aggregate_as_stream(Simulation& simulation, const Communicator& communicator, int rank, PendingCall& call,
                         const AggregationArguments& arguments)
{
  if (not call.offloaded)
    call.offloaded = std::make_shared<StreamAggregation>(communicator.size(), arguments);
  const auto aggregation = std::static_pointer_cast<StreamAggregation>(call.offloaded);
  aggregation->contributions.add(rank, arguments);
  if (aggregation->arrive(communicator.size())) {
    int element_size = 0;
    PMPI_Type_size(arguments.datatype, &element_size);
    aggregation->contributions.reduce(arguments);
    start_streams(simulation, communicator, aggregation, Bytes(static_cast<double>(arguments.count) * element_size));
  }
  aggregation->wait();
  aggregation->contributions.copy_result(arguments);
}

} // namespace weft
