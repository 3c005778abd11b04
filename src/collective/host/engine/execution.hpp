// SPDX-License-Identifier: LGPL-2.1-only
/* Timed execution of a host collective: each rank executes the steps of its schedule, and its messages are flows.
 *
 * Messages behave as in SMPI (SimGrid 4.1, src/smpi/mpi/smpi_request.cpp). They are 16 bytes longer than their data.
 * Eager messages leave immediately and do not block the sender; rendezvous messages leave once both sides have posted
 * them. A rank spends CPU time on posting an eager or non-blocking send before it leaves, and on an arrived eager
 * message when it waits for it.
 *
 * While a rank does not attend (RankCallbacks::attends) because the program computes, it proceeds only to the first
 * wait for a message that has not arrived. The NIC handles posted messages: eager messages leave and arrive; a
 * rendezvous message leaves if its receiver attends, which then reads it from the sender's memory. */
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
  /** Returns true if a rank proceeds automatically when the messages that it waits for have arrived; if not,
   * Execution::attend must be called. */
  virtual bool makes_progress(int /*rank*/) const { return true; }
  /** Returns the socket of a rank on its host; negative: the ranks of the call are distributed over the sockets. */
  virtual int socket(int /*rank*/) const { return -1; }
  /** Returns the duration of @p work that a rank begins at @p start, now or later; OS noise on its core makes it
   * longer. */
  virtual Seconds with_os_noise(int /*rank*/, Seconds /*start*/, Seconds work) { return work; }
  /** Reports that a message has failed, so some ranks will not finish. */
  virtual void call_failed(const std::string& /*why*/) {}
  /** Reports that a rank's schedule is impossible, so the rank will not finish; by default, throws UserError. */
  virtual void call_refused(const std::string& why);
};

/** Message between ranks of an execution. */
struct ScheduledMessage {
  int from;
  int to;
  double bytes;
  double posted; ///< time of posting
  Request send;
  bool flag              = false;
  double missed          = 0;       ///< fraction of the data that is not cached on one of the sockets
  const Connection* over = nullptr; ///< its connection; `posted` then becomes the departure time
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

    /** Resets the state without freeing memory. */
    void forget();
  };

public:
  /** Memory that consecutive calls reuse. */
  class Memory {
    friend class Execution;
    struct Used {
      std::vector<Rank> ranks;
      State messages;
    };
    std::vector<Used> used_; // left by completed calls
  };

private:
  Agenda& agenda_;
  Messages& network_;
  const MessageCosts& costs_;
  std::shared_ptr<Memory> memory_;
  std::vector<int> hosts_;     // by rank
  std::vector<int> sockets_;   // by rank; empty: sockets are not modelled
  std::vector<double> missed_; // by rank: uncached fraction of the socket's working set; empty: missed_by_all_ applies
  double missed_by_all_ = 1;
  std::vector<std::size_t> sharing_; // by memory: ranks that use it; empty if missed_ is empty
  double left_core_ = 1;             // fraction of a rank's working set not in its core's caches
  std::function<Schedule(int rank)> schedule_;
  RankCallbacks& on_end_;
  std::vector<Rank> ranks_; // may be longer than needed

  Rank& state(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  double missed(int rank) const { return missed_.empty() ? missed_by_all_ : missed_[static_cast<std::size_t>(rank)]; }
  /** Fractions of a rank's data that miss its core's caches, and that miss all caches. */
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

  /** Sets the total size of each rank's buffers; call it before the first rank enters. */
  void work_on(Bytes buffers);

  /** Enters a rank at @p time, now or later. */
  void enter(int rank, Seconds time);

  /** Makes a rank attend again: it proceeds with the messages that have arrived in the meantime. */
  void make_progress(int rank);

  void due(std::uint64_t rank) override;
  void arrived(std::uint64_t message) override;
  void failed(std::uint64_t /*message*/, const std::string& why) override { on_end_.call_failed(why); }
};

} // namespace weft
