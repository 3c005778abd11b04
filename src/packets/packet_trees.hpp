// SPDX-License-Identifier: LGPL-2.1-only
/* Calls whose packets switches combine or copy.
 *
 * Members send the packets of their vectors in order. A switch counts the contributions to a packet in a slot, which
 * takes them out of the input buffers, and sends the result on once all have come: towards the root of the tree and,
 * from there, as copies to all members; for a Reduce, towards the member that is its root. A member sends packet k +
 * window once it has the result of packet k, so that a slot is free when its next packet comes (SwitchML: A. Sapio et
 * al., NSDI '21, section 4.1). The copy with the longest queue ahead holds the buffer of the packet that is copied.
 *
 * Contributions are stored before they are combined, also with cut-through. Where links lose packets, members send
 * them again (tree_resends.hpp): calls without results for all members need lossless links. */
#pragma once

#include "fabric/fabric.hpp"
#include "network/tree_packets.hpp"
#include "packets/packet_events.hpp"
#include "packets/packet_links.hpp"
#include "packets/packet_pool.hpp"
#include "packets/packet_port.hpp"
#include "packets/packet_routes.hpp"
#include "packets/packet_work.hpp"
#include "packets/tree_resends.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace weft {

class PacketTrees {
  using Number = std::uint32_t;

  /** Switch or member, with the edge above it. */
  struct Node {
    int parent = -1;
    bool up    = false; ///< packets cross its edge upwards
    bool down  = false;
    StoredRoute upwards{};
    StoredRoute downwards{};
    // Switches only:
    std::vector<Number> below; ///< nodes
    Number expects    = 1;     ///< contributions to a packet
    double combining  = 0;     ///< seconds after the last contribution
    double per_byte   = 0;     ///< seconds that it needs to combine a byte
    double busy_until = 0;
    std::vector<Number> contributions; ///< by slot
    // Members only:
    bool busy        = false; ///< a packet waits for its first link, or is being copied
    double copied_at = 0;     ///< time at which its host has copied the next packet
    Number sent      = 0;
    Number allowed   = 0; ///< number of packets that it may send
    Number received  = 0;
  };
  struct Call {
    bool combines = true;
    std::vector<Node> nodes; ///< switches, then members
    Number switches  = 0;
    Number receivers = 0; ///< that lack packets
    Number packets   = 0;
    Number window    = 0;
    double payload = 0, last_payload = 0, overhead = 0;
    double interval = 0; ///< seconds that a member's host needs for a packet
    double reaction = 0; ///< seconds from a result to the packet that reuses its slot
    Number pending  = 0; ///< packets and steps that have not arrived yet
    bool ended      = false;
    std::function<void()> done;
    std::optional<TreeResends> resends; ///< if packets can be lost
  };
  /** Later event of a call. */
  struct Step {
    static constexpr Number COPIED = NO_NUMBER;     ///< a member's host has copied a packet
    static constexpr Number TIMER  = NO_NUMBER - 1; ///< a member may have waited too long for a result
    Number call;
    Number node;   ///< NO_NUMBER: all members
    Number packet; ///< of a member: number of packets that it may send
  };

  const Fabric& fabric_;
  PacketEvents& events_;
  PacketWork& work_;
  PacketLinks& links_;
  const bool cuts_through_;
  const std::optional<double> timeout_; // seconds; nothing if links lose no packets
  double now_       = 0;
  std::size_t busy_ = 0; // calls in progress
  std::vector<Call> calls_;
  std::vector<Number> idle_calls_;
  std::vector<Step> steps_;
  std::vector<Number> idle_steps_;
  std::vector<std::function<void()>> ended_;
  std::vector<PacketNumber> copies_; // reused to avoid allocations

public:
  /** @p timeout: seconds after which members send a packet again; nothing if links lose none. All arguments must
   * outlive the trees. */
  PacketTrees(const Fabric& fabric, PacketEvents& events, PacketWork& work, PacketLinks& links,
              std::optional<double> timeout);

  void set_time(double now) { now_ = now; }
  /** TreeNetwork::start(). */
  void start(const TreePackets& call, Seconds jitter, std::function<void()> done);
  /** Returns whether a call is in progress. */
  bool busy() const { return busy_ > 0; }
  /** A packet has left the first queue of its edge. */
  void left(Number call, Number edge);
  /** A packet has reached the end of its edge, and is released afterwards. */
  void arrived(PacketNumber number);
  /** A packet was lost. */
  void lost(const Packet& packet);
  /** An event of a call is due. */
  void due(Number step);
  /** Returns the callbacks of the calls that have ended since the last time. */
  std::vector<std::function<void()>> take_ended() { return std::exchange(ended_, {}); }
  bool any_ended() const { return not ended_.empty(); }

private:
  Number add_call();
  void set_up(Call& call, const TreePackets& its) const;
  static void set_up_slots(Call& call);
  Number window_of(const Call& call, std::int64_t asked, double loop) const;
  Node node_of(const TreePackets::Edge& edge) const;
  double way(const StoredRoute& route, double bytes) const;
  double longest_loop(const Call& call) const;
  void add_step(double time, const Step& step);
  void send_next(Number call, Number member);
  static bool resends(Call& call, Number member) { return call.resends && call.resends->any_next(member); }
  void set_timer(Number call, Number member, std::optional<double> time);
  void expire(Number call, Number member);
  PacketNumber send(Number call, Number node, bool down, Number packet);
  void go_on(const Step& step);
  void take(const Packet& packet);
  void settle(Number call);
  void answer(Number call, Number node, Number child, Number packet);
  void contribute(Number call, Number node, const Packet& packet);
  void pass_on(Number call, Number node, Number packet);
  void copy(Number call, Number node, const Packet& packet);
  void receive(Number call, Number member, Number packet);
  void allow(Number call, Number member, Number packets);
};

} // namespace weft
