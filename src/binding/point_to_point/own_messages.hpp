// SPDX-License-Identifier: LGPL-2.1-only
/* Point-to-point messages, matched by weft and carried by its network.
 *
 * The protocols are SMPI's (src/smpi/mpi/smpi_request.cpp): a detached send, which is short or buffered, completes
 * immediately; an eager message leaves immediately, a rendezvous message when its receive is posted. A probe sees a
 * message as soon as it is sent. The sender of a detached or non-blocking message pays its overhead before the message
 * leaves; the receiver of a detached message pays in Request::finish_wait, which remains SMPI's. If the MPI library
 * progresses only inside calls, rendezvous messages also wait for ranks that compute (rendezvous_messages.hpp).
 *
 * Data of a one-sided call is a message that leaves immediately. SMPI posts its receive next, on behalf of the other
 * rank if need be. The data is copied into the window, or from it into the origin's buffer, when it has arrived.
 *
 * Messages are matched when they are sent or when their receive is posted, in the order of these calls. An endpoint
 * that has used MPI_ANY_SOURCE gets the messages of one instant after all ranks have run, in the order of their
 * senders' ranks, so that matches do not depend on the order in which SimGrid runs the ranks. */
#pragma once

#include "binding/messages/host_network.hpp"
#include "binding/point_to_point/described_messages.hpp"
#include "binding/point_to_point/rendezvous_messages.hpp"
#include "binding/point_to_point/sent_messages.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/requests/actor_hosts.hpp"
#include "binding/requests/endpoints.hpp"
#include "binding/requests/message_overheads.hpp"
#include "binding/requests/message_waits.hpp"
#include "binding/requests/request_ends.hpp"
#include "binding/run/run_context.hpp"
#include "network/agenda.hpp"
#include "network/messages.hpp"
#include "protocol/message_matching.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <smpi/smpi.h>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft {

/** Returns the reason why this run cannot use weft's transport, if it cannot. On a platform, SimGrid carries the
 * messages. */
std::optional<std::string> refusal_of_own_messages(bool on_fabric = true);
/** As refusal_of_own_messages(), with the SimGrid option that is the reason. */
std::optional<std::string> refusal_of_option(bool on_fabric);

class OwnMessages : public Receiving, public Due {
  using Index = SentMessages::Index;

  RunContext& context_;
  HostNetwork* network_ = nullptr; // null before the first message
  MessageMatching matching_;
  Endpoints endpoints_;
  ActorHosts hosts_;
  MessageOverheads overheads_;
  MessageWaits waits_;
  RequestEnds ends_;
  SentMessages sent_;
  RendezvousMessages rendezvous_;
  DescribedMessages descriptions_;
  std::vector<Index> leaving_;   // messages that leave at this instant
  std::vector<Index> left_;      // reused by due()
  std::vector<aid_t> receivers_; // receivers of messages that can be probed for at the end of the instant
  bool receives_next_ = false;   // true if a rank has made a matched receive
  ActorMap<std::optional<Index>> next_received_;
  ActorMap<std::optional<Index>> one_sided_;      // by caller: data of a one-sided call, whose receive follows
  std::unordered_map<Index, std::string> failed_; // messages that a receive has not met yet
  std::uint64_t started_ = 0;                     // number of requests started
  bool instant_ends_     = false;                 // due() will be called

  HostNetwork& network();
  void post(MPI_Request request);
  void send(MPI_Request request);
  Index new_message(MPI_Request request);
  MessageMatching::Endpoint receiving_endpoint(aid_t actor, MPI_Comm comm, aid_t source);
  void match(Index number, MPI_Request receive, int source, int tag);
  void leave(Index number);
  void end_instant();
  void deliver(Index number);
  void forget(Index number);
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
  /** Enables weft's transport for all subsequent messages. */
  static void begin(RunContext& context);

  /** Returns the overheads of messages. */
  MessageOverheads& overheads() { return overheads_; }
  /** Returns the ends of requests. */
  RequestEnds& ends() { return ends_; }

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
  /** Returns whether a standard send of this many bytes completes immediately. */
  bool detaches(std::size_t size) { return Bytes(static_cast<double>(size)) < network().costs.detached_below; }
  /** Returns the host of an actor; null if the actor has ended. */
  simgrid::s4u::Host* host_of(aid_t actor) { return hosts_.of(actor).host; }

  void arrived(std::uint64_t message) override;
  void failed(std::uint64_t message, const std::string& why) override;
  void due(std::uint64_t what) override;
};

} // namespace weft
