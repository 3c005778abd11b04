// SPDX-License-Identifier: LGPL-2.1-only
/* Offloaded calls: their data, and their completion callbacks. Mechanisms execute them. */
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

/** Callback for the end of a rank's part in a call. The call has failed if one of its flows has. */
using CallEnd = FlowEnd;

class OffloadedCall : public std::enable_shared_from_this<OffloadedCall> {
  int given_ = 0;               // ranks that have contributed
  std::vector<CallEnd> on_end_; // by rank; empty before it joins and after its part has ended
  Gate common_gate_;            // shared by all ranks, if they end together

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
  /** Called after rank @p rank has contributed its data. */
  virtual void given(int /*rank*/, const RankBuffers& /*buffers*/) {}
  /** Called when rank @p rank joins. */
  virtual void enter(int rank) = 0;
  /** Ends the part of rank @p rank. */
  void end(int rank, const FlowResult& result = {});
  /** Fails the call on all ranks that are in it. */
  void fail(const FlowResult& result);
  /** Called when a fault has cut a flow of the call. */
  virtual void broken(const FlowResult& result) { fail(result); }
  /** Returns a flow's completion callback: runs @p next on arrival, fails the call otherwise. */
  FlowEnd arrival(std::function<void()> next);

public:
  OffloadedCall(const OffloadedCall&)            = delete;
  OffloadedCall& operator=(const OffloadedCall&) = delete;
  virtual ~OffloadedCall()                       = default;

  /** Time that a rank's core spends on its call before it joins. */
  virtual Seconds host_overhead() const { return {}; }
  /** Gate on which a blocking rank waits, which opens when its part of the call has ended: one for all ranks, or @p
   * own. */
  Gate& gate(Gate& own) { return all_end_together() ? common_gate_ : own; }
  /** Joins rank @p rank with its contribution. Returns immediately; @p on_end runs when the rank's part of the call has
   * ended. @p stay: the rank's data stays unchanged until the call ends; even then the arrays of a non-blocking call
   * may change (MayChange). */
  template <class End> void join(int rank, const RankBuffers& buffers, bool stay, MPI_Op operation, End&& on_end)
  {
    // Constructed in place: a move of freshly written data would wait for all outstanding stores.
    CallEnd& place = on_end_[static_cast<std::size_t>(rank)];
    std::destroy_at(&place);
    std::construct_at(&place, std::forward<End>(on_end));
    contribute(rank, buffers, stay, operation);
  }
  /** Copies a rank's result into its receive buffer: in blocking calls once the rank's part has ended, in non-blocking
   * calls as soon as all ranks have contributed. */
  virtual void deliver(int rank) { exchange_->deliver(rank); }

protected:
  /** True if all ranks' parts end simultaneously. */
  virtual bool all_end_together() const { return false; }
};

} // namespace weft
