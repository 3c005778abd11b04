// SPDX-License-Identifier: LGPL-2.1-only
/* Who carries a call out, and why: a pure function of what the run asks for and of what mechanisms say of the call.
 *
 * What a run asks for (OffloadMode) and what becomes of a call (Decision) are two things. The first rank of a call
 * decides for all, and nothing that it looks at may differ between the ranks of one correct call. No mechanism is named
 * here.
 */
#pragma once

#include "base/units.hpp"
#include "model/mechanism/offload_mode.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

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
  no_nic_memory, ///< the NIC's fast memory has no room for the call's state
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

/** What mechanisms say of a call. The decision asks only what it depends on, since answers take time. */
class Verdicts {
public:
  Verdicts()                           = default;
  Verdicts(const Verdicts&)            = delete;
  Verdicts& operator=(const Verdicts&) = delete;
  virtual ~Verdicts()                  = default;

  /** Why @p mechanism can carry out no such call on the communicator; none where it can. Where that is the collective,
   *  the call goes to the mechanism's rest. */
  virtual Fallback obstacle(const MechanismKind& mechanism) = 0;
  /** What @p mechanism, which could, has not got for this call; none where it has all. */
  virtual Fallback shortage(const MechanismKind& mechanism) = 0;
  /** The mechanisms whose times can be predicted, in the order in which they are preferred. */
  virtual const std::vector<const MechanismKind*>& predictable() = 0;
  /** Time of the call by @p mechanism, which is one of those and can do it. */
  virtual Seconds predicted(const MechanismKind& mechanism) = 0;
  /** Whether the hosts are predicted to be faster than @p mechanism, which can do it. */
  virtual bool hosts_are_faster(const MechanismKind& mechanism) = 0;
  /** The mechanism that is chosen as the hosts' algorithm; null where an algorithm is. */
  virtual const MechanismKind* hosts_mechanism() = 0;
};

struct Decision {
  const MechanismKind* mechanism = nullptr;        ///< that carries the call out; null: the hosts
  Fallback reason                = Fallback::none; ///< none, or why it is not what was asked for

  bool offloaded() const { return mechanism != nullptr; }
  bool operator==(const Decision& other) const = default;
};

/** For a call on several ranks. @p asked: by the run; @p policy: what the fabric's [[policy]] says of such calls, which
 *  runs follow that ask for automatic. */
Decision decide(OffloadMode asked, std::optional<OffloadMode> policy, Verdicts& verdicts);
/** For a call on a communicator of one rank. */
Decision decide_alone(OffloadMode asked);

/** Who carries a call out, as records name it: "fallback" for the hosts (null), else the mechanism. */
std::string_view path_name(const MechanismKind* mechanism);
/** All that path_name() can return. */
std::vector<std::string> path_names();

} // namespace weft
