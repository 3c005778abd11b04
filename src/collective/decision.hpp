// SPDX-License-Identifier: LGPL-2.1-only
/* How a call is carried out, and why: a pure function of what is known of the call, its communicator and the run.
 *
 * What a run asks for (OffloadMode) and what becomes of a call (Path) are two things. The first rank of a call decides
 * for all, and nothing that it looks at may differ between the ranks of one correct call.
 */
#pragma once

#include "fabric/policy.hpp"
#include "model/collective/collective_kind.hpp"
#include "model/switch/switch_model.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weft {

/** Who carries a call out. */
enum class Path {
  host,     ///< the host's algorithm
  stream,   ///< switches, packet by packet
  message,  ///< switches, whole messages at a time
  multicast ///< the hosts' protocol over the switches' multicast
};
/** As it stands in the record. */
template <> struct Names<Path> {
  static constexpr std::array ROWS{
      std::pair{Path::host, std::string_view("fallback")}, std::pair{Path::stream, std::string_view("stream")},
      std::pair{Path::message, std::string_view("message")}, std::pair{Path::multicast, std::string_view("multicast")}};
};

/** Why a call falls back to the host's algorithm. */
enum class Fallback {
  none, ///< it does not
  policy,
  one_rank,
  zero_count,
  collective,
  datatype,
  operation,
  one_host,
  not_on_tree,
  no_gain,
  no_free_channel,
  host_faster,   ///< predicted
  no_nic_memory, ///< the NIC's fast memory has no room for the call's state (multicast)
  privatization, ///< a rank's memory cannot be reached while others run (smpi/privatization:mmap)
};
/** As it stands in the record. */
template <> struct Names<Fallback> {
  static constexpr std::array ROWS{std::pair{Fallback::none, std::string_view("")},
                                   std::pair{Fallback::policy, std::string_view("policy")},
                                   std::pair{Fallback::one_rank, std::string_view("one rank")},
                                   std::pair{Fallback::zero_count, std::string_view("zero count")},
                                   std::pair{Fallback::collective, std::string_view("collective")},
                                   std::pair{Fallback::datatype, std::string_view("datatype")},
                                   std::pair{Fallback::operation, std::string_view("op")},
                                   std::pair{Fallback::one_host, std::string_view("one host")},
                                   std::pair{Fallback::not_on_tree, std::string_view("communicator not on the tree")},
                                   std::pair{Fallback::no_gain, std::string_view("tree gains nothing")},
                                   std::pair{Fallback::no_free_channel, std::string_view("no free channel")},
                                   std::pair{Fallback::host_faster, std::string_view("host is faster")},
                                   std::pair{Fallback::no_nic_memory, std::string_view("no NIC memory")},
                                   std::pair{Fallback::privatization, std::string_view("privatization")}};
};

/** What a call asks for. */
struct CollectiveCall {
  const CollectiveKind* kind = nullptr;
  std::string datatype;  ///< MPI's name; empty where the collective has none
  std::string operation; ///< MPI's name; empty where there is none, or where a replayed trace does not say
  Bytes message;         ///< the whole vector
  bool blocking = true;
};

/** All that a decision depends on. What takes time to find out is asked only where it matters. */
struct CallFacts {
  OffloadMode asked; ///< by the run
  CollectiveCall call;
  int ranks = 0; ///< of the communicator
  /// Why there is no reduction tree over the communicator; none where there is one.
  Fallback no_tree = Fallback::none;
  /// The models of the tree's switches; without a tree, those of all the fabric's smart switches.
  std::span<const SwitchModel* const> switches;
  std::optional<OffloadMode> policy;    ///< what the fabric's [[policy]] says of such calls
  bool memory_is_shared        = true;  ///< whether a rank's memory can be reached while others run
  bool falls_back_to_multicast = false; ///< the algorithm chosen for the hosts is the multicast protocol
  std::function<bool()> host_is_faster; ///< predicted
  std::function<bool()> channel_is_free;
  /// Why the multicast protocol cannot do the call, apart from its own size and form; none where it can.
  std::function<Fallback()> no_multicast;
};

struct Decision {
  Path path       = Path::host;
  Fallback reason = Fallback::none; ///< none, or why it is not what was asked for

  bool offloaded() const { return path != Path::host; }
  bool operator==(const Decision& other) const = default;
};

Decision decide(const CallFacts& facts);

} // namespace weft
