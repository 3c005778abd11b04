// SPDX-License-Identifier: LGPL-2.1-only
/* Data movement of a collective: which ranks send what, which ranks receive what, and whether data
 * are combined on the way. Trees, streams and hosts depend on these properties instead of the
 * collective's name. */
#pragma once

namespace weft {

enum class Participants { all, root };

/** Share of a call's vector that a rank sends or receives. */
enum class Share {
  nothing, ///< a packet without payload
  whole,   ///< all of it
  part,    ///< each rank's own part
  blocks   ///< one block per peer: the data that one rank sends to another
};

struct Movement {
  bool combines          = false; ///< contributions are combined: switches compute, and need slots
  Participants senders   = Participants::all;
  Share gives            = Share::whole;
  Participants receivers = Participants::all;
  Share gets             = Share::whole;

  bool operator==(const Movement& other) const = default;

  bool rooted() const { return senders == Participants::root || receivers == Participants::root; }
  /** Returns true if each rank sends different data to each rank. */
  bool in_blocks() const { return gives == Share::blocks; }
  /** Returns true if ranks have parts of their own, whose sizes may differ. */
  bool in_parts() const { return gives == Share::part || gets == Share::part || in_blocks(); }
  /** Returns true if all ranks receive the same data, so switches only replicate packets on the way down. */
  bool copies() const { return receivers == Participants::all && (gets == Share::whole || gets == Share::nothing); }
  /** Returns true if switches combine on the way down too: receivers get different data, so a switch combines a
   * receiver's data from above with data from below. Otherwise the result is complete at the tree's root and is
   * copied. */
  bool combines_on_the_way_down() const { return combines && not copies(); }
  /** Returns true if the collective carries any data. */
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

inline constexpr Movement Movement::allreduce{true, Participants::all, Share::whole, Participants::all, Share::whole};
inline constexpr Movement Movement::reduce{true, Participants::all, Share::whole, Participants::root, Share::whole};
inline constexpr Movement Movement::reduce_scatter{true, Participants::all, Share::whole, Participants::all,
                                                   Share::part};
inline constexpr Movement Movement::barrier{true, Participants::all, Share::nothing, Participants::all, Share::nothing};
inline constexpr Movement Movement::bcast{false, Participants::root, Share::whole, Participants::all, Share::whole};
inline constexpr Movement Movement::allgather{false, Participants::all, Share::part, Participants::all, Share::whole};
inline constexpr Movement Movement::alltoall{false, Participants::all, Share::blocks, Participants::all, Share::blocks};

} // namespace weft
