// SPDX-License-Identifier: LGPL-2.1-only
/* Messages as packets that cross a fabric's links.
 *
 * A message leaves on the route that a flow would take, as one transfer for each of its stripes. The NIC of its host
 * serves the transfers in turn, a packet each, and makes a packet only when its link is free. Switches have output
 * queues, first in, first out; each packet in one occupies the buffer of the input port through which it came, or, if
 * links drop packets, that of the output port. Hosts receive at the rate of their links. Acknowledgements and
 * notifications are packets of the reverse route that have priority, and neither need buffers nor are lost.
 *
 *   - Credits: a packet starts if the input buffer behind the link has room for it. Room is free again once the packet
 *     has left that switch, and known at the sender after the latency of the cable.
 *   - PFC: an input port with more than xoff bytes sends a pause frame, and one to resume at xon bytes. Headroom takes
 *     what arrives meanwhile.
 *   - No flow control: a full output queue drops packets. The receiver takes packets in order only, and rejects the
 *     first one after a gap (go-back-N); a timeout covers lost tails.
 *
 * A link costs one event for each packet, and another one while packets wait for it. Events are outside the agenda,
 * which asks for the next one (EventSource). Those of full packets are in order (PacketEvents), so that what the next
 * ones need can be prefetched. */
#pragma once

#include "fabric/fabric.hpp"
#include "model/packets/packet_model.hpp"
#include "network/agenda.hpp"
#include "network/flow_network.hpp"
#include "network/messages.hpp"
#include "packets/congestion_control.hpp"
#include "packets/packet_events.hpp"
#include "packets/packet_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft {

class PacketNetwork : public Messages, public EventSource {
public:
  /** Counters of the work done so far. */
  struct Work {
    std::uint64_t messages      = 0;
    std::uint64_t packets       = 0; ///< of data, with those sent again
    std::uint64_t hops          = 0; ///< links that packets of any kind have crossed
    std::uint64_t events        = 0;
    std::uint64_t dropped       = 0;
    std::uint64_t sent_again    = 0;
    std::uint64_t timeouts      = 0;
    std::uint64_t marked        = 0;
    std::uint64_t notifications = 0;
    std::uint64_t pauses        = 0;
    double paused_s             = 0; ///< time that links were paused, over all of them
    double most_queued          = 0; ///< bytes in the fullest output queue
    double most_buffered        = 0; ///< bytes of the fullest input port, with PFC
    std::size_t most_packets    = 0; ///< in flight at a time
  };

  /** @p local carries messages within hosts, and the work of cores. All arguments must outlive the network, of which an
   * agenda has at most one. Throws UserError if the fabric has what packets cannot model, or if buffers are too small
   * for a link. */
  PacketNetwork(Agenda& agenda, MessageRoutes& routes, const Fabric& fabric, Messages& local);

  void send(int from, int to, Bytes bytes, double missed, Receiving& receiver, std::uint64_t message) override;
  void send_on_sockets(const SocketMessage& message, Receiving& receiver, std::uint64_t number) override;
  void work(const SocketWork& work, Receiving& receiver, std::uint64_t number) override
  {
    local_.work(work, receiver, number);
  }
  const Work& work() const { return work_; }
  /** Returns whether a message is in flight that is not background traffic's. Looks at all messages. */
  bool carries_foreground() const;
  /** Returns whether a link sends now. */
  bool is_sending(LinkId link, Seconds now) const
  {
    return ports_[static_cast<std::size_t>(link)].free_at > now.value();
  }

  double next() const override { return asleep_ ? NEVER : events_.next(); }
  bool run(double now) override;
  void cleared() override { asleep_ = true; }

private:
  using Number                  = std::uint32_t;
  static constexpr double NEVER = std::numeric_limits<double>::infinity();
  static constexpr Number NONE  = std::numeric_limits<Number>::max();

  struct Credit {
    double time;
    double bytes;
  };
  /** Credits on their way to the sender of a link, in order of time. */
  class ReturningCredits {
    std::vector<Credit> all_;
    std::size_t first_ = 0;

  public:
    bool any() const { return first_ < all_.size(); }
    const Credit& next() const { return all_[first_]; }
    void add(Credit credit);
    double take();
    /** Returns when credits for @p bytes will have returned; infinity if too few are on their way. */
    double when(double bytes) const;
  };
  /** Sending end of a link. Members are in the order of their use. */
  struct alignas(64) Port {
    double free_at  = 0;
    double wake_at  = NEVER; ///< time of its next event
    double per_byte = 0;     ///< seconds
    double took     = 0;     ///< latency of the cable and of the switch at its end
    double room     = NEVER; ///< bytes for which it has credits
    double queued   = 0;     ///< bytes of data that wait
    PacketQueue data;
    Number first_transfer = NONE; ///< of those that may send, in turn
    Number last_transfer  = NONE;
    // Next cache line.
    PacketQueue control;
    double cable                   = 0;          ///< latency of the cable alone
    double serving                 = 0;          ///< bytes of data being sent until free_at
    double buffered                = 0;          ///< bytes at its end, with PFC
    std::int32_t leaving           = NO_IN_LINK; ///< link through which the packet came that is being sent, with PFC
    PacketEvents::Lane ends        = PacketEvents::NO_LANE; ///< of full packets
    PacketEvents::Lane arrives     = PacketEvents::NO_LANE;
    PacketEvents::Lane arrives_cut = PacketEvents::NO_LANE; ///< of their heads
    bool paused                    = false;
    bool pausing                   = false; ///< its end has paused it
    bool injects                   = false; ///< the last packet came from the host
    ReturningCredits returning;
  };
  /** Values of a port that are used seldom. */
  struct PortLimits {
    double ecn_min   = 0;
    double ecn_max   = 0;
    double buffer    = NEVER; ///< bytes that its output queue holds, without flow control
    double xoff      = NEVER;
    double xon       = NEVER;
    double paused_at = 0;
  };
  enum class Place : std::uint8_t { idle, starting, ready, waiting, sent };
  struct Transfer {
    double bytes           = 0;
    double deadline        = 0; ///< of the next acknowledgement
    Number message         = NONE;
    Number connection      = NONE;
    Number next            = NONE;
    Number generation      = 0;
    std::uint32_t route    = 0;
    std::uint16_t hops     = 0;
    Place place            = Place::idle;
    bool timer             = false; ///< an event for its deadline exists
    std::uint32_t packets  = 0;
    std::uint32_t to_send  = 0;    ///< sequence number of the next packet
    std::uint32_t most     = 0;    ///< packets sent at least once
    std::uint32_t received = 0;    ///< in order, without flow control
    std::uint32_t settled  = 0;    ///< acknowledged, or received if nothing is acknowledged
    std::uint32_t rejected = NONE; ///< sequence number that the receiver has asked for last
  };
  struct Message {
    Receiving* receiver  = nullptr; ///< null: idle
    std::uint64_t number = 0;
    Number transfers     = 0; ///< that have not arrived
    FlowRoute way;            ///< if routes depend on flows
  };
  struct Connection {
    ConnectionState state;
    double in_flight = 0;      ///< bytes
    double notified  = -NEVER; ///< time of the last notification to its sender
    double send_at   = 0;      ///< time of the next packet by its rate
    double paced_at  = NEVER;  ///< time of its next event for that
    double due_at    = NEVER;  ///< time of its next event for congestion control
    Number first     = NONE;   ///< transfers that wait for it
    Number last      = NONE;
  };
  struct StoredRoute {
    std::uint32_t first; ///< position in links_
    std::uint16_t hops;
    double latency;
  };

  Agenda& agenda_;
  MessageRoutes& routes_;
  const Fabric& fabric_;
  Messages& local_;
  const PacketModel& model_;
  const CongestionControlRow* const control_; // null: none
  const bool lossy_;
  const bool pauses_;
  const bool acknowledges_;
  const bool cuts_through_;
  const double packet_size_;
  const double control_size_;
  std::uint64_t seed_ = 0;
  double now_         = 0;
  bool asleep_        = false; // the agenda was cleared; the next message wakes it
  std::vector<Port> ports_;
  std::vector<PortLimits> limits_;                                     // by link
  std::vector<LinkId> links_;                                          // of all routes, one after the other
  std::unordered_map<std::uint64_t, std::vector<StoredRoute>> stored_; // by hash
  PacketPool pool_;
  PacketEvents events_;
  std::vector<Transfer> transfers_;
  std::vector<Number> idle_transfers_;
  std::vector<Message> messages_;
  std::vector<Number> idle_messages_;
  std::vector<Connection> connections_;
  std::unordered_map<std::uint64_t, Number> connection_between_;
  std::vector<std::pair<Receiving*, std::uint64_t>> arrived_;
  std::vector<std::pair<Receiving*, std::uint64_t>> telling_; // reused to avoid allocations
  FlowRoute way_;
  Work work_;

  Port& port(LinkId link) { return ports_[static_cast<std::size_t>(link)]; }
  PortLimits& limits(LinkId link) { return limits_[static_cast<std::size_t>(link)]; }
  void set_up(Port& port, PortLimits& limits, const Link& link);
  void prefetch() const;
  void catch_up();
  void post(int from, int to, Receiving& receiver, std::uint64_t number, double since);
  StoredRoute store(const int* first, const int* last);
  Number connect(int from, int to, LinkId first);
  Number add_transfer(Number message, const StoredRoute& route, Number connection);
  double size_of(const Transfer& transfer, std::uint32_t sequence) const;
  LinkId first_link(const Transfer& transfer) const { return links_[transfer.route]; }
  LinkId link_of(const Packet& packet) const;

  void step(const PacketEvents::Entry& event);
  void wake_port(LinkId link, double time, PacketEvents::Lane lane = PacketEvents::NO_LANE);
  void kick(LinkId link);
  void send_next(LinkId link);
  bool send_control(LinkId link, Port& out);
  Number ready_transfer(Port& out);
  bool has_room(LinkId link, Port& out, double bytes);
  void transmit(LinkId link, Port& out, PacketNumber number);
  void give_back(const Packet& packet, double time);
  void release_leaving(Port& out);
  void arrive(PacketNumber number);
  void enqueue(LinkId link, PacketNumber number);
  void mark(LinkId link, Packet& packet);
  void set_paused(LinkId link, bool paused);

  void make_ready(Number transfer);
  void inject(LinkId link, Port& out, Number transfer);
  bool may_send(const Connection& connection, double bytes) const;
  void has_sent(Number transfer);
  void await_connection(Number transfer);
  void admit(Number connection);
  void pace(Number connection);
  void schedule_control(Number connection);

  void receive(PacketNumber number);
  void receive_data(const Packet& packet);
  void answer(const Packet& packet, PacketKind kind, std::uint32_t sequence);
  void acknowledge(const Packet& packet);
  void go_back(Number transfer, std::uint32_t to);
  void expect_answer(Number transfer);
  void check_deadline(Number transfer);
  void arrived(Number message);
  void release(Number transfer);
};

} // namespace weft
