// SPDX-License-Identifier: LGPL-2.1-only
/* Handshakes of rendezvous messages of an MPI library that progresses only inside MPI calls (Progress::calls).
 *
 * The sender's request reaches the receiver's host one latency after the send. The receiver replies in the next call in
 * which its library progresses (mpi_function.hpp), including the current one: with Rendezvous::get it then reads the
 * data, which no longer needs a rank; with Rendezvous::put its reply travels to the sender, who writes the data in its
 * next such call. As in UCX, a receive that is posted later starts immediately if the library has seen the request, and
 * otherwise waits for the next call (ucp_tag_recv_common in src/ucp/tag/tag_recv.c looks at the requests that
 * ucp_worker_progress has queued).
 *
 * The latency of a fabric's large messages includes their handshake, so a message that is not delayed leaves when both
 * sides have posted it, and takes as long as without this file. A delayed message leaves when the last reply is due.
 * For most messages, both sides wait and cannot leave MPI before completion; these need no event. */
#pragma once

#include "binding/messages/host_network.hpp"
#include "binding/observe/record_part.hpp"
#include "binding/point_to_point/sent_messages.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/requests/message_waits.hpp"
#include "binding/run/run_context.hpp"
#include "model/host/mpi_model.hpp"
#include "network/agenda.hpp"
#include "network/messages.hpp"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weft {

class RendezvousMessages : public Due, public ProgressedCall, public RecordPart {
  using Index = SentMessages::Index;
  struct Handshake {
    double posted;         // time at which both sides had posted the message
    double since;          // the same time, or the time at which the rank that it last waited for entered MPI
    Seconds latency;       // latency of the request to send, and of the reply
    bool answered = false; // true if the receiver has replied
  };

  RunContext& context_;
  const SentMessages& sent_;
  MessageWaits& waits_;
  Receiving& carried_;
  HostNetwork* network_ = nullptr; // null before the first message
  Rendezvous scheme_    = Rendezvous::get;
  std::unordered_map<Index, Handshake> handshakes_; // of messages that have not left
  ActorMap<std::vector<Index>> held_;               // messages that wait for a rank to enter MPI
  bool reports_         = false;
  std::int64_t delayed_ = 0; // number of messages delayed in this way
  double delay_         = 0; // sum of their delays

  Seconds latency_of_request(const SentMessage& message) const;
  void take_turn(Index number);
  void answer(Index number);
  void hold(aid_t actor, Index number);
  void leave_late(Index number);

public:
  /** @param carried is told of the arrival of messages that have left late. */
  RendezvousMessages(RunContext& context, const SentMessages& sent, MessageWaits& waits, Receiving& carried)
      : context_(context), sent_(sent), waits_(waits), carried_(carried)
  {
  }

  /** Sets what carries messages, before the first one. */
  void use(HostNetwork& network, Rendezvous scheme)
  {
    network_ = &network;
    scheme_  = scheme;
  }
  /** Begins the handshake of a message that both sides have posted. Returns whether it leaves now; otherwise, it leaves
   * by itself. */
  bool leaves_at_once(Index number);

  void due(std::uint64_t number) override;
  void make_progress(int actor) override;
  void add_rows(Json& record) const override;
};

} // namespace weft
