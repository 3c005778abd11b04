// SPDX-License-Identifier: LGPL-2.1-only
/* Input port that looks up one packet at a time while messages cross it.
 *
 * A hit occupies the port for the model's interval, a miss for the TCAM's. Packets of concurrent messages interleave
 * round-robin and compete for the cache: with more tags than ways in a set, each lookup evicts the entry that the next
 * one needs. The hit rate is simulated, not computed: whenever a message starts or ends, rounds of interleaved packets
 * pass through the cache.
 *
 * The port bounds the rate of the messages' flows. For n messages with costs c_i (seconds of lookups per byte) the
 * bound is n / sum(c_i), which keeps the port busy if all have equal shares. With unequal shares it is an
 * approximation.
 */
#pragma once

#include "base/units.hpp"
#include "model/forwarding/forwarding_cache.hpp"
#include "model/forwarding/forwarding_model.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace weft {

/** Lookup counters: for the first packets of messages, and for all packets. */
struct LookupCounters {
  std::int64_t hits   = 0;
  std::int64_t misses = 0;
  double packet_hits  = 0; ///< fractional, since messages are flows
  double packets      = 0;
};

class ForwardingPort {
public:
  using MessageNumber = std::uint64_t;

  explicit ForwardingPort(const ForwardingModel& model);

  /** Prefetches for a lookup; see ForwardingCache::expect(). */
  void expect(ForwardingTag tag) const
  {
    if (cache_)
      cache_->expect(tag);
  }
  void expect_entries(ForwardingTag tag) const
  {
    if (cache_)
      cache_->expect_entries(tag);
  }
  /** Looks up a packet that leaves by port @p out. Returns true on a hit, never if the tag is UNCACHED. Throws
   *  std::logic_error if the cache returns another port (KEPT tags have none). */
  bool look_up(ForwardingTag tag, int out, Seconds now);
  /** Adds a message of @p bytes that starts to cross the port at @p begins and takes @p volume of the link. */
  void enter(MessageNumber message, ForwardingTag tag, int out, bool hit, Bytes bytes, Bytes volume, Seconds begins);
  /** Adds an equal message to an existing flow. */
  void repeat(MessageNumber message);
  /** Removes all entries of the cache. Messages that are crossing must be redirected if their port or tag changes. */
  void flush();
  /** Changes the tag and the port of a message that is crossing. */
  void redirect(MessageNumber message, ForwardingTag tag, int out);
  /** Removes a message that has crossed or failed, and counts its packets. */
  void leave(MessageNumber message, Seconds now, LookupCounters& counters);
  /** Returns the current bound on the link's volume per second; infinity if lookups do not limit it. */
  double rate(Seconds now);

private:
  struct Crossing {
    MessageNumber message;
    ForwardingTag tag;
    int out;
    bool first_hit;
    double packets;
    double volume;
    Seconds begins;
    double copies = 1;
    double share  = 1; ///< current hit rate of its packets after the first
    double hits   = 0; ///< integral of share over time, seconds
    double time   = 0; ///< seconds
    double hit_packets() const;
  };
  const ForwardingModel* model_;
  std::optional<ForwardingCache> cache_;
  std::vector<Crossing> crossing_;                        // in order of arrival
  Seconds counted_;                                       // time up to which shares are integrated
  Seconds next_{std::numeric_limits<double>::infinity()}; // time at which the next message begins
  double rate_  = 0;
  bool stale_   = true;
  bool flushed_ = false;

  void advance(Seconds now);
  void take_turns(Seconds now);
  Seconds cost(const Crossing& crossing) const;
};

} // namespace weft
