// SPDX-License-Identifier: LGPL-2.1-only
/* The input ports of a run's switches: forwarding caches, whose state lasts as long as the run, and how fast they look
 * packets up.
 *
 * A message between hosts looks its destination up at every switch that it crosses, as it starts; so the order of first
 * lookups is that of the messages' starts, and their misses are part of the messages' latency. Where ports have an
 * interval, messages are followed until they end, and bound each other (model/forwarding/forwarding_port.hpp). Streams,
 * and messages that a switch sends or gets, take a hit's latency.
 */
#pragma once

#include "fabric/fabric.hpp"
#include "model/forwarding/forwarding_port.hpp"

#include <unordered_map>
#include <vector>

namespace weft {

class ForwardingState {
public:
  using MessageNumber = ForwardingPort::MessageNumber;
  /** Of a message that no port bounds. */
  static constexpr MessageNumber NONE = 0;
  struct Start {
    Seconds added;                ///< what misses add to the route's latency
    MessageNumber message = NONE; ///< to be told of what becomes of it
  };

  explicit ForwardingState(const Fabric& fabric);
  /** Whether a fabric's switches look packets up in ways that runs have to follow. */
  static bool needed(const Fabric& fabric);

  /** A message starts along a route to the host @p to. */
  Start start(const Route& route, VertexId to, Seconds now);
  /** It uses its links from @p begins on: @p bytes, as @p volume on each. */
  void begin(MessageNumber message, Bytes bytes, Bytes volume, Seconds begins);
  /** Another one starts with it that is its equal. Where there are caches no two are. */
  void repeat(MessageNumber message);
  /** It has ended, or never will. */
  void end(MessageNumber message, Seconds now);

  /** Whether the port at the end of a link bounds messages, and by how much of the link's volume a second now. */
  bool bounds(LinkId into) const;
  double rate(LinkId into, Seconds now);

  /** What the lookups of a switch's ports were so far, or nothing where it has no cache. */
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
    int port; // of ports_; NO_PORT: nothing is looked up
    ForwardingTag tag;
  };
  /** What switches of one hash and of caches of one shape look up. */
  struct Tagging {
    const ForwardingHash* hash; // nullptr: nothing
    CacheShape shape;
    bool keeps;                         // all tags, as there are no more than entries
    std::vector<ForwardingTag> by_host; // where a tag stands for one host
  };
  struct Message {
    std::vector<Lookup> lookups; // at ports that bound it
    bool begun = false;
  };
  const Fabric& fabric_;
  std::vector<ForwardingPort> ports_;                   // in the order of their first use
  std::vector<int> port_of_;                            // by link that ends at a port: which; -1: none yet
  std::vector<LookupCounters> counters_;                // by switch
  std::vector<Tagging> taggings_;                       // that switches have
  std::vector<int> tagging_of_;                         // by switch: which; of those without caches, any
  std::unordered_map<MessageNumber, Message> messages_; // under way
  std::vector<Hop> hops_;                               // of the message that starts
  MessageNumber last_ = NONE;

  int switch_after(LinkId into) const { return fabric_.link(into).to - fabric_.host_count(); }
  static constexpr int NO_PORT = -1;

  static Tagging tagging(const ForwardingHash* hash, const CacheShape& shape, int hosts);
  int tagging_at(int switch_index);
  int port_number_after(LinkId into);
  ForwardingPort& port(int number) { return ports_[static_cast<std::size_t>(number)]; }
  ForwardingPort& port_after(LinkId into) { return port(port_number_after(into)); }
  void expect(const Route& route, VertexId to);
};

} // namespace weft
