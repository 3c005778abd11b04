// SPDX-License-Identifier: LGPL-2.1-only
/* The tables of a fabric file that say nothing more than their values: each a struct, and the rows of its keys. */
#pragma once

#include "base/option.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace weft {

/** The [fabric] table. */
struct AboutFabric {
  std::string name;
  std::string description;
};
const std::vector<Option<AboutFabric>>& about_options();

/** What a cable is like, each direction. */
struct LinkModel {
  BytesPerSecond bandwidth;
  Seconds latency;
};
const std::vector<Option<LinkModel>>& link_options();

/** Something that frames of several links pass, such as a port where a switch recirculates: one bandwidth for all. */
struct SharedMedium {
  std::vector<std::string> links; ///< by their names
  BytesPerSecond bandwidth;
};
const std::vector<Option<SharedMedium>>& shared_options();

struct HostModel {
  std::string preset;
  FlopsPerSecond speed;
  int cores = 0;
  /// Messages between ranks of one host.
  BytesPerSecond loopback_bandwidth;
  Seconds loopback_latency;
  /// What its ranks share: each copy of a message between them passes it once.
  BytesPerSecond memory_bandwidth{std::numeric_limits<double>::infinity()};
  /// Messages of at least so many bytes are copied once (from the sender's memory to the receiver's), shorter ones
  /// twice (through memory that both see).
  Bytes single_copy_threshold{std::numeric_limits<double>::infinity()};
  /// A call whose buffers on a host are no larger than its caches together stays in them, and passes no memory.
  Bytes cache_size;
  Seconds message_overhead; ///< of a core, on sending a message to a rank of its host, and again on receiving it
  /// At which a core copies: a message for a rank of its host into memory that both see, and one from it out of that.
  BytesPerSecond copy_rate{std::numeric_limits<double>::infinity()};
  Seconds piece_overhead; ///< of a core, on each piece of a message whose pieces do not follow one another in memory
  BytesPerSecond reduction_rate{
      std::numeric_limits<double>::infinity()}; ///< at which a core combines vectors, or copies them
  /// Buffers of a rank of no more stay in the caches of its core alone; twice as much leaves them altogether.
  Bytes core_cache_size;
  /// Results per second that a core adds up or copies through the host's shared caches, beside its own work on them.
  BytesPerSecond shared_cache_rate{std::numeric_limits<double>::infinity()};
  /// The same through the memory, beside both.
  BytesPerSecond core_memory_rate{std::numeric_limits<double>::infinity()};

  std::vector<std::string> unmeasured; ///< keys whose values are another device's, or guesses

  bool shares_memory() const { return memory_bandwidth.value() < std::numeric_limits<double>::infinity(); }
  /** How often a message between its ranks is copied. */
  int copies(Bytes size) const { return size < single_copy_threshold ? 2 : 1; }
  /** What a core spends on sending a message to a rank of its host, or on receiving one. */
  Seconds message_time(Bytes size) const
  {
    return copies(size) == 2 ? message_overhead + size / copy_rate : message_overhead;
  }
  /** Time per byte, beside a core's own work on it, of data of which a part has left its caches and a part the host's.
   */
  double seconds_a_byte(double left_core, double left_host) const
  {
    return left_core / shared_cache_rate.value() + left_host / core_memory_rate.value();
  }
  /** The part of a rank's buffers that passes the host's shared caches. */
  double leaves_core(Bytes buffers) const
  {
    return core_cache_size > Bytes() ? std::clamp(buffers / core_cache_size - 1, 0.0, 1.0) : 1;
  }
  bool cores_copy() const { return copy_rate.value() < std::numeric_limits<double>::infinity(); }
};
const std::vector<Option<HostModel>>& host_options();

/** Factors on latency and bandwidth of point-to-point messages of at least `from` bytes: SMPI's piecewise-linear model
 *  (Clauss et al., IPDPS 2011, section 4.1). */
struct PointToPointSegment {
  Bytes from;
  double latency_factor   = 1;
  double bandwidth_factor = 1;
};
const std::vector<Option<PointToPointSegment>>& point_to_point_options();

} // namespace weft
