// SPDX-License-Identifier: LGPL-2.1-only
/* One call by the multicast protocol (collective/multicast/protocol.hpp). The protocol's requests
 * are delegated: signals, multicasts and reads move over links (multicast_flows.hpp), chunks are
 * the program's data (multicast_data.hpp), timers are SimGrid's. */
#include "binding/mechanisms/multicast/multicast_offload.hpp"

#include "binding/mechanisms/multicast/multicast_data.hpp"
#include "binding/mechanisms/multicast/multicast_flows.hpp"
#include "binding/mechanisms/offload_stage.hpp"
#include "binding/observe/profile.hpp"

#include <simgrid/kernel/Timer.hpp>
#include <utility>

namespace sg = simgrid::s4u;
using simgrid::kernel::timer::Timer;

namespace weft {
namespace {

/** Payload in bytes of a request or acknowledgement per block (a number), and of a read per run of
 *  chunks (an address and a length). */
constexpr double BLOCK_NUMBER = 4;
constexpr double RUN_TO_READ  = 16;

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
class MulticastOffload : public OffloadedCall,
                         public MulticastActions,
                         public MulticastListener,
                         Staged,
                         BreakableCall {
  /** Progress of a rank. */
  struct Rank {
    Timer* timer         = nullptr;
    MulticastPhase phase = MulticastPhase::barrier;
    double since         = 0; // start of its phase
    double start         = 0; // start of its call
    MulticastTimes times{};
  };
  MulticastRun& run_;
  const MulticastCall call_;
  MulticastData data_;
  MulticastFlows flows_;
  MulticastProtocol protocol_;
  std::vector<Rank> ranks_;
  MulticastStatistics statistics_;
  std::unique_ptr<OffloadStage> stage_; // null if every rank contributes for itself

public:
  MulticastOffload(RunContext& context, MulticastRun& run, MulticastState& state,
                   const std::shared_ptr<Communicator>& communicator, const CallDescriptor& call)
      : OffloadedCall(context, communicator, call, 0), run_(run),
        call_(describe_multicast(communicator, state, context.fabric.multicast(), call.name(),
                                 parts_of_members(*communicator, parts_))),
        data_(call_, *exchange_, descriptor_->movement()), flows_(context, run, call_, *this),
        protocol_(call_.shape, *this), ranks_(static_cast<std::size_t>(call_.communicator->size())),
        stage_(make_stage(context, *communicator, call, *this))
  {
    if (context.call_recovery)
      context.call_recovery->running.push_back(this);
  }
  MulticastOffload(const MulticastOffload&)            = delete;
  MulticastOffload& operator=(const MulticastOffload&) = delete;
  ~MulticastOffload() override
  {
    if (context_.call_recovery)
      context_.call_recovery->end(*this);
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
  void contributed(int rank) override
  {
    at(rank).start = at(rank).since = sg::Engine::get_clock();
    protocol_.enter(rank);
  }
  void stage_ended(int rank) override { end(rank); }
  void stage_failed(const std::string& why) override { fail({why}); }
  std::shared_ptr<void> kept() override { return shared_from_this(); }

  Rank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

  void change_bandwidths() override { flows_.change_bandwidths(); }

  // MulticastListener

  void block_left(int block) override { protocol_.injected(block); }
  void chunks_came(int rank, int block, ChunkRun run) override { protocol_.arrived(rank, block, run); }
  FlowEnd when_arrived(std::function<void()> next) override { return arrival(std::move(next)); }
  FlowEnd when_ended(std::function<void()> next, std::function<void(double left)> cut) override
  {
    return [arrived = arrival(std::move(next)), cut = std::move(cut)](const FlowResult& result) {
      if (result.left > 0)
        cut(result.left);
      else
        arrived(result);
    };
  }

  void after(Seconds delay, std::function<void()> action) override
  {
    if (delay == Seconds())
      action();
    else
      set(delay, std::move(action));
  }

  void later(std::function<void()> action) override { set(Seconds(), std::move(action)); }

  Timer* set(Seconds delay, std::function<void()> action)
  {
    return Timer::set(sg::Engine::get_clock() + delay.value(),
                      [keep = shared_from_this(), action = std::move(action)] { action(); });
  }

  // MulticastActions

  void send(int from, int to, const MulticastSignal& signal) override
  {
    const double blocks = BLOCK_NUMBER * static_cast<double>(signal.blocks.size());
    flows_.message(from, to, Bytes(blocks), [this, to, signal] { protocol_.signalled(to, signal); });
  }

  void multicast(int block) override { flows_.multicast(block); }
  bool hears(int rank) const override { return flows_.hears(rank, call_.model.cutoff_slack); }
  void store(int rank, int block, ChunkRun run, int from) override { data_.store(rank, block, run, from); }

  void fetch(int rank, int from, const std::vector<MulticastFetch>& what) override
  {
    Bytes data;
    std::size_t runs = 0;
    for (const MulticastFetch& fetch : what)
      for (const ChunkRun& run : fetch.runs) {
        data += bytes_of(call_.model, call_.size(fetch.block), run);
        ++runs;
      }
    statistics_.fetched_bytes += data.value();
    flows_.message(rank, from, Bytes(RUN_TO_READ * static_cast<double>(runs)), [this, rank, from, what, data] {
      flows_.message(from, rank, data, [this, rank, what] { protocol_.fetched(rank, what); });
    });
  }

  void set_timer(int rank, std::int64_t chunks) override
  {
    set_timer(rank, flows_.time_on_cable(rank) * static_cast<double>(chunks) + call_.model.cutoff_slack);
  }

  void set_timer_after_silence(int rank) override
  {
    const double since = flows_.last_heard(rank) - sg::Engine::get_clock();
    set_timer(rank, Seconds(since) + call_.model.cutoff_slack);
  }

  void set_timer(int rank, Seconds time)
  {
    at(rank).timer = set(time, [this, rank] {
      at(rank).timer = nullptr;
      protocol_.expired(rank);
    });
  }

  void enters(int rank, MulticastPhase phase) override
  {
    Rank& its        = at(rank);
    const double now = sg::Engine::get_clock();
    if (double* time = time_of(its.times, its.phase))
      *time += now - its.since;
    its.phase = phase;
    its.since = now;
    if (phase == MulticastPhase::multicast)
      flows_.reception().begin(rank);
    if (phase != MulticastPhase::handshake && phase != MulticastPhase::over)
      return;
    if (Timer* timer = std::exchange(its.timer, nullptr))
      timer->remove();
    flows_.reception().end(rank);
    if (phase == MulticastPhase::over)
      finish(rank);
  }

  static double* time_of(MulticastTimes& times, MulticastPhase phase)
  {
    switch (phase) {
      case MulticastPhase::barrier:
        return &times.barrier;
      case MulticastPhase::multicast:
        return &times.multicast;
      case MulticastPhase::recovery:
        return &times.recovery;
      case MulticastPhase::handshake:
        return &times.handshake;
      case MulticastPhase::over:
        break;
    }
    return nullptr;
  }

  void finish(int rank)
  {
    if (protocol_.all_over())
      count();
    if (stage_)
      stage_->deliver(rank);
    else
      end(rank);
  }

  void count()
  {
    statistics_.calls = 1;
    statistics_.add(flows_.moved());
    for (int rank = 0; rank < call_.communicator->size(); ++rank) {
      MulticastRank seen{flows_.drops(rank), protocol_.counts(rank), at(rank).times};
      // Every rank has all chunks, so those still in flight, or in a staging ring, arrive as
      // duplicates.
      seen.counts.duplicates += protocol_.due(rank) - seen.drops.all;
      const int of_run = Profile::get().rank_of(call_.communicator->actors[static_cast<std::size_t>(rank)]);
      statistics_.ranks.emplace(of_run, seen);
      if (context_.record.keep_events)
        run_.record.add_call({of_run, communicator_->id, call_.collective, at(rank).start, seen});
    }
    run_.record.count(call_.collective, communicator_->size(), statistics_);
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
