// SPDX-License-Identifier: LGPL-2.1-only
/* What a collective moves, in the terms that trees, streams, hosts and data need: who gives what, who gets what, and
 * whether what is given is combined on its way. Whoever asks about a collective asks these, not its name. */
#pragma once

namespace weft {

enum class Who { all, root };

/** Of the vector that a call is about. */
enum class Share {
  nothing, ///< a packet without payload
  whole,   ///< all of it
  part,    ///< each rank's own part of it
  blocks   ///< a block of it for each rank, or from each: what one rank gives to one other
};

struct Movement {
  bool combines = false; ///< what comes together is added up: switches compute, and need slots
  Who givers    = Who::all;
  Share gives   = Share::whole;
  Who getters   = Who::all;
  Share gets    = Share::whole;

  bool operator==(const Movement& other) const = default;

  bool rooted() const { return givers == Who::root || getters == Who::root; }
  /** Whether each rank has something else for each. */
  bool in_blocks() const { return gives == Share::blocks; }
  /** Whether ranks have parts of their own, whose sizes may differ. */
  bool in_parts() const { return gives == Share::part || gets == Share::part || in_blocks(); }
  /** Whether all get the same, so that switches copy it to many. */
  bool copies() const { return getters == Who::all && (gets == Share::whole || gets == Share::nothing); }
  /** Whether switches go on combining on the way down: not all get the same, so that what a switch sends to one is
   *  combined with what comes from elsewhere. Else the result is there at the tree's root and is copied. */
  bool combines_on_the_way_down() const { return combines && not copies(); }
  /** Whether it carries data at all. */
  bool carries_data() const { return gives != Share::nothing; }

  // NOLINTBEGIN(readability-identifier-naming): named as the values of an enumeration
  static const Movement allreduce;
  static const Movement reduce;
  static const Movement reduce_scatter;
  static const Movement barrier;
  static const Movement bcast;
  static const Movement allgather;
  static const Movement alltoall;
  // NOLINTEND(readability-identifier-naming)
};

inline constexpr Movement Movement::allreduce{true, Who::all, Share::whole, Who::all, Share::whole};
inline constexpr Movement Movement::reduce{true, Who::all, Share::whole, Who::root, Share::whole};
inline constexpr Movement Movement::reduce_scatter{true, Who::all, Share::whole, Who::all, Share::part};
inline constexpr Movement Movement::barrier{true, Who::all, Share::nothing, Who::all, Share::nothing};
inline constexpr Movement Movement::bcast{false, Who::root, Share::whole, Who::all, Share::whole};
inline constexpr Movement Movement::allgather{false, Who::all, Share::part, Who::all, Share::whole};
inline constexpr Movement Movement::alltoall{false, Who::all, Share::blocks, Who::all, Share::blocks};

} // namespace weft
