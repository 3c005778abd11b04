// SPDX-License-Identifier: LGPL-2.1-only
/* Execution of a host collective in time: each rank takes the steps of its schedule, and its messages are flows.
 *
 * Messages behave as in SMPI (SimGrid 4.1, src/smpi/mpi/smpi_request.cpp). They are 16 bytes longer than their data.
 * Eager messages leave at once and do not block the sender, rendezvous messages leave once both sides have posted them.
 * A rank spends CPU time on posting an eager or a non-blocking send before it leaves, and on an arrived eager message
 * when it waits for it.
 *
 * A rank that does not attend (RankCallbacks::attends), because the program computes, proceeds to the next message that
 * has not arrived, and stops there. The NIC handles what it has posted: eager messages leave and arrive; a rendezvous
 * message leaves if its receiver attends, which then reads it from the sender's memory. */
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

/** Costs and protocol thresholds of messages between ranks. */
struct MessageCosts {
  Bytes detached_below; ///< smaller messages do not block their sender
  Bytes eager_below;    ///< smaller messages leave before the receive is posted
  /// CPU time of a message from host @p from to host @p to, at its sender or its receiver.
  using Time = std::function<Seconds(Bytes size, int from, int to)>;
  Time blocking_send;
  Time send; ///< non-blocking send
  Time receive;
  BytesPerSecond reduction_rate{
      std::numeric_limits<double>::infinity()}; ///< rate at which a rank combines two vectors, or copies one
  Seconds piece_overhead;                       ///< CPU time per contiguous piece of a non-contiguous message
  HostModel host;                               ///< caches, and the cost of missing them
  Seconds reduction_overhead;                   ///< CPU time before vectors are combined
};

/** Returns the costs described by the tables [mpi] and [host]. Without [mpi], SMPI's defaults: small sends do not
 * block, and no message leaves before both sides have posted it. */
MessageCosts costs_of(const std::optional<MpiModel>& mpi, const HostModel& host);

/** Callbacks of an execution about its ranks. */
class RankCallbacks {
public:
  RankCallbacks()                                = default;
  RankCallbacks(const RankCallbacks&)            = delete;
  RankCallbacks& operator=(const RankCallbacks&) = delete;
  virtual ~RankCallbacks()                       = default;
  virtual void rank_ended(int rank)              = 0;
  /** Returns true if a rank proceeds by itself when what it waits for has arrived; if not, Execution::attend must be
   *  called. */
  virtual bool makes_progress(int /*rank*/) const { return true; }
  /** Returns the socket of a rank on its host; negative: the ranks of the call are dealt out to the sockets. */
  virtual int socket(int /*rank*/) const { return -1; }
  /** Returns the duration of @p work that a rank begins at @p start, now or later; longer if its core is away. */
  virtual Seconds with_os_noise(int /*rank*/, Seconds /*start*/, Seconds work) { return work; }
  /** Reports that a message never arrives, so that some ranks will not end. */
  virtual void call_failed(const std::string& /*why*/) {}
  /** Reports that a rank's schedule is impossible, so that the rank will not end; by default, throws UserError. */
  virtual void call_refused(const std::string& why);
};

class Execution : public Due, public Receiving {
  struct Request {
    double cost   = 0; // CPU time of waiting for it once it is complete
    bool complete = false;
    bool reaped   = false; // waited for
  };
  enum class Activity : std::uint8_t { stepping, posting, computing, waiting, waiting_for_all, waiting_for_any };
  template <class What> struct Posted {
    int peer; // and tag: matching()
    What what;
  };
  struct Rank {
    std::optional<Schedule> schedule = {}; // while it is in the call
    Activity doing                   = Activity::stepping;
    weft::Request awaited            = -1;
    AnyOf* any                       = nullptr;
    int open                         = 0; // incomplete requests, while it waits for all
    double free_at                   = 0; // time at which it has reaped all arrivals, while it waits for all
    weft::Request first              = 0; // number of the first one in `requests`
    std::size_t reaped               = 0; // reaped requests at the front of `requests`
    std::vector<Request> requests    = {};
    // Posted here, not yet by the other side.
    std::vector<Posted<weft::Request>> receives = {};
    std::vector<Posted<std::uint32_t>> sent     = {}; // messages

    /** Resets the state, but keeps its memory. */
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
    double posted; // time
  };

public:
  /** Memory that calls reuse one after the other. */
  class Memory {
    friend class Execution;
    struct Used {
      std::vector<Rank> ranks;
      std::vector<Message> messages;
      std::vector<std::uint32_t> idle;
    };
    std::vector<Used> used_; // left by calls that have ended
  };

private:
  Agenda& agenda_;
  Messages& network_;
  const MessageCosts& costs_;
  std::shared_ptr<Memory> memory_;
  std::vector<int> hosts_;     // by rank
  std::vector<int> sockets_;   // by rank; empty: they are not modelled
  std::vector<double> missed_; // by rank: fraction of the socket's working set in no cache; empty: missed_by_all_
  double missed_by_all_ = 1;
  double left_core_     = 1; // fraction of a rank's working set not in its core's caches
  std::function<Schedule(int rank)> schedule_;
  RankCallbacks& on_end_;
  std::vector<Rank> ranks_; // may be longer than needed
  std::vector<Message> messages_;
  std::vector<std::uint32_t> idle_; // free entries of messages_
  std::vector<std::uint32_t> held_; // messages that leave when their receiver attends

  Rank& state(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  static Request& request(Rank& rank, weft::Request number)
  {
    return rank.requests[static_cast<std::size_t>(number - rank.first)];
  }
  double missed(int rank) const { return missed_.empty() ? missed_by_all_ : missed_[static_cast<std::size_t>(rank)]; }
  double missed(const Message& message) const;
  int socket(int rank) const { return sockets_[static_cast<std::size_t>(rank)]; }
  void find_sockets();
  std::vector<std::size_t> ranks_by_memory() const;
  std::size_t memory_of(std::size_t rank) const;
  Seconds work(int rank, Bytes bytes) const;
  bool begin_work(int number, Bytes bytes, Seconds overhead);
  int host(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }
  void resume(int number);
  bool take(int number, const Step& step);
  bool spend(int number, Seconds work, Activity doing);
  bool pass(int number, Seconds time, Activity doing);
  bool post_send(int number, const Step& step);
  bool post_receive(int number, const Step& step);
  void leave(std::uint32_t number);
  void leave_or_hold(std::uint32_t number);
  void complete(int rank, weft::Request number, double cost);
  double receiving_cost(const Message& message) const;
  bool wait_for(int number, weft::Request awaited);
  bool wait_for_all(int number);
  bool wait_for_any(int number);
  bool all_arrived(int number);

public:
  /** @p hosts by rank. The other arguments must outlive the execution, and the execution its messages. @p schedule
   * creates a rank's steps when it enters. */
  Execution(Agenda& agenda, Messages& network, const MessageCosts& costs, std::vector<int> hosts,
            std::function<Schedule(int rank)> schedule, RankCallbacks& on_end,
            std::shared_ptr<Memory> memory = nullptr);
  Execution(const Execution&)            = delete;
  Execution& operator=(const Execution&) = delete;
  ~Execution() override;

  /** Sets the total size of each rank's buffers; to be called before the first rank enters. */
  void work_on(Bytes buffers);

  /** Enters a rank at @p time, now or later. */
  void enter(int rank, Seconds time);

  /** Lets a rank attend again: it proceeds with what has arrived meanwhile. */
  void make_progress(int rank);

  void due(std::uint64_t rank) override;
  void arrived(std::uint64_t message) override;
  void failed(std::uint64_t /*message*/, const std::string& why) override { on_end_.call_failed(why); }
};

} // namespace weft
