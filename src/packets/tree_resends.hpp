// SPDX-License-Identifier: LGPL-2.1-only
/* Retransmission of a call's packets where links lose some, as SwitchML does over one switch (A. Sapio et al., NSDI
 * '21, algorithms 3 and 4): a member sends a packet again whose result has not come within a timeout. Switches tell
 * packets apart that they have counted, and keep the previous result of each slot beside the next one, as a member
 * whose result was lost still asks for it. A switch answers a packet whose result it has to that edge alone. Below the
 * root, it has sent its result upwards before it has the call's, and sends it again until then.
 *
 * Timeouts double while no result comes (RFC 6298, 5.5), so that full queues empty.
 *
 * Each slot has one packet at a time, so that numbers of the newest packet of each slot are enough to know all that has
 * happened to earlier ones. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace weft {

class TreeResends {
  using Number = std::uint32_t;
  struct Sent {
    Number packet;
    double deadline; ///< seconds
    double factor;   ///< of its timeout
  };
  /** Newest packets of each slot, plus 1; 0: none. */
  using Newest = std::vector<Number>;
  struct Node {
    Newest given;    ///< that have crossed its edge upwards
    Newest combined; ///< of which a switch has all contributions
    Newest results;  ///< whose results a switch or member has
    // Members only:
    std::deque<Number> again;    ///< to be sent: in slots with a result, or once more
    std::deque<Sent> unanswered; ///< by deadline
    bool timer    = false;       ///< an event for its first deadline exists
    double factor = 1;           ///< of its timeout
  };

  Number window_;
  double timeout_; // seconds
  std::vector<Node> nodes_;

public:
  /** Resends of a call of @p nodes switches and members. Each member has @p window slots, and sends a packet again
   * after @p timeout seconds. */
  TreeResends(std::size_t nodes, Number window, double timeout) : window_(window), timeout_(timeout), nodes_(nodes) {}

  /** A packet has crossed a node's edge upwards. Returns whether it did so for the first time. */
  bool give(Number node, Number packet) { return renew(nodes_[node].given, packet); }
  void combine(Number node, Number packet) { renew(nodes_[node].combined, packet); }
  bool has_combined(Number node, Number packet) const { return has(nodes_[node].combined, packet); }
  /** A switch or member gets a result. Returns whether it lacked that. */
  bool take_result(Number node, Number packet)
  {
    nodes_[node].factor = 1;
    return renew(nodes_[node].results, packet);
  }
  bool has_result(Number node, Number packet) const { return has(nodes_[node].results, packet); }

  /** A member may send a packet. */
  void allow(Number member, Number packet) { nodes_[member].again.push_back(packet); }
  /** Returns whether there is a packet that may be sent and lacks a result, apart from those of the first window. */
  bool any_next(Number member);
  /** Returns that packet, which is sent. */
  Number take_next(Number member);
  /** A packet is sent at @p now. Returns the time for which the member's timer is to be set, if it has none. */
  std::optional<double> sent(Number member, Number packet, double now);
  /** The timer of a member is due at @p now: packets without a result may be sent again. Returns how many there are. */
  std::size_t expire(Number member, double now);
  /** Returns the time of a member's next timer; nothing if it awaits no result. */
  std::optional<double> next_timer(Number member);

private:
  bool renew(Newest& newest, Number packet) const
  {
    newest.resize(window_);
    if (has(newest, packet))
      return false;
    newest[packet % window_] = packet + 1;
    return true;
  }
  bool has(const Newest& newest, Number packet) const
  {
    return not newest.empty() && newest[packet % window_] > packet;
  }
};

} // namespace weft
