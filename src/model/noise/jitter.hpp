// SPDX-License-Identifier: LGPL-2.1-only
/* How much later messages are because of the links that they cross.
 *
 * What is drawn for a link depends on the seed, the table, the link, and on who crosses it: the n-th message of a
 * sender, or the n-th call of a communicator. */
#pragma once

#include "model/noise/noise_model.hpp"

#include <cstdint>
#include <span>

namespace weft {

/** Who crosses a link. */
struct Crossing {
  enum class Kind : std::uint8_t { message, up_the_tree, down_the_tree, multicast };
  Kind kind;
  std::uint32_t who;    ///< the sender's host, or the communicator
  std::uint32_t number; ///< of its messages, or of its calls, or of its multicasts
};

class Jitter {
  const NoiseModel* noise_;

public:
  /** @p noise must outlive it. */
  explicit Jitter(const NoiseModel& noise) : noise_(&noise) {}
  /** On one link. */
  Seconds on(int link, const Crossing& crossing) const;
  /** On several, one after the other. */
  Seconds on(std::span<const int> links, const Crossing& crossing) const;
};

} // namespace weft
