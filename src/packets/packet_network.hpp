// SPDX-License-Identifier: LGPL-2.1-only
/* Messages as packets that cross a fabric's links.
 *
 * A message leaves on the route that a flow would take, as one transfer for each of its stripes. PacketSenders makes
 * packets of transfers, PacketLinks carries them. Here are the messages, their routes, and the loop over events. These
 * are outside the agenda, which asks for the next one (EventSource). Those of full packets are in order (PacketEvents),
 * so that what the next ones need can be prefetched.
 *
 * After a fault, messages take other routes once routing has learnt of it, also those in flight. */
#pragma once

#include "fabric/fabric.hpp"
#include "fabric/fabric_state.hpp"
#include "network/agenda.hpp"
#include "network/failing_links.hpp"
#include "network/flow_network.hpp"
#include "network/messages.hpp"
#include "network/tree_packets.hpp"
#include "packets/packet_events.hpp"
#include "packets/packet_links.hpp"
#include "packets/packet_senders.hpp"
#include "packets/packet_trees.hpp"
#include "packets/packet_work.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft {

class PacketNetwork : public Messages,
                      public TreeNetwork,
                      public EventSource,
                      public FailingLinks,
                      TransferredMessages {
public:
  using Work = PacketWork;

  /** @p local carries messages within hosts, and the work of cores. @p recovery: reaction of senders to faults; null if
   * nothing fails. All arguments must outlive the network, of which an agenda has at most one. Throws UserError if the
   * fabric has what packets cannot model, or if buffers are too small for a link. */
  PacketNetwork(Agenda& agenda, MessageRoutes& routes, const Fabric& fabric, Messages& local,
                const RecoveryModel* recovery = nullptr);

  void send(int from, int to, Bytes bytes, double missed, Receiving& receiver, std::uint64_t message) override;
  void send_on_sockets(const SocketMessage& message, Receiving& receiver, std::uint64_t number) override;
  void work(const SocketWork& work, Receiving& receiver, std::uint64_t number) override
  {
    local_.work(work, receiver, number);
  }
  void start(const TreePackets& call, Seconds now, Seconds jitter, int world, std::function<void()> done) override;
  const Work& work() const { return work_; }
  /** Returns whether a call, or a message that is not background traffic's, is in flight. Looks at all messages. */
  bool carries_foreground() const;
  /** Returns whether a link sends now. */
  bool is_sending(LinkId link, Seconds now) const { return links_.is_sending(link, now.value()); }

  double next() const override { return asleep_ ? NEVER_S : events_.next(); }
  bool run(double now) override;
  void cleared() override { asleep_ = true; }

  /** Lets links fail. @p known: what routing believes to be up. Both must outlive the network. */
  void begin_faults(const FabricState& known, LinkLosses& losses);
  void turn_off(const std::vector<LinkId>& links) override;
  void turn_on(const std::vector<LinkId>& links) override;
  void set_bandwidth(LinkId link, BytesPerSecond bandwidth) override { links_.set_bandwidth(link, bandwidth.value()); }
  void set_loss(LinkId link, double probability) override { links_.set_loss(link, probability); }
  void forget_routes() override;
  RecoveryCounts recovery_counts() const override { return senders_.counts(); }

private:
  struct Message {
    Receiving* receiver     = nullptr; ///< null: idle
    std::uint64_t number    = 0;
    std::uint32_t transfers = 0; ///< that have not arrived
    int from                = 0;
    int to                  = 0;
    Bytes bytes;
    double missed = 0;
    FlowRoute way; ///< if routes depend on flows
  };
  struct Failed {
    Receiving* receiver;
    std::uint64_t number;
    std::string why;
  };

  Agenda& agenda_;
  MessageRoutes& routes_;
  const Fabric& fabric_;
  Messages& local_;
  const RecoveryModel* const recovery_;
  const FabricState* known_ = nullptr;
  double now_               = 0;
  bool asleep_              = false; // the agenda was cleared; the next message wakes it
  PacketWork work_;
  PacketEvents events_;
  PacketLinks links_;
  PacketSenders senders_;
  PacketTrees trees_;
  std::vector<Message> messages_;
  std::vector<std::uint32_t> idle_;
  std::vector<std::pair<Receiving*, std::uint64_t>> arrived_;
  std::vector<std::pair<Receiving*, std::uint64_t>> telling_; // reused to avoid allocations
  std::vector<Failed> failed_;
  FlowRoute way_;

  void set_time(double now);
  void catch_up();
  void post(const SocketMessage& message, Receiving& receiver, std::uint64_t number);
  std::vector<StoredRoute> stripes(int from);
  void step(const PacketEvents::Entry& event);
  void tell();
  void end(std::uint32_t message);
  void transfer_arrived(std::uint32_t message) override;
  void given_up(std::uint32_t message, const std::string& obstacle) override;
  std::optional<StoredRoute> find_again(std::uint32_t message, double part, std::uint32_t stripe) override;
};

} // namespace weft
