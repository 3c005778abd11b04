// SPDX-License-Identifier: LGPL-2.1-only
/* An input port that looks packets up one at a time, while messages cross it.
 *
 * A packet that the cache knows takes the port the model's interval, one that it does not the TCAM's. The packets of
 * the messages that cross at the same time take turns, one of each, and so find the cache as the others have left it:
 * more tags than a set has ways, and each evicts what the next one needs. How many hit is not computed but tried:
 * rounds of such turns go through the cache itself whenever a message has come or gone.
 *
 * Messages are flows, of which the port bounds the rate: that of n messages of the costs c_i (seconds of lookups per
 * byte) is n / sum(c_i), at which equal shares keep it busy all the time. Where shares are not equal that is near, not
 * exact.
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

/** What lookups were: of messages' first packets, and of all their packets. */
struct LookupCounters {
  std::int64_t hits   = 0;
  std::int64_t misses = 0;
  double packet_hits  = 0; ///< as flows know them: parts of packets, too
  double packets      = 0;
};

class ForwardingPort {
public:
  using MessageNumber = std::uint64_t;

  explicit ForwardingPort(const ForwardingModel& model);

  /** A packet will be looked up soon, as ForwardingCache says. */
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
  /** A packet is looked up, whose way is @p out; returns whether the cache knows it. Throws std::logic_error where the
   *  cache says another way (of KEPT tags it has none). */
  bool look_up(ForwardingTag tag, int out, Seconds now);
  /** That message crosses the port from @p begins on: @p bytes, which take @p volume of the link. */
  void enter(MessageNumber message, ForwardingTag tag, int out, bool hit, Bytes bytes, Bytes volume, Seconds begins);
  /** Another one goes with it that is its equal. */
  void repeat(MessageNumber message);
  /** It has crossed, or never will. Its packets are counted. */
  void leave(MessageNumber message, Seconds now, LookupCounters& counters);
  /** How much of the link's volume the port takes in a second now; infinity where nothing bounds it. */
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
    double share  = 1; ///< of its packets after the first that hit, now
    double hits   = 0; ///< the same over time: seconds
    double time   = 0; ///< seconds
    double hit_packets() const;
  };
  const ForwardingModel* model_;
  std::optional<ForwardingCache> cache_;
  std::vector<Crossing> crossing_;                        // in the order in which they have come
  Seconds counted_;                                       // up to when shares have been added up
  Seconds next_{std::numeric_limits<double>::infinity()}; // when another one begins
  double rate_  = 0;
  bool stale_   = true;
  bool flushed_ = false;

  void advance(Seconds now);
  void take_turns(Seconds now);
  Seconds cost(const Crossing& crossing) const;
};

} // namespace weft
