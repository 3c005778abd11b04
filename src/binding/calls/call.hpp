// SPDX-License-Identifier: LGPL-2.1-only
/* One rank's stay in one collective call. */
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

/** Whether a call is the program's own: not made by another collective, nor by SMPI while it makes the communicator. */
bool is_own_call(MPI_Comm comm);

/** While it lives, the rank's calls are not its program's own: SMPI's algorithms call further collectives. */
class InsideCollective {
  aid_t pid_;
  bool before_;

public:
  InsideCollective();
  InsideCollective(const InsideCollective&)            = delete;
  InsideCollective& operator=(const InsideCollective&) = delete;
  ~InsideCollective();
};

/** Entered when made; counted when it ends. What only the first rank does, or one that goes wrong, has functions of its
 *  own, so that the others' stacks have no room for it: ranks by the million have a page of stack each. */
class Call {
  int size_     = 0;
  double start_ = 0;
  std::shared_ptr<HostData> alone_data_;
  bool ended_ = false;

  [[gnu::noinline]] void begin(MPI_Comm comm);
  bool may_be_scheduled() const;
  [[gnu::noinline]] bool schedule(const HostShape& shape);
  void enter(MPI_Comm comm);
  [[gnu::noinline]] void first_enters();
  [[gnu::noinline]] void compare() const;
  void decide();
  void record_schedule(Record& record) const;

protected:
  RunContext& context_;
  CallDescriptor descriptor_;
  std::shared_ptr<Communicator> communicator_; // none where the rank is alone
  std::shared_ptr<CallInFlight> pending_;
  Decision decision_;

  /** An offloaded call has ended, for this rank. Where it has failed, so has the run. */
  void check(const FlowResult& result) const;

public:
  int rank = 0;

  /** @p describe makes the descriptor of the call: here, so that a rank's stack has it once. */
  template <class Describe>
  Call(RunContext& context, Describe&& describe, MPI_Comm comm) : context_(context), descriptor_(describe())
  {
    begin(comm);
  }
  Call(const Call&)            = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { end(); }

  bool offloaded() const { return decision_.offloaded(); }
  bool empty() const { return descriptor_.empty(); }
  bool alone() const { return size_ == 1; }

  /** The data of a call that the hosts execute; the first rank to ask has it made. */
  template <class Data, class Make> Data& host_data(Make&& make)
  {
    std::shared_ptr<HostData>& data = pending_ ? pending_->host_data : alone_data_;
    if (not data)
      data = make(size_);
    return static_cast<Data&>(*data);
  }
  /** This rank's part in that call has ended. */
  void leave_host_data();

  /** Whether a schedule of weft's carries it out, which all its ranks are told alike; @p make_parts makes what has a
   * HostShape (host_calls.hpp), and is asked where it may be so. */
  template <class MakeParts> [[gnu::noinline]] bool scheduled(const MakeParts& make_parts)
  {
    if (not may_be_scheduled())
      return false;
    if (pending_->scheduled)
      return true;
    const auto& parts = make_parts();
    return schedule(parts.host_shape());
  }
  /** Begin it: @p until_end is over when this rank's part in it is. */
  [[gnu::noinline]] void join_schedule(const HostShape& shape, Sleep& until_end);
  /** Wait for that, with nothing on the rank's stack that only its beginning needs. */
  void wait_for_schedule(Sleep& until_end) const;

  /** Carry out an offloaded call and wait for its end. */
  [[gnu::noinline]] void offload(const RankBuffers& buffers, MPI_Op operation);
  [[gnu::noinline]] void end();
};

/** One that does not block: with what its request needs, in one piece of memory. */
class StartedCall : public Call {
  RequestSignal signal_;
  std::shared_ptr<StartedCall> itself_; // until its end

  static MPI_Request make_request(const std::shared_ptr<StartedCall>& call);
  void ends(const FlowResult& result);

public:
  using Call::Call;

  /** Start a schedule; @p call is kept until its end. */
  static MPI_Request start_schedule(const std::shared_ptr<StartedCall>& call, const HostShape& shape);
  /** Start an offloaded call; @p call is kept until its end, and its buffers where they @p stay as they are until then.
   */
  static MPI_Request start_offload(const std::shared_ptr<StartedCall>& call, const RankBuffers& buffers, bool stay,
                                   MPI_Op operation);
};

} // namespace weft
