// SPDX-License-Identifier: LGPL-2.1-only
/* A cable, and who shares a full link. The [link] and [[links]] tables of fabric files. */
#pragma once

#include "base/named.hpp"
#include "base/option.hpp"
#include "base/units.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

/** Properties of one direction of a cable. */
struct LinkModel {
  BytesPerSecond bandwidth;
  Seconds latency;
};
const std::vector<Option<LinkModel>>& link_options();

/** Keys of [[links]] that are not in [link]. */
struct CablePort {
  int port = -1; ///< at the cable's upper switch; -1: in the order of the cables
};
const std::vector<Option<CablePort>>& cable_port_options();

/** Entities among which a full link is shared equally, or by weight. */
enum class LinkSharing : std::uint8_t {
  flow, ///< each flow
  host, ///< each source host, however many flows it has
  job,  ///< each job, and each table of background traffic
};
template <> struct Names<LinkSharing> {
  static constexpr std::array ROWS{std::pair{LinkSharing::flow, std::string_view("flow")},
                                   std::pair{LinkSharing::host, std::string_view("host")},
                                   std::pair{LinkSharing::job, std::string_view("job")}};
};

/** [link] table. */
struct LinkTable {
  LinkModel model; ///< for cables that no [[links]] table matches
  LinkSharing sharing = LinkSharing::flow;
};
/** Rows of the keys of [link] that are not in [[links]]. */
const std::vector<Option<LinkTable>>& link_sharing_options();
/** Reads a [link] table. Throws UserError. */
LinkTable read_link(const OptionTable& table);

} // namespace weft
