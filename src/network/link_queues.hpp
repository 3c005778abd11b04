// SPDX-License-Identifier: LGPL-2.1-only
/* Queues of short messages at links that many of them share.
 *
 * A message much shorter than a packet does not share a link with others as long messages do: it is queued. Each link
 * sends its queue in FIFO order at full capacity, and a message ends when the last of its links has sent it. A link
 * with a queue never idles, so the last message of a crowd ends at the same time as with max-min sharing, and the other
 * messages end earlier. The simulation cost of a message does not depend on the length of the queue. */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

class LinkQueues {
  struct Link {
    double until             = 0; // time at which the queue has been sent
    std::uint32_t long_flows = 0; // number of long flows on the link
  };
  std::vector<Link> links_;

  Link& at(int link) { return links_[static_cast<std::size_t>(link)]; }
  const Link& at(int link) const { return links_[static_cast<std::size_t>(link)]; }

public:
  static constexpr std::size_t CROWD = 64; ///< flows on a link: with more flows, short messages queue

  explicit LinkQueues(std::size_t links) : links_(links) {}

  void add_long_flow(const std::vector<int>& links)
  {
    for (const int link : links)
      ++at(link).long_flows;
  }
  void remove_long_flow(const std::vector<int>& links)
  {
    for (const int link : links)
      --at(link).long_flows;
  }
  bool has_long_flow(int link) const { return at(link).long_flows > 0; }
  bool is_idle(int link, double now) const { return at(link).until <= now; }
  /** Begins a queue at a link that has been idle; the data already on the link takes until @p until. */
  void begin(int link, double until) { at(link).until = until; }
  /** Appends a message that takes a link @p duration. Returns the time at which it has been sent. */
  double add(int link, double duration) { return at(link).until += duration; }
};

} // namespace weft
