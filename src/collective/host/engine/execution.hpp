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
#include "network/agenda.hpp"
#include "network/messages.hpp"
#include "protocol/exact_matching.hpp"
#include "protocol/message_costs.hpp"
#include "protocol/message_exchange.hpp"
#include "protocol/paid_wait.hpp"
#include "protocol/rank_requests.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft {

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

/** Message between ranks of an execution. */
struct ScheduledMessage {
  int from;
  int to;
  double bytes;
  double posted; ///< time
  Request send;
  bool flag              = false;
  double missed          = 0;       ///< fraction of the data that is in no cache of one of the sockets
  const Connection* over = nullptr; ///< its connection; `posted` becomes the time at which it leaves
};

class Execution : public Due, public Receiving, private MessageExchange<Execution, ScheduledMessage, ExactMatching> {
  friend class MessageExchange<Execution, ScheduledMessage, ExactMatching>;
  enum class Activity : std::uint8_t { stepping, posting, computing, waiting, waiting_for_all, waiting_for_any };
  struct Rank {
    std::optional<Schedule> schedule = {}; // while it is in the call
    Activity doing                   = Activity::stepping;
    Request awaited                  = -1;
    AnyOf* any                       = nullptr;
    PaidWait all                     = {}; // while it waits for all
    RankRequests requests            = {};

    /** Resets the state, but keeps its memory. */
    void forget();
  };

public:
  /** Memory that calls reuse one after the other. */
  class Memory {
    friend class Execution;
    struct Used {
      std::vector<Rank> ranks;
      State messages;
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
  std::vector<std::size_t> sharing_; // by memory: ranks that use it; empty if missed_ is
  double left_core_ = 1;             // fraction of a rank's working set not in its core's caches
  std::function<Schedule(int rank)> schedule_;
  RankCallbacks& on_end_;
  std::vector<Rank> ranks_; // may be longer than needed

  Rank& state(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  double missed(int rank) const { return missed_.empty() ? missed_by_all_ : missed_[static_cast<std::size_t>(rank)]; }
  /** Fractions of a rank's data that are not in its core's caches, and in no cache at all. */
  struct Misses {
    double core;
    double all;
  };
  Misses misses(int rank, const Pipeline* pipeline, int copies = 1) const;
  double missed(const Step& send, int from) const;
  int socket(int rank) const { return sockets_[static_cast<std::size_t>(rank)]; }
  void find_sockets();
  std::vector<std::size_t> ranks_by_memory() const;
  std::size_t memory_of(std::size_t rank) const;
  bool begin_work(int number, const Step& step, Seconds overhead);
  int host(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }
  void resume(int number);
  bool take(int number, const Step& step);
  bool spend(int number, Seconds work, Activity doing);
  bool pass(int number, Seconds time, Activity doing);
  bool post_send(int number, const Step& step);
  bool post_receive(int number, const Step& step);
  bool may_leave(const Message& message) const;
  void carry(Index number);
  void proceed_on_connection(Index number);
  static void matched(Index /*number*/, int /*source*/, int /*tag*/) {}
  void send_ended(const Message& message);
  void receive_ended(const Message& message);
  void complete(int rank, Request number, double cost);
  double receiving_cost(const Message& message) const;
  bool wait_for(int number, Request awaited);
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
