// SPDX-License-Identifier: LGPL-2.1-only
/* One rank's part in a collective call, from entry to end. */
#pragma once

#include "binding/data/exchange.hpp"
#include "binding/mechanisms/host/scheduled_call.hpp"
#include "binding/platform/flow_result.hpp"
#include "binding/ranks/places.hpp"
#include "binding/ranks/sleep.hpp"
#include "binding/run/communicator.hpp"
#include "binding/run/request.hpp"

#include <memory>

namespace weft {

class Record;
class RunContext;

/** Returns whether the program itself makes the call, rather than another collective, or SMPI while it creates the
 * communicator. */
bool is_own_call(MPI_Comm comm);

/** Scope in which the current rank's calls do not count as the program's own, because SMPI's
 * algorithms call further collectives. */
class CollectiveScope {
  aid_t pid_;
  bool before_;

public:
  CollectiveScope();
  CollectiveScope(const CollectiveScope&)            = delete;
  CollectiveScope& operator=(const CollectiveScope&) = delete;
  ~CollectiveScope();
};

/** Description of a call and its rank in the communicator, reused for calls with the same arguments. */
struct KeptCall {
  CallDescriptor descriptor;
  std::shared_ptr<Communicator> communicator;
  int rank = 0;
};

/** One rank's part in a collective call: the constructor enters the call, end() counts it in the record. Code needed
 * only by the first rank or on error paths is in noinline functions, to keep it off the stacks of all other ranks: with
 * millions of ranks, each has one page of stack. */
class Call {
  int size_     = 0;
  int number_   = MPI_UNDEFINED; // of the communicator, if a rank has asked for its counters
  double start_ = 0;
  std::shared_ptr<HostData> alone_data_;
  bool ended_ = false;

  // Out of line, here and below, for the reason in the class comment.
  [[gnu::noinline]] void begin(MPI_Comm comm);
  bool may_be_scheduled() const;
  [[gnu::noinline]] bool schedule(const HostShape& shape);
  void enter();
  [[gnu::noinline]] void first_enters();
  [[gnu::noinline]] void compare() const;
  void decide();
  void record_schedule(Record& record) const;
  std::string executing_algorithm() const;
  /** Returns the actor of the rank whose call it is. */
  aid_t actor() const;
  /** Out of line: most runs have no such tool. */
  [[gnu::noinline]] void count_for_tools(double duration) const;

protected:
  RunContext& context_;
  CallDescriptor descriptor_;
  std::shared_ptr<Communicator> communicator_; // null if the rank is alone
  std::shared_ptr<CallInFlight> pending_;
  Decision decision_;

  /** Aborts the run if the call has failed for this rank. */
  void check(const FlowResult& result) const;

public:
  int rank = 0;

  /** Enters the call that @p describe describes. Calling @p describe here keeps a single copy of the descriptor on the
   * rank's stack. */
  template <class Describe>
  Call(RunContext& context, Describe&& describe, MPI_Comm comm) : context_(context), descriptor_(describe())
  {
    begin(comm);
  }
  /** Enters a call with the arguments of an earlier one. */
  Call(RunContext& context, const KeptCall& kept);
  Call(const Call&)            = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { end(); }

  bool offloaded() const { return decision_.offloaded(); }
  bool empty() const { return descriptor_.empty(); }
  bool alone() const { return size_ == 1; }
  KeptCall kept() const { return {descriptor_, communicator_, rank}; }

  /** Returns the data of a call that the hosts execute; the first rank that needs it creates it with @p make. */
  template <class Data, class Make> Data& host_data(Make&& make)
  {
    std::shared_ptr<HostData>& data = pending_ ? pending_->host_data : alone_data_;
    if (not data)
      data = make(size_);
    return static_cast<Data&>(*data);
  }
  /** Ends this rank's part in the host data. */
  void leave_host_data();

  /** Returns whether a weft schedule executes the call; all ranks get the same answer. @p make_parts returns an object
   * with host_shape() (host_calls.hpp), called only if a schedule is possible and none exists yet. Out of line. */
  template <class MakeParts> [[gnu::noinline]] bool scheduled(const MakeParts& make_parts)
  {
    if (not may_be_scheduled())
      return false;
    if (pending_->scheduled)
      return true;
    const auto& parts = make_parts();
    return schedule(parts.host_shape());
  }
  /** Makes weft's own schedule execute a call that SMPI's algorithm refuses, as it does on each rank. Out of line. */
  [[gnu::noinline]] void schedule_instead(HostShape shape);
  /** Joins the schedule; wakes @p until_end when this rank's part ends. Out of line. */
  [[gnu::noinline]] void join_schedule(const HostShape& shape, Sleep& until_end);
  /** Waits for the end of the schedule. Separate from join_schedule(), whose locals would occupy the rank's stack
   * during the wait. */
  void wait_for_schedule(Sleep& until_end) const;

  /** Executes an offloaded call and waits for its end. Out of line. */
  [[gnu::noinline]] void offload(const RankBuffers& buffers, MPI_Op operation);
  [[gnu::noinline]] void end();
};

/** Non-blocking call, allocated together with the state of its request. */
class StartedCall : public Call {
  RequestSignal signal_;
  std::shared_ptr<StartedCall> itself_; // keeps the object alive until the call ends

  static MPI_Request make_request(const std::shared_ptr<StartedCall>& call);
  void ends(const FlowResult& result);

public:
  using Call::Call;

  /** Starts a schedule; @p call is kept alive until its end. */
  static MPI_Request start_schedule(const std::shared_ptr<StartedCall>& call, const HostShape& shape);
  /** Returns the request of a call that ends immediately, because its rank is alone. */
  static MPI_Request start_ended(const std::shared_ptr<StartedCall>& call);
  /** Starts an offloaded call; @p call is kept alive until its end. @p stay: the buffers remain unchanged until
   * then. */
  static MPI_Request start_offload(const std::shared_ptr<StartedCall>& call, const RankBuffers& buffers, bool stay,
                                   MPI_Op operation);
};

} // namespace weft
