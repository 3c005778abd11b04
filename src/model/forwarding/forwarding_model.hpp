// SPDX-License-Identifier: LGPL-2.1-only
/* Table lookup of a switch: how it finds the output port of a packet.
 *
 * Either every packet searches the TCAM, or a cache at the input port is looked up first and only misses search the
 * TCAM (packet forwarding cache, Hirasawa et al.). The lookup adds to the switch's forwarding latency, and bounds the
 * packet rate of the port: one packet per `interval`, one miss per `tcam_interval`.
 */
#pragma once

#include "base/option.hpp"
#include "base/units.hpp"
#include "model/forwarding/forwarding_cache.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace weft {

struct ForwardingModel {
  std::string kind;               ///< "tcam" or "cache"; empty: lookups are part of the forwarding latency
  Seconds tcam_latency;           ///< TCAM search
  Seconds hit_latency;            ///< cache lookup
  Seconds interval;               ///< time between two lookups of an input port; 0: unlimited rate
  Seconds tcam_interval;          ///< time between two lookups that miss the cache; 0: the same as for hits
  Bytes frame{1518};              ///< largest frame: Ethernet's (Hirasawa et al., section I)
  Seconds flush_at;               ///< time at which routes change and the cache is flushed; 0: never
  int entries             = 2048; ///< Hirasawa et al. (CLUSTER 2021), section III.B: enough for nearly all jobs
  int ways                = 4;    ///< ibid.: almost no conflicts
  Replacement replacement = Replacement::lru;
  std::string hash        = "auto";

  bool cached() const { return kind == "cache"; }
  CacheShape shape() const;
  /** Returns the lookup time of a packet; with a cache, the time of a hit. */
  Seconds latency() const { return cached() ? hit_latency : tcam_latency; }
  /** Returns the additional time of a miss. */
  Seconds miss_penalty() const { return tcam_latency; }
  /** Returns the time from a lookup that misses to the next lookup. */
  Seconds miss_interval() const { return std::max(interval, tcam_interval); }
  /** Returns true if lookups may limit the rate of a port. */
  bool bounds() const { return miss_interval() > Seconds(); }
};

/** Returns the keys of a [switch.forwarding] table. */
const std::vector<Option<ForwardingModel>>& forwarding_options();
/** Returns the allowed values of the key `hash`. */
const std::vector<std::string>& forwarding_hashes();
/** Reads a [switch.forwarding] table. A table with `kind` is complete; without `kind`, it overrides single values of @p
 * standard. */
ForwardingModel read_forwarding(const OptionTable& table, const ForwardingModel& standard);
/** Returns a human-readable summary. */
std::string to_text(const ForwardingModel& model);

/** Returns the time between two lookups that take @p latency each and are pipelined in @p stages. */
Seconds lookup_interval(Seconds latency, int stages);
/** Returns the rate at which a port can receive frames of @p frame bytes on the wire, with one lookup per frame. */
BytesPerSecond line_rate(Seconds interval, Bytes frame);
/** Returns the number of frames of a message; each is looked up. */
double packets_of(const ForwardingModel& model, Bytes message);

} // namespace weft
