// SPDX-License-Identifier: LGPL-2.1-only
/* Ends of a network of packets: senders that make packets of messages, and receivers that answer.
 *
 * The NIC of a host serves its transfers in turn, a packet each, and makes a packet only when its link is free. A
 * connection, all transfers from a host's link to another host, has the rate or the window of congestion control.
 *
 * Where packets can be lost, at full queues or through faults, transport is reliable: the receiver takes packets in
 * order, acknowledges them, and rejects the first one after a gap; the sender goes back to it (go-back-N, as
 * InfiniBand's reliable connections). With selective retransmission, it takes packets in any order, acknowledges each,
 * and rejects what a gap lacks, unless packets overtake each other because switches balance loads, or switches trim
 * packets, whose headers ask for them. A timeout covers lost tails and lost answers. With a RecoveryModel, its timeouts
 * and retries apply, and a sender that has used them up gives the message up. */
#pragma once

#include "fabric/fabric.hpp"
#include "model/packets/packet_model.hpp"
#include "model/recovery/recovery_model.hpp"
#include "packets/congestion/congestion_control.hpp"
#include "packets/packet_events.hpp"
#include "packets/packet_links.hpp"
#include "packets/packet_pool.hpp"
#include "packets/packet_port.hpp"
#include "packets/packet_routes.hpp"
#include "packets/packet_work.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace weft {

/** Messages to which transfers belong. */
class TransferredMessages {
public:
  TransferredMessages()                                      = default;
  TransferredMessages(const TransferredMessages&)            = delete;
  TransferredMessages& operator=(const TransferredMessages&) = delete;
  virtual ~TransferredMessages()                             = default;
  /** A transfer of a message has arrived. */
  virtual void transfer_arrived(std::uint32_t message)                      = 0;
  virtual void given_up(std::uint32_t message, const std::string& obstacle) = 0;
  /** Finds another route for @p part of a message around what routing knows to be down; nothing if there is none. */
  virtual std::optional<StoredRoute> find_again(std::uint32_t message, double part, std::uint32_t stripe) = 0;
};

class PacketSenders {
public:
  using Number = std::uint32_t;

private:
  enum class Place : std::uint8_t { idle, starting, ready, waiting, sent };
  /** Packets of a transfer with selective retransmission, by sequence number. */
  struct Selection {
    std::vector<bool> received;
    std::vector<bool> settled;       ///< acknowledged
    std::vector<bool> in_flight;     ///< sent, and neither acknowledged nor thought lost
    std::deque<std::uint32_t> again; ///< to be sent again
  };
  struct Transfer {
    double bytes           = 0;
    double deadline        = 0; ///< of the next acknowledgement
    Number message         = NO_NUMBER;
    Number connection      = NO_NUMBER;
    Number next            = NO_NUMBER;
    Number generation      = 0;
    std::uint32_t route    = 0;
    std::uint16_t hops     = 0;
    Place place            = Place::idle;
    bool timer             = false; ///< an event for its deadline exists
    std::uint16_t links    = 0;     ///< of the paths that switches choose; 0: packets keep to the route
    std::int32_t to        = 0;     ///< host
    std::uint32_t packets  = 0;
    std::uint32_t to_send  = 0;           ///< sequence number of the next new packet
    std::uint32_t most     = 0;           ///< packets sent at least once
    std::uint32_t received = 0;           ///< number of packets; in order with go-back-N
    std::uint32_t expected = 0;           ///< sequence number behind the highest that has arrived
    std::uint32_t settled  = 0;           ///< number of packets that are acknowledged; in order with go-back-N
    std::uint32_t rejected = NO_NUMBER;   ///< sequence number that the receiver has asked for last
    std::uint32_t stripe   = 0;           ///< of its message
    int timeouts           = 0;           ///< since the last progress
    bool abandoned         = false;       ///< its message was given up
    double hit_at          = NEVER_S;     ///< time at which a fault hit it, until it is sent again
    std::unique_ptr<Selection> selection; ///< null: go-back-N, or nothing is lost
  };
  struct Connection {
    ConnectionState state;
    double in_flight    = 0;         ///< bytes
    double notified     = -NEVER_S;  ///< time of the last notification to its sender
    PacketNumber notice = NO_PACKET; ///< notification that waits until another one may be sent
    double send_at      = 0;         ///< time of the next packet by its rate
    double paced_at     = NEVER_S;   ///< time of its next event for that
    double due_at       = NEVER_S;   ///< time of its next event for congestion control
    Number first        = NO_NUMBER; ///< transfers that wait for it
    Number last         = NO_NUMBER;
  };

  const Fabric& fabric_;
  const PacketModel& model_;
  PacketEvents& events_;
  PacketWork& work_;
  PacketLinks& links_;
  TransferredMessages& messages_;
  const RecoveryModel* const recovery_;       // null: without faults
  const CongestionControlRow* const control_; // null: none
  const bool reliable_;
  const bool selective_;
  const bool acknowledges_;
  const double packet_size_;
  const double timeout_; // the first one
  double now_ = 0;
  std::vector<Transfer> transfers_;
  std::vector<Number> idle_;
  std::vector<Connection> connections_;
  std::unordered_map<std::uint64_t, Number> connection_between_;
  std::vector<bool> down_; // by link, as routing knows; empty if it never learnt of any
  RecoveryCounts counts_;

public:
  /** @p recovery: null if nothing fails. All arguments must outlive the senders. */
  PacketSenders(const Fabric& fabric, PacketEvents& events, PacketWork& work, PacketLinks& links,
                TransferredMessages& messages, const RecoveryModel* recovery);

  const RecoveryCounts& counts() const { return counts_; }
  /** Returns the seconds after which packets are sent again; nothing if none can be lost. */
  std::optional<double> first_timeout() const { return reliable_ ? std::optional(timeout_) : std::nullopt; }
  void set_time(double now) { now_ = now; }
  /** Adds the transfer of a stripe of @p bytes to host @p to. */
  Number add(Number message, double bytes, const StoredRoute& route, int to, std::uint32_t stripe);
  /** Lets a transfer send at @p time, or now if that has passed. */
  void start(Number transfer, double time);
  /** Returns the next transfer of a port whose connection lets it send; NO_NUMBER if there is none. */
  Number ready(PacketPort& out);
  /** Returns the size of the next packet of a transfer. */
  double next_size(Number transfer) const { return size_of(transfers_[transfer], next_of(transfers_[transfer])); }
  /** Makes the next packet of the first transfer in line, and sends it. */
  void send_packet(LinkId link, PacketPort& out, Number transfer);
  void receive(PacketNumber number);
  /** A fault has hit a packet. */
  void lose(const Packet& packet);
  /** A fault has cut the link of a host. */
  void lose_link(PacketPort& out);
  /** Moves transfers to other routes whose links are down as far as routing knows. */
  void reroute(std::vector<bool> down);

  /** Events of transfers and connections. */
  void make_ready(Number transfer);
  void pace_due(Number connection, double time);
  void control_due(Number connection, double time);
  void send_notice(Number connection);
  void check_deadline(Number transfer);

private:
  double size_of(const Transfer& transfer, std::uint32_t sequence) const
  {
    return sequence + 1 < transfer.packets ? packet_size_ : transfer.bytes - sequence * packet_size_;
  }
  /** Returns the sequence number of the next packet. */
  static std::uint32_t next_of(const Transfer& transfer)
  {
    return transfer.selection && not transfer.selection->again.empty() ? transfer.selection->again.front()
                                                                       : transfer.to_send;
  }
  /** Returns whether a packet that arrives after a gap shows that those before it are lost. */
  bool shows_losses(const Packet& packet) const { return not packet.balanced && not model_.trims(); }
  static bool has_more(Transfer& transfer);
  double timeout_of(const Transfer& transfer) const;
  Number connect(LinkId first, int to);
  bool may_send(const Connection& connection, double bytes) const;
  static void land(Connection& connection, double bytes);
  void has_sent(Number transfer);
  void append(Number transfer, Number& first, Number& last);
  void await_connection(Number transfer);
  void admit(Number connection);
  void pace(Number connection);
  void schedule_control(Number connection);
  void receive_data(const Packet& packet);
  void receive_in_order(const Packet& packet);
  void receive_any(const Packet& packet);
  void receive_headers(const Packet& packet);
  void notify(const Packet& packet);
  PacketNumber create_answer(const Packet& packet, PacketKind kind, std::uint32_t sequence);
  void answer(const Packet& packet, PacketKind kind, std::uint32_t sequence);
  void acknowledge(const Packet& packet);
  double settle(Transfer& transfer, const Packet& packet);
  void repeat(const Packet& rejection);
  void lose_all(Transfer& transfer);
  void repeat_all(Number transfer);
  void go_back(Number transfer, std::uint32_t to);
  void take_back(const Transfer& transfer, std::uint32_t from);
  std::optional<LinkId> link_down(const Transfer& transfer) const;
  void count_resumed(Transfer& transfer);
  void expect_answer(Number transfer);
  void send_into_void(Number transfer);
  void give_up(Number transfer);
  void reroute(Number transfer);
  void balance(Transfer& transfer);
  void release(Number transfer);
};

} // namespace weft
