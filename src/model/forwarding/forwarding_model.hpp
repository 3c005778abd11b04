// SPDX-License-Identifier: LGPL-2.1-only
/* How a switch finds the port by which a packet leaves: its routing computation.
 *
 * Either every packet searches the TCAM, or a cache at the input port answers first and only its misses search (the
 * packet forwarding cache, Hirasawa et al.). What that costs is added to the switch's forwarding latency. A port that
 * looks up one packet each `interval` forwards no more than one frame each; one that searches a TCAM beside its cache,
 * no more than one each `tcam_interval`.
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
  std::string kind;               ///< "tcam" or "cache"; empty: it is part of the forwarding latency
  Seconds tcam_latency;           ///< of a search in the TCAM
  Seconds hit_latency;            ///< of a look into the cache
  Seconds interval;               ///< from one lookup of an input port to its next; 0: no limit
  Seconds tcam_interval;          ///< the same of a lookup that searches the TCAM beside a cache; 0: as any other
  Bytes frame{1518};              ///< the largest that messages are cut into: Ethernet's (Hirasawa et al., section I)
  Seconds flush_at;               ///< when routes change, so that all entries go; 0: never
  int entries             = 2048; ///< Hirasawa et al. (CLUSTER 2021), section III.B: enough for nearly all jobs
  int ways                = 4;    ///< the same: almost no conflicts
  Replacement replacement = Replacement::lru;
  std::string hash        = "auto";

  bool cached() const { return kind == "cache"; }
  CacheShape shape() const;
  /** Of a packet, and where there is a cache of one that it knows. */
  Seconds latency() const { return cached() ? hit_latency : tcam_latency; }
  /** What a miss costs beyond a hit. */
  Seconds miss_penalty() const { return tcam_latency; }
  /** From a lookup that misses to the next. */
  Seconds miss_interval() const { return std::max(interval, tcam_interval); }
  /** Whether a port may not keep up with its link. */
  bool bounds() const { return miss_interval() > Seconds(); }
};

/** The keys of a [switch.forwarding] table. */
const std::vector<Option<ForwardingModel>>& forwarding_options();
/** Names of the hashes that `hash` may ask for. */
const std::vector<std::string>& forwarding_hashes();
/** Read a [switch.forwarding] table: one with a `kind` describes all, one without changes single values of
 *  @p standard. */
ForwardingModel read_forwarding(const OptionTable& table, const ForwardingModel& standard);
/** In a few words. */
std::string to_text(const ForwardingModel& model);

/** From one lookup to the next, of a lookup that takes @p latency and of which @p stages are in flight. */
Seconds lookup_interval(Seconds latency, int stages);
/** The rate at which a port can take in frames of @p frame bytes on the wire, a lookup each. */
BytesPerSecond line_rate(Seconds interval, Bytes frame);
/** The frames of a message from host to host, each of which is looked up. */
double packets_of(const ForwardingModel& model, Bytes message);

} // namespace weft
