/* Offloaded calls: their data, and who waits for their end.
 *
 * Those over a reduction tree (TreeOffload) have a part that stays in the hosts; how the tree is timed is up to the two
 * kinds of them: streams (stream_offload.cpp) and messages (message_offload.cpp). Those by the multicast protocol are
 * in multicast_offload.cpp. */
#pragma once

#include "simgrid/call.hpp"
#include "simgrid/communicator.hpp"
#include "simgrid/exchange.hpp"
#include "simgrid/simulation.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <simgrid/s4u.hpp>
#include <vector>

namespace weft {

/** Bytes of each rank's part; none where a collective has no parts. */
std::vector<double> parts_of(int ranks, const Described& described);
/** What a call is to its tree: parts and root by member. @p parts are those of the ranks. */
TreeCall tree_call(const Communicator& communicator, const Described& described, const std::vector<double>& parts);

class OffloadedCall : public std::enable_shared_from_this<OffloadedCall> {
  int given_ = 0;                             // ranks
  std::vector<std::function<void()>> on_end_; // by rank
  simgrid::s4u::SemaphorePtr common_gate_;    // of all ranks, where they end together

protected:
  Simulation& simulation_;
  const std::shared_ptr<Communicator> communicator_;
  const char* collective_;
  const Movement movement_;
  const int root_;                  // rank
  const std::vector<double> parts_; // bytes, by rank
  std::unique_ptr<Exchange> exchange_;

  OffloadedCall(const std::shared_ptr<Communicator>& communicator, const Described& described,
                std::size_t fixed_point_block);
  /** Rank @p rank has given its data. */
  virtual void given(int /*rank*/, const RankBuffers& /*buffers*/) {}
  /** It takes part from now on. */
  virtual void enter(int rank) = 0;
  /** Its part of the call has ended. */
  void end(int rank);

public:
  OffloadedCall(const OffloadedCall&)            = delete;
  OffloadedCall& operator=(const OffloadedCall&) = delete;
  virtual ~OffloadedCall()                       = default;

  static std::shared_ptr<OffloadedCall> create(const std::shared_ptr<Communicator>& communicator, Path path,
                                               const Described& described);

  /** What a rank that blocks waits for, opened when its part of the call has ended. */
  simgrid::s4u::SemaphorePtr gate();
  /** Rank @p rank contributes. Returns at once; @p on_end runs when its part of the call has ended. */
  void join(int rank, RankBuffers buffers, MPI_Op operation, std::function<void()> on_end);
  /** What a rank that has joined has to do itself; returns when that is done. */
  virtual void speak(int /*rank*/) {}
  /** The same, by an actor beside the rank where there is something to do. */
  static void speak_in_background(const std::shared_ptr<OffloadedCall>& call, int rank);
  /** Put the result of a rank that blocks into its buffer, once its part of the call has ended. */
  virtual void deliver(int rank) { exchange_->deliver(rank); }

protected:
  /** Whether all ranks' parts end at the same time. */
  virtual bool all_end_together() const { return false; }
  /** Whether speak() does anything for @p rank. */
  virtual bool must_speak(int /*rank*/) const { return false; }
};

/** A call over the communicator's reduction tree. */
class TreeOffload : public OffloadedCall {
  std::vector<int> arrived_; // by member: its ranks whose contributions are together

  TreeOffload(const std::shared_ptr<Communicator>& communicator, const Described& described, const HostWork& work);
  /** What goes from a rank to the one that speaks for its member, and back; nothing where that rank has no part. */
  std::optional<Bytes> within_host(int rank, Who who, Share share) const;
  std::optional<Bytes> to_speaker(int rank) const;
  std::optional<Bytes> from_speaker(int rank) const;
  void arrive(int rank);

protected:
  const TreeCall call_;
  const HostWork host_work_;

  void enter(int rank) override;
  /** The contributions of all ranks of @p member are together. From a rank or SimGrid's kernel. */
  virtual void member_ready(int member) = 0;
  /** What @p member gets has come to it. From a rank, an actor or SimGrid's kernel. */
  void member_done(int member);

public:
  TreeOffload(const std::shared_ptr<Communicator>& communicator, const Described& described);
};

std::shared_ptr<OffloadedCall> make_stream_call(const std::shared_ptr<Communicator>& communicator,
                                                const Described& described);
std::shared_ptr<OffloadedCall> make_message_call(const std::shared_ptr<Communicator>& communicator,
                                                 const Described& described);
std::shared_ptr<OffloadedCall> make_multicast_call(const std::shared_ptr<Communicator>& communicator,
                                                   const Described& described);

} // namespace weft
