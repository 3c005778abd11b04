/* One call by the multicast protocol (collective/multicast/protocol.hpp): its signals are transfers between hosts, its
 * multicasts flows over the trees, its timers SimGrid's, its chunks the program's data.
 *
 * A rank that receives elements that lie one after the other gets them chunk by chunk, as the protocol says, from the
 * root's data or from its neighbour's buffer; others, whose elements have gaps, get them whole, as from other offloaded
 * calls.
 */
#include "simgrid/multicast_offload.hpp"

#include "collective/multicast/drops.hpp"
#include "collective/patterns/chains.hpp"
#include "mpi/names.hpp"
#include "simgrid/private_abi.hpp"
#include "simgrid/transfer.hpp"

#include <cstring>
#include <numeric>
#include <simgrid/kernel/Timer.hpp>
#include <utility>

namespace sg = simgrid::s4u;
using simgrid::kernel::timer::Timer;

namespace weft {
namespace {

/** What a request or acknowledgement says of each block, and a read of each run of chunks, in bytes: its number, resp.
 * an address and a length. */
constexpr double BLOCK_NUMBER = 4;
constexpr double RUN_TO_READ  = 16;

/** Of flows whose way is counted apart. Without any, SimGrid gives a flow the share of one whose latency is 1 s
 *  (NetworkCm02Model::communicate in its network_cm02.cpp). */
constexpr Seconds NO_LATENCY{1e-15};

class MulticastOffload : public OffloadedCall, public MulticastActions {
  /** Where a rank stands. */
  struct Rank {
    std::byte* receive = nullptr;          // of the first block; none: it stores nothing here
    std::vector<std::ptrdiff_t> positions; // of the blocks, in bytes
    Timer* timer         = nullptr;
    MulticastPhase phase = MulticastPhase::barrier;
    double since         = 0; // it is in its phase
  };
  /** Roots that start at the same time. */
  struct Departure {
    std::vector<int> blocks;
    MulticastPlan plan;
    std::size_t flows = 0; // that have not ended
    double start      = 0;
  };
  /** Blocks that are on their way, and what they lose. */
  struct Flight {
    bool started   = false;
    bool in_flight = false;
    double landed  = 0;
    std::vector<std::vector<ChunkRun>> losses; // by rank; none where nothing is lost
  };

  const MulticastModel& model_;
  const MulticastGroup& group_;
  const std::int64_t number_; // of the call, among the communicator's multicast ones
  std::vector<Rank> ranks_;
  std::vector<Flight> flights_;    // by block
  std::vector<std::size_t> chain_; // by block
  std::vector<int> last_started_;  // block, by chain; -1: none
  std::vector<int> leaving_;       // blocks whose roots start now
  std::unique_ptr<MulticastProtocol> protocol_;
  MulticastStatistics statistics_;

public:
  MulticastOffload(Simulation& simulation, const std::shared_ptr<Communicator>& communicator,
                   const Described& described)
      : OffloadedCall(simulation, communicator, described, 0), model_(simulation_.fabric.multicast()),
        group_(*communicator->multicast->group), number_(communicator->multicast_calls++),
        ranks_(static_cast<std::size_t>(communicator->size()))
  {
    MulticastShape shape{communicator->size(), {}, {}};
    std::vector<int> racks;
    std::vector<int> pods;
    for (int rank = 0; rank < communicator->size(); ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      if (parts_[at] <= 0)
        continue;
      shape.blocks.push_back({rank, chunks_of(model_, Bytes(parts_[at]))});
      racks.push_back(group_.rack_of[at]);
      pods.push_back(group_.pod_of[at]);
    }
    std::vector<int> blocks(shape.blocks.size());
    std::iota(blocks.begin(), blocks.end(), 0);
    shape.chains = model_.chain_map == "ranks" ? cut_into_chains(blocks, model_.chains)
                                               : chain_by_group(blocks, model_.chain_map == "racks" ? racks : pods);
    flights_.resize(blocks.size());
    chain_.resize(blocks.size());
    last_started_.assign(shape.chains.size(), -1);
    for (std::size_t chain = 0; chain < shape.chains.size(); ++chain)
      for (const int number : shape.chains[chain])
        chain_[static_cast<std::size_t>(number)] = chain;
    protocol_ = std::make_unique<MulticastProtocol>(std::move(shape), *this);
  }

  void deliver(int rank) override
  {
    if (not at(rank).receive)
      OffloadedCall::deliver(rank);
  }

protected:
  void given(int rank, const RankBuffers& buffers) override
  {
    if (not exchange_->part(rank) || not lie_together(buffers.receive_type))
      return;
    place(rank, buffers);
    for (std::size_t number = 0; number < flights_.size(); ++number)
      if (movement_.gives == Share::part && block(static_cast<int>(number)).root == rank)
        std::memcpy(at(rank).receive + at(rank).positions[number], exchange_->part(rank),
                    static_cast<std::size_t>(size(static_cast<int>(number)).value()));
  }

  void enter(int rank) override
  {
    at(rank).since = sg::Engine::get_clock();
    protocol_->enter(rank);
  }

private:
  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  const MulticastBlock& block(int number) const { return protocol_->shape().blocks[static_cast<std::size_t>(number)]; }
  Bytes size(int number) const { return Bytes(parts_[static_cast<std::size_t>(block(number).root)]); }
  sg::Host* host(int rank) const { return communicator_->hosts[static_cast<std::size_t>(rank)]; }
  std::shared_ptr<MulticastOffload> self() { return std::static_pointer_cast<MulticastOffload>(shared_from_this()); }

  /** Whether elements of a type have no gaps. */
  static bool lie_together(MPI_Datatype type)
  {
    MPI_Aint low    = 0;
    MPI_Aint extent = 0;
    int bytes       = 0;
    if (not is_predefined(type))
      return false;
    PMPI_Type_get_extent(type, &low, &extent);
    PMPI_Type_size(type, &bytes);
    return bytes == extent;
  }

  /** Find out where the blocks go. */
  void place(int rank, const RankBuffers& buffers)
  {
    Rank& its   = at(rank);
    its.receive = static_cast<std::byte*>(buffers.receive);
    int element = 0;
    PMPI_Type_size(buffers.receive_type, &element);
    for (const MulticastBlock& block : protocol_->shape().blocks) {
      const auto root         = static_cast<std::size_t>(block.root);
      std::ptrdiff_t position = 0;
      if (buffers.displacements)
        position = static_cast<std::ptrdiff_t>(buffers.displacements[root]) * element;
      else if (movement_.gives == Share::part) // all parts are of one size
        position = static_cast<std::ptrdiff_t>(parts_[root]) * block.root;
      its.positions.push_back(position);
    }
  }

  // What the protocol wants done.

  void send(int from, int to, const MulticastSignal& signal) override
  {
    const double blocks = BLOCK_NUMBER * static_cast<double>(signal.blocks.size());
    deliver_message(from, to, Bytes(blocks), [this, to, signal] { protocol_->signalled(to, signal); });
  }

  void fetch(int rank, int from, const std::vector<MulticastFetch>& what) override
  {
    Bytes data;
    std::size_t runs = 0;
    for (const MulticastFetch& fetch : what)
      for (const ChunkRun& run : fetch.runs) {
        data += bytes_of(model_, size(fetch.block), run);
        ++runs;
      }
    statistics_.fetched_bytes += data.value();
    deliver_message(rank, from, Bytes(RUN_TO_READ * static_cast<double>(runs)), [this, rank, from, what, data] {
      deliver_message(from, rank, data, [this, rank, what] { protocol_->fetched(rank, what); });
    });
  }

  /** A message as MPI sends them. */
  void deliver_message(int from, int to, Bytes payload, std::function<void()> done)
  {
    Seconds overhead;
    if (const auto& mpi = simulation_.fabric.mpi())
      overhead = mpi->send_time(payload) + mpi->receive_time(payload);
    transfer(host(from), host(to), payload + Bytes(simgrid::smpi::MESSAGE_ENVELOPE),
             [keep = self(), overhead, done = std::move(done)] { after(overhead, done); });
  }

  static void after(Seconds delay, std::function<void()> done)
  {
    if (delay == Seconds())
      done();
    else
      Timer::set(sg::Engine::get_clock() + delay.value(), std::move(done));
  }

  void set_timer(int rank, std::int64_t chunks) override
  {
    Rank& its          = at(rank);
    const Seconds time = time_of_chunk(rank) * static_cast<double>(chunks) + model_.cutoff_slack;
    its.timer          = Timer::set(sg::Engine::get_clock() + time.value(), [this, rank, keep = self()] {
      at(rank).timer = nullptr;
      protocol_->expired(rank);
    });
  }

  /** On the rank's cable, or in its progress engine, which all ranks of the NIC share. */
  Seconds time_of_chunk(int rank) const
  {
    const Fabric& fabric = simulation_.fabric;
    const VertexId root  = group_.trees.front().switches.front().index + fabric.host_count();
    const Hop hop        = fabric.topology().next_hop(communicator_->rank_hosts[static_cast<std::size_t>(rank)], root);
    const Bytes wire     = model_.chunk + model_.packet_overhead * model_.packets(model_.chunk);
    const auto member    = static_cast<std::size_t>(group_.member_of[static_cast<std::size_t>(rank)]);
    return std::max(wire / fabric.link(reverse(hop.link)).bandwidth,
                    model_.chunk * group_.ranks_at[member] / engine_rates(simulation_.fabric).receive);
  }

  void store(int rank, int number, ChunkRun run, int from) override
  {
    Rank& its = at(rank);
    if (not its.receive)
      return;
    const Bytes before = bytes_of(model_, size(number), {0, run.first});
    const auto offset  = static_cast<std::ptrdiff_t>(before.value());
    const auto count   = static_cast<std::size_t>(bytes_of(model_, size(number), run).value());
    const int root     = block(number).root;
    const bool kept    = from == root || not at(from).receive;
    const std::byte* source =
        kept ? exchange_->part(root) : at(from).receive + at(from).positions[static_cast<std::size_t>(number)];
    if (source)
      std::memcpy(its.receive + its.positions[static_cast<std::size_t>(number)] + offset, source + offset, count);
  }

  bool arriving(int rank, int number) const override
  {
    const Flight& flight = flights_[static_cast<std::size_t>(number)];
    if (flight.started)
      return flight.in_flight && seen(rank, number);
    // Its turn has not come while a root before it in its chain is heard, or was until lately.
    const int last = last_started_[chain_[static_cast<std::size_t>(number)]];
    if (last < 0 || not seen(rank, last))
      return false;
    const Flight& before = flights_[static_cast<std::size_t>(last)];
    return before.in_flight || sg::Engine::get_clock() - before.landed < model_.cutoff_slack.value();
  }

  /** Whether a rank gets anything of a block. */
  bool seen(int rank, int number) const
  {
    const auto& losses = flights_[static_cast<std::size_t>(number)].losses;
    return losses.empty() || count_chunks(losses[static_cast<std::size_t>(rank)]) < block(number).chunks;
  }

  void enters(int rank, MulticastPhase phase) override
  {
    Rank& its        = at(rank);
    const double now = sg::Engine::get_clock();
    if (double* time = time_of(its.phase))
      *time += (now - its.since) / static_cast<double>(ranks_.size());
    its.phase = phase;
    its.since = now;
    if (phase != MulticastPhase::handshake && phase != MulticastPhase::over)
      return;
    if (Timer* timer = std::exchange(its.timer, nullptr))
      timer->remove();
    if (phase == MulticastPhase::over)
      finish(rank);
  }

  double* time_of(MulticastPhase phase)
  {
    switch (phase) {
      case MulticastPhase::barrier:
        return &statistics_.times.barrier;
      case MulticastPhase::multicast:
        return &statistics_.times.multicast;
      case MulticastPhase::recovery:
        return &statistics_.times.recovery;
      case MulticastPhase::handshake:
        return &statistics_.times.handshake;
      case MulticastPhase::over:
        break;
    }
    return nullptr;
  }

  void finish(int rank)
  {
    if (protocol_->all_over()) {
      statistics_.calls  = 1;
      statistics_.counts = protocol_->counts();
      simulation_.record.count_multicast(called_, communicator_->size(), statistics_);
    }
    end(rank);
  }

  // Blocks that start at the same time are one set of flows.

  void multicast(int number) override
  {
    leaving_.push_back(number);
    if (leaving_.size() == 1)
      Timer::set(sg::Engine::get_clock(), [keep = self()] { keep->depart(); });
  }

  void depart()
  {
    const auto departure = std::make_shared<Departure>();
    departure->blocks    = std::exchange(leaving_, {});
    departure->start     = sg::Engine::get_clock();
    std::vector<MulticastRoot> roots;
    for (const int number : departure->blocks) {
      roots.push_back({block(number).root, size(number)});
      take_off(number);
    }
    departure->plan  = plan_multicast(simulation_.fabric, group_, roots, engine_rates(simulation_.fabric));
    departure->flows = departure->plan.flows.size();
    for (std::size_t at = 0; at < departure->plan.links.size(); ++at)
      simulation_.record.count_multicast_on_link(departure->plan.links[at].link, departure->plan.payloads[at]);
    // One share for all, as a stream has: at a receiver they are one sequence of chunks.
    const Seconds sharing = departure->plan.forwarding;
    for (const StreamFlow& flow : departure->plan.flows)
      simulation_.network.start_flow(flow, NO_LATENCY, sharing, [keep = self(), departure] {
        if (--departure->flows == 0)
          keep->has_left(departure);
      });
  }

  void take_off(int number)
  {
    Flight& flight                                          = flights_[static_cast<std::size_t>(number)];
    flight.started                                          = true;
    flight.in_flight                                        = true;
    last_started_[chain_[static_cast<std::size_t>(number)]] = number;
    flight.losses =
        Drops(simulation_.fabric, group_).of({communicator_->id, number_, block(number).root, block(number).chunks});
    for (const std::vector<ChunkRun>& lost : flight.losses)
      statistics_.drops += count_chunks(lost);
    ++statistics_.multicasts;
    statistics_.chunks += block(number).chunks;
    statistics_.payload += size(number).value();
    statistics_.headers += (model_.packet_overhead * model_.packets(size(number))).value();
  }

  void has_left(const std::shared_ptr<Departure>& departure)
  {
    for (const int number : departure->blocks)
      protocol_->injected(number);
    after(departure->plan.way, [keep = self(), departure] { keep->land(*departure); });
  }

  void land(const Departure& departure)
  {
    for (const int number : departure.blocks) {
      Flight& flight   = flights_[static_cast<std::size_t>(number)];
      flight.in_flight = false;
      flight.landed    = sg::Engine::get_clock();
      for (int rank = 0; std::cmp_less(rank, ranks_.size()); ++rank)
        if (rank != block(number).root)
          land_at(rank, number);
    }
    add_events(departure);
  }

  void land_at(int rank, int number)
  {
    const auto& losses = flights_[static_cast<std::size_t>(number)].losses;
    if (losses.empty()) {
      protocol_->arrived(rank, number, {0, block(number).chunks});
      return;
    }
    for (const ChunkRun& run : others(losses[static_cast<std::size_t>(rank)], block(number).chunks))
      protocol_->arrived(rank, number, run);
  }

  void add_events(const Departure& departure)
  {
    if (not simulation_.record.keep_events)
      return;
    Bytes all;
    for (const int number : departure.blocks)
      all += size(number);
    for (const ReductionTree& tree : group_.trees)
      for (const TreeSwitch& node : tree.switches)
        simulation_.record.add_event({node.index, communicator_->id, called_, communicator_->size(), all.value(),
                                      departure.start, sg::Engine::get_clock()});
  }
};

} // namespace

std::shared_ptr<OffloadedCall> make_multicast_call(Simulation& simulation,
                                                   const std::shared_ptr<Communicator>& communicator,
                                                   const Described& described)
{
  return std::make_shared<MulticastOffload>(simulation, communicator, described);
}

} // namespace weft
