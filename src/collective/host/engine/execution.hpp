// SPDX-License-Identifier: LGPL-2.1-only
/* A collective that hosts carry out, in time: each rank takes the steps of its schedule, and its messages are flows.
 *
 * A message is what MPI's messages are in SMPI (SimGrid 4.1, src/smpi/mpi/smpi_request.cpp): 16 bytes longer than its
 * data; short ones leave at once and let the sender go on (eager), others when both sides have come (rendezvous); a
 * rank spends time on posting an eager or a non-blocking send before it leaves, and on an eager message that has
 * arrived when it waits for it.
 *
 * A rank that does not attend (RankEnd::attends), because the program computes meanwhile, comes to the next message
 * that has not come yet, and no further. What it has posted goes on without it, as a NIC has it: eager messages leave
 * and arrive; a longer one leaves where its receiver takes part, which then reads it from the sender's memory. */
#pragma once

#include "collective/host/engine/schedule.hpp"
#include "fabric/fabric_tables.hpp"
#include "model/host/mpi_model.hpp"
#include "network/agenda.hpp"
#include "network/messages.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

/** What the hosts and their MPI library spend on a message, and from what size on it waits. */
struct MessageCosts {
  Bytes detached_below; ///< shorter ones let their sender go on at once
  Bytes eager_below;    ///< shorter ones leave at once, whether or not anybody receives them
  /// What a rank on host @p from spends on a message to one on host @p to, or the other on receiving it.
  using Time = std::function<Seconds(Bytes size, int from, int to)>;
  Time blocking_send;
  Time send; ///< one that does not block
  Time receive;
  BytesPerSecond reduction_rate{
      std::numeric_limits<double>::infinity()}; ///< at which a rank combines two vectors, or copies one
  Seconds piece_overhead;                       ///< of a rank, on each piece of a message that is not in one piece
  HostModel host;                               ///< its caches, and what it takes to work on what is not in them
};

/** The costs that a fabric file's tables [mpi] and [host] mean; without [mpi] the costs of SMPI by default, where
 *  senders of short messages go on at once, and no message leaves before both sides have posted it. */
MessageCosts costs_of(const std::optional<MpiModel>& mpi, const HostModel& host);

/** Who is told that a rank has taken all of its steps, and asked whether it may take them. */
class RankEnd {
public:
  RankEnd()                          = default;
  RankEnd(const RankEnd&)            = delete;
  RankEnd& operator=(const RankEnd&) = delete;
  virtual ~RankEnd()                 = default;
  virtual void rank_ended(int rank)  = 0;
  /** Whether a rank goes on by itself when what it waits for has come; else Execution::attend must be called. */
  virtual bool attends(int /*rank*/) const { return true; }
  /** How long @p work takes that a rank begins at @p start, now or later: longer where its core does other things. */
  virtual Seconds lengthened(int /*rank*/, Seconds /*start*/, Seconds work) { return work; }
  /** A message never arrives: some ranks will not end. */
  virtual void call_failed(const std::string& /*why*/) {}
};

class Execution : public Due, public Receiving {
  struct Request {     // that a rank has posted
    double cost   = 0; // of waiting for it once it is there
    bool complete = false;
    bool reaped   = false; // has been waited for
  };
  enum class Doing : std::uint8_t { stepping, posting, computing, waiting, waiting_for_all, waiting_for_any };
  template <class What> struct Posted {
    int peer; // with the tag: matching()
    What what;
  };
  struct Rank {
    std::optional<Schedule> schedule = {}; // while it is in the call
    Doing doing                      = Doing::stepping;
    weft::Request awaited            = -1;
    AnyOf* any                       = nullptr;
    int open                         = 0; // requests that are not complete, while it waits for all
    double free_at                   = 0; // when it has reaped all that has come, while it waits for all
    weft::Request first              = 0; // of those in `requests`
    std::size_t reaped               = 0; // at the front of `requests`
    std::vector<Request> requests    = {};
    // What the other side has not posted yet.
    std::vector<Posted<weft::Request>> receives = {};
    std::vector<Posted<std::uint32_t>> sent     = {}; // messages

    /** As it was made, but for its memory. */
    void forget();
  };
  struct Message {
    int from;
    int to;
    double bytes;
    weft::Request send;
    weft::Request receive; // -1: not posted yet
    bool detached;
    bool left;
    bool arrived;
    bool flag;
    double posted; // when
  };

public:
  /** What calls hand on to one another, so that only the first of them has to ask for memory. */
  class Memory {
    friend class Execution;
    struct Used {
      std::vector<Rank> ranks;
      std::vector<Message> messages;
      std::vector<std::uint32_t> idle;
    };
    std::vector<Used> used_; // by calls that have ended
  };

private:
  Agenda& agenda_;
  Messages& network_;
  const MessageCosts& costs_;
  std::shared_ptr<Memory> memory_;
  std::vector<int> hosts_;     // by rank
  std::vector<double> missed_; // by rank: which part of what its host works on is in no cache; empty: as of all
  double missed_by_all_ = 1;
  double left_core_     = 1; // which part of what a rank works on is not in its core's caches
  std::function<Schedule(int rank)> schedule_;
  RankEnd& on_end_;
  std::vector<Rank> ranks_; // at least so many
  std::vector<Message> messages_;
  std::vector<std::uint32_t> idle_; // of those
  std::vector<std::uint32_t> held_; // of those: they leave when their receiver attends

  Rank& state(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  static Request& request(Rank& rank, weft::Request number)
  {
    return rank.requests[static_cast<std::size_t>(number - rank.first)];
  }
  double missed(int rank) const { return missed_.empty() ? missed_by_all_ : missed_[static_cast<std::size_t>(rank)]; }
  double missed(const Message& message) const;
  Seconds work(int rank, Bytes bytes) const;
  int host(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }
  void go_on(int number);
  bool take(int number, const Step& step);
  bool spend(int number, Seconds work, Doing doing);
  bool pass(int number, Seconds time, Doing doing);
  bool post_send(int number, const Step& step);
  bool post_receive(int number, const Step& step);
  void leave(std::uint32_t number);
  void leave_or_hold(std::uint32_t number);
  void complete(int rank, weft::Request number, double cost);
  double receiving_cost(const Message& message) const;
  bool wait_for(int number, weft::Request awaited);
  bool wait_for_all(int number);
  bool wait_for_any(int number);
  bool all_have_come(int number);

public:
  /** @p hosts by rank. All but it must outlive this, and this what it has sent. @p schedule makes a rank's steps when
   * it enters. */
  Execution(Agenda& agenda, Messages& network, const MessageCosts& costs, std::vector<int> hosts,
            std::function<Schedule(int rank)> schedule, RankEnd& on_end, std::shared_ptr<Memory> memory = nullptr);
  Execution(const Execution&)            = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution() override;

  /** How large the buffers of each rank are together. Before the first enters. */
  void work_on(Bytes buffers);

  /** A rank enters the call at @p time, which is now or later. */
  void enter(int rank, Seconds time);

  /** A rank that did not attend does now: it goes on with what has come meanwhile. */
  void attend(int rank);

  void due(std::uint64_t rank) override;
  void arrived(std::uint64_t message) override;
  void failed(std::uint64_t /*message*/, const std::string& why) override { on_end_.call_failed(why); }
};

} // namespace weft
