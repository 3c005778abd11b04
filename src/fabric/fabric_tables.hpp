// SPDX-License-Identifier: LGPL-2.1-only
/* Simple tables of a fabric file: one struct each, with the rows of its keys. */
#pragma once

#include "base/option.hpp"
#include "base/units.hpp"

#include <string>
#include <vector>

namespace weft {

/** [fabric] table. */
struct AboutFabric {
  std::string name;
  std::string description;
};
const std::vector<Option<AboutFabric>>& about_options();

/** Bandwidth shared by several links, such as the port through which a switch recirculates packets. */
struct SharedMedium {
  std::vector<std::string> links; ///< names
  BytesPerSecond bandwidth;
};
const std::vector<Option<SharedMedium>>& shared_options();

/** Factors on latency and bandwidth of point-to-point messages of at least `from` bytes: SMPI's piecewise-linear model
 *  (Clauss et al., IPDPS 2011, section 4.1). */
struct PointToPointSegment {
  Bytes from;
  double latency_factor   = 1;
  double bandwidth_factor = 1;
};
const std::vector<Option<PointToPointSegment>>& point_to_point_options();

/** Time within which changes of a network's flows may be merged into one event. */
struct TimeResolution {
  Seconds time;           ///< between rate updates; minimum, if automatic. Zero: exact
  bool automatic = false; ///< only while many flows share links, and longer where flows are long
  bool is_exact() const { return time <= Seconds(); }
  /** Returns whether SimGrid's network model can use this resolution. */
  bool is_wefts() const { return not automatic && not is_exact(); }
};

/** Returns the resolution as a fabric file names it. */
std::string to_text(const TimeResolution& resolution);

/** Largest packet payload of InfiniBand, the unit in which resolutions are given. */
inline constexpr Bytes RESOLVED_PACKET(4096);
/** Length below which messages of a crowd queue instead of sharing links (LinkQueues). Its transmission time on a link
 * is also the shortest automatic resolution: for longer messages, errors of that size are small. */
inline constexpr Bytes SHORT_MESSAGE(512);

struct NetworkTable {
  std::string resolution = "automatic";
  std::string coarse     = "refused";
};
const std::vector<Option<NetworkTable>>& network_options();

/** Reads the resolution in the [network] table of a fabric file, whose links have a latency of at least @p latency and
 * a bandwidth of at most @p bandwidth. Throws UserError. */
TimeResolution read_network(const OptionTable& file, Seconds latency, BytesPerSecond bandwidth);

} // namespace weft
