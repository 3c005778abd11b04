// SPDX-License-Identifier: LGPL-2.1-only
/* Link jitter: random additional latency of messages.
 *
 * The jitter on a link is a function of seed, table, link and crossing: the n-th message of a sender, or the n-th call
 * of a communicator. */
#pragma once

#include "model/noise/noise_model.hpp"

#include <cstdint>
#include <span>

namespace weft {

/** Identity of a message or call that crosses a link. */
struct Crossing {
  enum class Kind : std::uint8_t { message, up_the_tree, down_the_tree, multicast };
  Kind kind;
  std::uint32_t who;    ///< the sending host, or the communicator
  std::uint32_t number; ///< sequence number of the message, call or multicast
};

class Jitter {
  const NoiseModel* noise_;

public:
  /** @p noise must outlive the object. */
  explicit Jitter(const NoiseModel& noise) : noise_(&noise) {}
  /** Returns the jitter on one link. */
  Seconds on(int link, const Crossing& crossing) const;
  /** Returns the sum of the jitter on several links. */
  Seconds on(std::span<const int> links, const Crossing& crossing) const;
};

} // namespace weft
