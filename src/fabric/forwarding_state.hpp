// SPDX-License-Identifier: LGPL-2.1-only
/* Input ports of a run's switches: forwarding caches, which keep their state for the whole run, and lookup rates.
 *
 * When a message between hosts starts, its destination is looked up at every switch on its route; misses add to its
 * latency. If lookups limit the rate of ports, messages are tracked until they end, and contend for lookups
 * (model/forwarding/forwarding_port.hpp). Streams, and messages sent or received by a switch, always have the latency
 * of a hit.
 *
 * When routes change, all caches are flushed ("control that cleans all the table entries once is practical", Hirasawa
 * et al., CLUSTER 2021, section III). If the destinations of a tag then leave by several ports, the tag has no entry
 * until routes change again, and these destinations are looked up in the TCAM. Under a routing policy, an entry holds
 * the ports among which the policy chooses. */
#pragma once

#include "fabric/fabric_state.hpp"
#include "fabric/rerouting.hpp"
#include "model/forwarding/forwarding_port.hpp"

#include <optional>
#include <unordered_map>
#include <vector>

namespace weft {

class ForwardingState {
public:
  using MessageNumber = ForwardingPort::MessageNumber;
  /** Message number for messages that no port limits. */
  static constexpr MessageNumber NONE = 0;
  struct Start {
    Seconds added;                ///< latency of misses, added to the route's latency
    MessageNumber message = NONE; ///< passed to begin(), repeat() and end()
  };

  explicit ForwardingState(const Fabric& fabric);
  /** Returns true if runs on the fabric need this state: caches, or lookup rates that limit ports. */
  static bool needed(const Fabric& fabric);

  /** Starts a message along a route to the host @p to. */
  Start start(const Route& route, VertexId to, Seconds now);
  /** Announces that a message of @p bytes, which takes @p volume of each link, uses its links from time @p begins. */
  void begin(MessageNumber message, Bytes bytes, Bytes volume, Seconds begins);
  /** Adds an equal message that starts at the same time. Without caches only: with caches, no two messages are
   * equal. */
  void repeat(MessageNumber message);
  /** Ends a message that has arrived or failed. */
  void end(MessageNumber message, Seconds now);

  /** Flushes all caches and switches to the routes of @p known, which must outlive this object. Messages in flight stay
   * on their links but are looked up by the new routes. Returns the links whose limits may change. */
  std::vector<LinkId> change_routes(const FabricState& known);

  /** Return whether the port at the end of a link limits messages, and its current limit in volume per second. */
  bool bounds(LinkId into) const;
  double rate(LinkId into, Seconds now);

  /** Returns the lookup counters of a switch's ports; nothing without a cache. */
  std::optional<LookupCounters> counters(int switch_index) const;

private:
  struct Lookup {
    LinkId into;
    ForwardingTag tag;
    LinkId out;
    bool hit;
  };
  struct Hop {
    int switch_index;
    int port; // index in ports_; NO_PORT: no lookup
    ForwardingTag tag;
  };
  /** Tags of switches that have the same hash and the same cache shape. */
  struct Tagging {
    const ForwardingHash* hash; // nullptr: no lookups
    CacheShape shape;
    bool keeps;                         // true: no tag is ever evicted, since there are at least as many entries
    std::vector<ForwardingTag> by_host; // tags, if each identifies a host
  };
  struct Message {
    VertexId to = 0;
    std::vector<Lookup> lookups; // at ports that limit the message
    bool begun = false;
  };
  /** Tags of a switch whose destinations leave by several ports. */
  struct Divergence {
    std::optional<FabricEpoch> epoch; // epoch of the routes
    std::vector<bool> diverges;       // by tag
  };
  const Fabric& fabric_;
  std::vector<ForwardingPort> ports_;                   // in order of first use
  std::vector<int> port_of_;                            // by link that ends at a port: index in ports_; -1: none yet
  std::vector<LookupCounters> counters_;                // by switch
  std::vector<Tagging> taggings_;                       // distinct taggings of switches
  std::vector<int> tagging_of_;                         // by switch: index in taggings_; arbitrary without a cache
  std::unordered_map<MessageNumber, Message> messages_; // in flight
  std::vector<Hop> hops_;                               // hops of the message being started
  MessageNumber last_       = NONE;
  const FabricState* known_ = nullptr; // passed to routing; null: routes have never changed
  std::optional<Rerouting> rerouting_;
  std::vector<Divergence> divergences_; // by switch

  /** Returns the port that an entry must hold for a message that leaves by @p out. */
  int port_of(LinkId out) const { return fabric_.routing().is_static() ? out : CHOSEN; }
  int switch_after(LinkId into) const { return fabric_.link(into).to - fabric_.host_count(); }
  static constexpr int NO_PORT = -1;
  static constexpr int CHOSEN  = 0; // represents the ports among which a policy chooses

  static Tagging tagging(const ForwardingHash* hash, const CacheShape& shape, int hosts);
  int tagging_at(int switch_index);
  int port_number_after(LinkId into);
  ForwardingPort& port(int number) { return ports_[static_cast<std::size_t>(number)]; }
  ForwardingPort& port_after(LinkId into) { return port(port_number_after(into)); }
  void expect(const Route& route, VertexId to);
  ForwardingTag tag_of(const Tagging& tagging, int switch_index, VertexId to, ForwardingAddress address);
  bool diverges(const ForwardingHash& hash, int switch_index, ForwardingTag tag);
  void find_divergence(const ForwardingHash& hash, int switch_index, Divergence& its);
  void redirect(MessageNumber number, const Message& message, Lookup& lookup);
};

} // namespace weft
