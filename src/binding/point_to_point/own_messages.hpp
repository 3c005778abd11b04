// SPDX-License-Identifier: LGPL-2.1-only
/* Point-to-point messages, matched by weft and carried by its network.
 *
 * The protocols are SMPI's (src/smpi/mpi/smpi_request.cpp): a detached send, which is short or buffered, completes
 * immediately; an eager message leaves immediately, a rendezvous message when its receive is posted. A probe sees a
 * message as soon as it is sent. The sender of a detached or non-blocking message pays its overhead before the message
 * leaves; the receiver of a detached message pays in Request::finish_wait, which remains SMPI's. If the MPI library
 * progresses only inside calls, rendezvous messages also wait for ranks that compute (rendezvous_messages.cpp).
 *
 * Data of a one-sided call is a message that leaves immediately. SMPI posts its receive next, on behalf of the other
 * rank if need be. The data is copied into the window, or from it into the origin's buffer, when it has arrived.
 *
 * Messages are matched when they are sent or when their receive is posted, in the order of these calls. An endpoint
 * that has used MPI_ANY_SOURCE gets the messages of one instant after all ranks have run, in the order of their
 * senders' ranks, so that matches do not depend on the order in which SimGrid runs the ranks. */
#pragma once

#include "binding/abi/private_abi.hpp"
#include "binding/messages/host_network.hpp"
#include "binding/observe/record_part.hpp"
#include "binding/point_to_point/endpoints.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/ranks/current.hpp"
#include "binding/ranks/sleep.hpp"
#include "binding/run/request.hpp"
#include "binding/run/run_context.hpp"
#include "model/host/mpi_model.hpp"
#include "network/agenda.hpp"
#include "network/messages.hpp"
#include "protocol/message_matching.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft {

class OwnMessages : public Receiving, public Due, public ProgressedCall, public RecordPart {
  struct Message {
    MPI_Request sender;  // null once its completion no longer depends on this message
    MPI_Request receive; // null until there is one
    MPI_Datatype type;   // null once the type may have been freed
    std::byte* data;
    std::size_t size;
    double sent; // time of sending
    int source;  // actor
    int from;    // hosts
    int to;
    bool detached : 1;
    bool kept : 1;    // `data` is an allocated copy
    bool left : 1;    // true if in flight, or arrived
    bool arrived : 1; // true if arrived or failed
    bool copied : 1;  // true if copied into the receive buffer, or without data
    bool failed : 1;
    bool withdrawn : 1; // true if cancelled
    bool asks : 1;      // true if it leaves after a handshake in which ranks take part
  };
  struct Handshake {
    double posted;         // time at which both sides had posted the message
    double since;          // the same time, or the time at which the rank that it last waited for entered MPI
    Seconds latency;       // latency of the request to send, and of the reply
    bool answered = false; // true if the receiver has replied
  };
  struct Place { // location of an actor
    simgrid::s4u::Host* host = nullptr;
    int vertex               = -1;
    bool gone                = false;
  };
  struct Waiter {
    Sleep* asleep     = nullptr;
    int missing       = 0;     // incomplete requests for which it waits
    bool pays         = false; // true if it pays for their overheads as they complete
    bool stays        = true;  // true if it waits for all of them
    double busy_until = 0;     // end of the overheads so far
    double since      = -1;    // start of its latest wait; negative: none
  };
  struct Probing { // search key of a rank in MPI_Probe
    aid_t rank;
    aid_t source;
    int tag;
    Endpoints::Owner owner;
  };
  using Index = std::uint64_t;
  /** Message overhead for the size asked for last. */
  struct Overhead {
    std::size_t size = 0;
    bool local       = false; // within a host
    double seconds   = -1;    // negative: not asked for yet
  };
  using AskOverhead = double (simgrid::smpi::Host::*)(std::size_t, simgrid::s4u::Host*, simgrid::s4u::Host*) const;

  RunContext& context_;
  HostNetwork* network_ = nullptr; // null before the first message
  bool sends_cost_      = false;
  bool receives_cost_   = false;
  bool costs_vary_      = false; // true if costs vary with the message or host
  Overhead last_send_;
  Overhead last_receive_;
  MessageMatching matching_;
  Endpoints endpoints_;
  std::vector<Message> messages_;
  std::vector<Index> idle_;
  std::vector<Index> leaving_; // messages that leave at this instant
  std::vector<Index> left_;    // reused by due()
  bool by_calls_     = false;  // true if ranks take part in handshakes
  Rendezvous scheme_ = Rendezvous::get;
  std::unordered_map<Index, Handshake> handshakes_; // of messages that have not left
  ActorMap<std::vector<Index>> held_;               // messages that wait for a rank to enter MPI
  bool reports_handshakes_ = false;
  std::int64_t delayed_    = 0;  // number of messages delayed in this way
  double delay_            = 0;  // sum of their delays
  std::vector<aid_t> receivers_; // receivers of messages that can be probed for at the end of the instant
  ActorMap<Place> places_;
  ActorMap<Waiter> waiters_;
  std::unordered_map<MPI_Request, aid_t> other_waiters_; // threads that wait for requests of their rank, by request
  bool receives_next_ = false;                           // true if a rank has made a matched receive
  ActorMap<std::optional<Index>> next_received_;
  ActorMap<std::optional<Index>> one_sided_; // by caller: data of a one-sided call, whose receive follows
  std::unordered_map<MPI_Request, std::shared_ptr<RequestSignal>>
      activities_; // signals of requests that have an activity
  std::map<aid_t, Probing> probing_;
  std::unordered_map<Index, std::string> failed_;         // messages that a receive has not met yet
  std::unordered_map<MPI_Request, std::string> failures_; // by request that has not been finished yet
  std::uint64_t started_            = 0;                  // number of requests started
  std::size_t noted_messages_       = 0;                  // messages at the last call of note_longest_queue()
  std::size_t kept_bytes_           = 0;                  // bytes copied since then
  std::size_t noted_bytes_          = 0;                  // memory of the longest queue reported so far
  bool instant_ends_                = false;              // due() will be called
  void (*told_of_end_)(MPI_Request) = nullptr;
  void (*told_of_message_)(aid_t)   = nullptr;

  HostNetwork& network();
  Place& place_of(aid_t actor)
  {
    Place& place = places_[actor];
    if (not place.host && not place.gone) [[unlikely]]
      find(place, actor);
    return place;
  }
  void find(Place& place, aid_t actor) const;
  void prepare(simgrid::smpi::RequestLayout& fields, MPI_Request request) const;
  void post(MPI_Request request);
  void send(MPI_Request request);
  void pay_for_send(const simgrid::smpi::RequestLayout& fields);
  double overhead(Overhead& last, AskOverhead ask, std::size_t size, simgrid::s4u::Host* from,
                  simgrid::s4u::Host* to) const;
  Index new_message(MPI_Request request);
  MessageMatching::Endpoint receiving_endpoint(aid_t actor, MPI_Comm comm, aid_t source);
  void match(Index number, MPI_Request receive, int source, int tag);
  void leave(Index number);
  void end_instant();
  bool stays(MPI_Request request);
  Seconds latency_of_request(const Message& message) const;
  bool leaves_at_once(Index number);
  void take_turn(Index number);
  void answer(Index number);
  void hold(aid_t actor, Index number);
  void leave_late(Index number);
  static bool has_no_data(const void* buffer, std::size_t size);
  void keep(Message& message);
  void copy_to_receive(Message& message) const;
  void fail(MPI_Request request, const std::string& why);
  void deliver(Index number);
  void forget(Index number);
  double take_overhead(MPI_Request request);
  double take_overheads(std::span<const MPI_Request> requests);
  void sleep(const Waiter& waiter);
  aid_t waiting_actor(MPI_Request request);
  void end_awaited(MPI_Request request);
  void end(MPI_Request request);
  void release(MPI_Request request) const;
  static MPI_Request request_of(std::uint64_t receive)
  {
    return reinterpret_cast<MPI_Request>(receive); // NOLINT(performance-no-int-to-ptr): the number is its address
  }
  void note_growth(std::size_t bytes);
  void note_longest_queue();
  std::string begin_of_wait(aid_t actor);
  static std::string text_of_message(const Message& message, int tag, const Endpoints::Owner& owner);
  std::string describe_waits(const ConcernsRank& concerns);
  void cancel_receive(MPI_Request request);
  void cancel_send(MPI_Request request);

  explicit OwnMessages(RunContext& context);

public:
  /** Message found by a probe. */
  struct Seen {
    aid_t source;
    int tag;
    std::size_t size;
  };
  /** Message that a matched probe has removed from the queue. */
  struct Taken {
    std::uint64_t message;
    aid_t source;
    int tag;
  };

  /** Returns the process's transport; null if SMPI transfers messages. */
  static OwnMessages* get();
  /** Returns the reason why this run cannot use weft's transport, if it cannot. On a platform, SimGrid carries the
   * messages. */
  static std::optional<std::string> refusal(bool on_fabric = true);
  /** As refusal(), with the SimGrid option that is the reason. */
  static std::optional<std::string> refusal_of_option(bool on_fabric);
  /** Enables weft's transport for all subsequent messages. */
  static void begin(RunContext& context);

  /** Starts a request like Request::start(). @return false if SMPI must start it */
  bool start(MPI_Request request);
  /** Returns the number of requests started. */
  std::uint64_t started() const { return started_; }
  /** Returns the first matching message of the current rank. @p source is an actor, or MPI_ANY_SOURCE. */
  std::optional<Seen> probe(aid_t source, int tag, MPI_Comm comm);
  /** Removes the first matching message of the current rank from the queue (MPI_Improbe). */
  std::optional<Taken> extract(aid_t source, int tag, MPI_Comm comm);
  /** Makes the current rank's next receive get a message that extract() has returned. */
  void receive_next(std::uint64_t message);
  /** Returns whether that receive has not been posted, and drops the message. */
  bool forget_next();
  /** Cancels an own request unless it is matched. */
  void cancel(MPI_Request request);
  /** Returns whether messages progress only inside MPI calls. */
  bool by_calls() const { return by_calls_; }
  /** Suspends the current rank until @p ends requests, all of which await() has marked, are complete. */
  void sleep(int ends);
  /** Suspends the current rank until one of these requests is complete. */
  void sleep_for_any();
  /** As sleep(), and then suspends the rank for the overheads of receives: of complete ones among @p requests, and of
   * all for which it waits. They then finish without overhead. */
  void sleep_and_pay(int ends, std::span<const MPI_Request> requests);
  /** Returns whether overheads of receives depend on more than their sizes, so that sleep_and_pay() cannot be used. */
  bool pays_one_by_one() const { return receives_cost_ && costs_vary_; }
  /** Marks a pending own request of the current rank. */
  void await(MPI_Request request);
  /** Removes the mark. */
  void no_longer_await(MPI_Request request);
  /** Suspends the current rank for the overheads of those of its requests that have received a detached message. They
   * then finish without overhead. */
  void pay_for_receives(std::span<const MPI_Request> requests);
  /** Returns whether a standard send of this many bytes completes immediately. */
  bool detaches(std::size_t size) { return Bytes(static_cast<double>(size)) < network().costs.detached_below; }
  /** Returns the host of an actor; null if the actor has ended. */
  simgrid::s4u::Host* host_of(aid_t actor) { return place_of(actor).host; }
  /** Records, for describe_waits(), that the current rank waits other than by sleep(). */
  void begin_wait();
  /** Records the current rank's probe until end_probe(). */
  void begin_probe(aid_t source, int tag, MPI_Comm comm);
  void end_probe() { probing_.erase(calling_actor()); }
  /** Gives a pending own request an activity, for SMPI to wait for and test. */
  void give_activity(MPI_Request request);
  /** Aborts the run if the message of a request has failed. */
  void check(MPI_Request request);
  /** Registers a callback for the completion of each own request. */
  void tell_of_ends(void (*told)(MPI_Request)) { told_of_end_ = told; }
  /** Registers a callback for each receiver of a message that a probe finds only at the end of the instant. */
  void tell_of_messages(void (*told)(aid_t)) { told_of_message_ = told; }

  void arrived(std::uint64_t message) override;
  void failed(std::uint64_t message, const std::string& why) override;
  void due(std::uint64_t what) override;
  void make_progress(int actor) override;
  void add_rows(Json& record) const override;
};

/** Returns the actor that started a request. */
inline aid_t owner_of(MPI_Request request)
{
  const simgrid::smpi::RequestLayout& fields = simgrid::smpi::layout_of(request);
  return (fields.flags & simgrid::smpi::RECEIVE_FLAG) != 0 ? fields.destination : fields.source;
}

} // namespace weft
