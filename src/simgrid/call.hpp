// SPDX-License-Identifier: LGPL-2.1-only
/* One rank's stay in one collective call. */
#pragma once

#include "simgrid/communicator.hpp"
#include "simgrid/exchange.hpp"
#include "simgrid/flow_result.hpp"
#include "simgrid/places.hpp"
#include "simgrid/scheduled_call.hpp"

#include <memory>

namespace weft {

class Record;
class Simulation;

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

/** Entered when made; counted when it ends. */
class Call {
  Described described_;
  int size_;
  double start_;
  std::shared_ptr<Communicator> communicator_; // none where the rank is alone
  std::shared_ptr<PendingCall> pending_;
  std::shared_ptr<HostData> alone_data_;
  Decision decision_;
  bool ended_ = false;

  Call(const Described& described, MPI_Comm comm, Place place);
  bool may_be_scheduled() const;
  bool schedule(const HostShape& shape);
  void enter(MPI_Comm comm);
  void decide(Simulation& simulation);
  void record_schedule(Record& record) const;
  Seconds host_overhead() const;
  /** An offloaded call has ended, for this rank. Where it has failed, so has the run. */
  void check(const FlowResult& result) const;

public:
  int rank;

  Call(const Described& described, MPI_Comm comm);
  Call(const Call&)            = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { end(); }

  bool offloaded() const { return decision_.offloaded(); }
  bool empty() const { return described_.empty; }
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

  /** Whether a schedule of weft's carries it out, which all its ranks are told alike; @p shape makes a HostShape, and
   * is asked where it may be so. */
  template <class Shape> bool scheduled(Shape&& shape)
  {
    return may_be_scheduled() && (pending_->scheduled || schedule(shape()));
  }
  /** Carry it out and wait for this rank's end. */
  void run_schedule(const HostShape& shape);
  /** Start it; @p call is kept until its end. */
  static MPI_Request start_schedule(const std::shared_ptr<Call>& call, const HostShape& shape);

  /** Carry out an offloaded call and wait for its end. */
  void offload(const RankBuffers& buffers, MPI_Op operation);
  /** Start an offloaded call; @p call is kept until its end, and its buffers where they @p stay as they are until then.
   */
  static MPI_Request offload_nonblocking(const std::shared_ptr<Call>& call, const RankBuffers& buffers, bool stay,
                                         MPI_Op operation);
  void end();
};

} // namespace weft
