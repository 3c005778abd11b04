// SPDX-License-Identifier: LGPL-2.1-only
/* Offloaded calls: their data, and who waits for their end. What carries them out is up to the mechanisms. */
#pragma once

#include "binding/data/exchange.hpp"
#include "binding/platform/flow_result.hpp"
#include "binding/ranks/sleep.hpp"
#include "binding/run/communicator.hpp"
#include "binding/run/run_context.hpp"
#include "model/collective/call_descriptor.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace weft {

/** Runs when a rank's part of a call has ended; the call has failed where one of its flows has. */
using CallEnd = FlowEnd;

class OffloadedCall : public std::enable_shared_from_this<OffloadedCall> {
  int given_ = 0;               // ranks
  std::vector<CallEnd> on_end_; // by rank; none before it joins, nor after its part has ended
  Gate common_gate_;            // of all ranks, where they end together

  MayChange changing(bool stay) const;
  void contribute(int rank, RankBuffers buffers, bool stay, MPI_Op operation);

protected:
  RunContext& context_;
  const std::shared_ptr<Communicator> communicator_;
  const KeptDescriptor descriptor_;
  const std::vector<double> parts_; // bytes, by rank
  std::unique_ptr<Exchange> exchange_;

  OffloadedCall(RunContext& context, const std::shared_ptr<Communicator>& communicator, const CallDescriptor& call,
                std::size_t fixed_point_block);
  /** Rank @p rank has given its data. */
  virtual void given(int /*rank*/, const RankBuffers& /*buffers*/) {}
  /** It takes part from now on. */
  virtual void enter(int rank) = 0;
  /** Its part of the call has ended. */
  void end(int rank, const FlowResult& result = {});
  /** The call cannot be carried out: it ends for all ranks that are in it. */
  void fail(const FlowResult& result);
  /** What waits for a flow of this call: @p next where it arrives; where it fails, the call does. */
  FlowEnd arrival(std::function<void()> next);

public:
  OffloadedCall(const OffloadedCall&)            = delete;
  OffloadedCall& operator=(const OffloadedCall&) = delete;
  virtual ~OffloadedCall()                       = default;

  /** What a rank's core spends on its call before it joins. */
  virtual Seconds host_overhead() const { return {}; }
  /** What a rank that blocks waits for, opened when its part of the call has ended: one for all, or @p own. */
  Gate& gate(Gate& own) { return all_end_together() ? common_gate_ : own; }
  /** Rank @p rank contributes. Whether its data @p stay as they are until the call's end; of a call that does not block
   * its arrays may change all the same. Returns at once; @p on_end runs when its part of the call has ended. */
  template <class End> void join(int rank, const RankBuffers& buffers, bool stay, MPI_Op operation, End&& on_end)
  {
    // Made where it stays: whoever moves what has just been written waits for all that is being written to memory.
    CallEnd& place = on_end_[static_cast<std::size_t>(rank)];
    std::destroy_at(&place);
    std::construct_at(&place, std::forward<End>(on_end));
    contribute(rank, buffers, stay, operation);
  }
  /** What a rank that has joined has to do itself; returns when that is done. */
  virtual void send_contribution(int /*rank*/) {}
  /** The same, by an actor beside the rank where there is something to do. */
  static void send_contribution_in_background(const std::shared_ptr<OffloadedCall>& call, int rank);
  /** Put the result of a rank that blocks into its buffer, once its part of the call has ended. */
  virtual void deliver(int rank) { exchange_->deliver(rank); }

protected:
  /** Whether all ranks' parts end at the same time. */
  virtual bool all_end_together() const { return false; }
  /** Whether speak() does anything for @p rank. */
  virtual bool must_send_contribution(int /*rank*/) const { return false; }
};

} // namespace weft
