// SPDX-License-Identifier: LGPL-2.1-only
/* Links of a network of packets: output queues, the buffers behind links, and their flow control.
 *
 * Switches have an output queue for each link and virtual lane, first in, first out; each packet in one occupies the
 * buffer of the input port through which it came, or, if links drop packets, that of the output port. Lanes that have a
 * packet and room for it send in turn. Acknowledgements and notifications have priority, and need no buffers.
 *
 *   - Credits: a packet starts if the input buffer behind the link has room for it. Room is free again once the packet
 *     has left that switch, and known at the sender after the latency of the cable.
 *   - PFC: an input port with more than xoff bytes sends a pause frame, and one to resume at xon bytes. Headroom takes
 *     what arrives meanwhile.
 *   - No flow control: a full output queue drops packets, or trims them to their headers, which have priority. It trims
 *     the newest packet in it or the one that arrives, so that no sender is always the one whose packets are trimmed.
 *
 * With InfiniBand's congestion control, a lane marks packets if it is a root of congestion: it has had credits for the
 * time in which a buffer drains.
 *
 * A link that fails loses what is on it; what waits for it, or reaches it, is discarded. The buffers of lost packets
 * are free again, as InfiniBand's flow-control packets, which carry totals, correct the credits.
 *
 * With load balancing, switches choose the next hop of each packet: in turn, or the one with the shortest queue.
 *
 * A link costs one event for each packet, and another one while packets wait for it. */
#pragma once

#include "fabric/fabric.hpp"
#include "model/packets/packet_model.hpp"
#include "network/link_losses.hpp"
#include "packets/load_balancer.hpp"
#include "packets/packet_events.hpp"
#include "packets/packet_pool.hpp"
#include "packets/packet_port.hpp"
#include "packets/packet_routes.hpp"
#include "packets/packet_work.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace weft {

class PacketSenders;
class PacketTrees;

class PacketLinks {
  const Fabric& fabric_;
  const PacketModel& model_;
  PacketEvents& events_;
  PacketWork& work_;
  const bool lossy_;
  const bool pauses_;
  const bool cuts_through_;
  const bool trims_;
  const bool marks_;
  const bool marks_roots_;
  const std::uint32_t lanes_;
  const double packet_size_;
  const double control_size_;
  std::uint64_t seed_     = 0;
  double round_trip_      = 0; // of the idle fabric, with NSCC
  double now_             = 0;
  bool faulty_            = false; // a link has failed or is lossy
  LinkLosses* losses_     = nullptr;
  PacketSenders* senders_ = nullptr;
  PacketTrees* trees_     = nullptr;
  std::vector<PacketPort> ports_;  // by link and lane
  std::vector<PortLimits> limits_; // by link
  std::vector<double> paused_at_;  // by port, with PFC
  PacketPool pool_;
  std::optional<PacketRoutes> routes_;
  LoadBalancer balancer_;

public:
  /** All arguments must outlive the links. Throws UserError if buffers are too small for a link. */
  PacketLinks(const Fabric& fabric, PacketEvents& events, PacketWork& work);

  /** Sets the senders whose hosts' links these are, and the calls whose packets switches take. Both must outlive the
   * links. */
  void serve(PacketSenders& senders, PacketTrees& trees)
  {
    senders_ = &senders;
    trees_   = &trees;
  }
  PacketRoutes& routes() { return *routes_; }
  PacketPool& pool() { return pool_; }
  LoadBalancer& balancer() { return balancer_; }
  /** Returns the round trip of the idle fabric in seconds; 0 without NSCC. */
  double round_trip() const { return round_trip_; }
  /** Returns the first lane of a link, which has what belongs to the link. */
  PacketPort& wire(LinkId link) { return ports_[static_cast<std::size_t>(link) * lanes_]; }
  bool is_sending(LinkId link, double now) const
  {
    return ports_[static_cast<std::size_t>(link) * lanes_].free_at > now;
  }
  /** Returns the seconds that a link needs for a byte. */
  double per_byte(LinkId link) { return wire(link).per_byte; }
  void set_time(double now) { now_ = now; }
  /** Prefetches what the next events of the same kind as the last one need. */
  void prefetch() const;

  /** The link was to be woken up at @p time. */
  void wake(LinkId link, double time);
  /** Sends the next packet of a link if it is idle, else when it will be. */
  void kick(LinkId link);
  /** Sends a new packet over the idle first link of its route. */
  void inject(LinkId link, PacketNumber number) { transmit(link, wire(link), wire(link), number); }
  /** Sends an acknowledgement, a rejection, a notification or the headers of a packet. */
  void answer(PacketNumber number);
  /** Puts a packet of a tree in the queue of its first link. */
  void queue(PacketNumber number) { enqueue(routes_->port(pool_[number].route), number); }
  /** Puts copies of a packet in their queues. The one with the longest queue ahead keeps the packet's buffer. */
  void queue_copies(const Packet& packet, const std::vector<PacketNumber>& copies);
  /** A switch has taken a packet of a tree out of its input buffer, which is free again at @p time. */
  void take_in(const Packet& packet, double time);
  /** The packet has reached the end of a link. */
  void arrive(PacketNumber number);
  void set_paused(std::uint32_t port, bool paused);

  void turn_off(const std::vector<LinkId>& links);
  void turn_on(const std::vector<LinkId>& links);
  void set_bandwidth(LinkId link, double bytes_per_second);
  /** @p losses must outlive the links. */
  void set_losses(LinkLosses& losses) { losses_ = &losses; }
  void set_loss(LinkId link, double probability);

private:
  LinkId link_of(std::size_t port) const { return static_cast<LinkId>(port / lanes_); }
  PortLimits& limits(LinkId link) { return limits_[static_cast<std::size_t>(link)]; }
  void set_up(LinkId id, const Link& link);
  void set_pauses(PortLimits& limits, const Link& link, double loop) const;
  void set_pace(PacketPort& port, double rate);
  LinkId crossed_by(const Packet& packet) const;
  double delay_of(LinkId link) const;
  bool choose_hop(Packet& packet);
  bool has_data(const PacketPort& wire) const;
  void wake_port(LinkId link, double time, PacketEvents::Lane lane = PacketEvents::NO_LANE);
  void send_next(LinkId link);
  bool send_data(LinkId link, PacketPort& wire, PacketPort& out);
  bool has_room(LinkId link, PacketPort& out, double bytes);
  void transmit(LinkId link, PacketPort& wire, PacketPort& out, PacketNumber number);
  void give_back(std::int32_t port, double size, double time);
  void free_buffer(std::int32_t port, double size);
  void occupy(const Packet& packet);
  void enqueue(std::size_t port, PacketNumber number);
  void overflow(LinkId link, PacketPort& out, PacketNumber number);
  void forward_headers(PacketNumber number);
  void mark(LinkId link, PacketPort& out, Packet& packet);
  void mark_root(LinkId link, PacketPort& out, Packet& packet);
  double draw_mark() const;
  bool loses(const Packet& packet);
  void discard(PacketNumber number, bool cut, bool buffered);
  void discard_queues(LinkId link);
  void lose_in_flight(const std::vector<LinkId>& links);
};

} // namespace weft
