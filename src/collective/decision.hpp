// SPDX-License-Identifier: LGPL-2.1-only
/* Choice of the mechanism that executes a call, with the reason: a pure function of the run's request and of the
 * mechanisms' verdicts on the call.
 *
 * The mode of a run (OffloadMode) and the outcome for a call (Decision) are separate. The first rank of a call decides
 * for all, so the inputs must not differ between the ranks of a correct call. This code names no particular mechanism.
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

/** Reason why a call falls back to the host's algorithm. */
enum class Fallback {
  none, ///< no fallback
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
  job_quota,     ///< the job already holds its maximum number of channels
  locked,        ///< another job has exclusive use of a switch
  reserved,      ///< other jobs have reserved all channels of a switch
  host_faster,   ///< as predicted
  no_nic_memory, ///< the NIC's fast memory has no room for the call's state
  packets,       ///< messages are packets, but offloaded calls are flows
};
/** Text of each reason in the record. */
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
                                   std::pair{Fallback::job_quota, std::string_view("job quota")},
                                   std::pair{Fallback::locked, std::string_view("locked by another job")},
                                   std::pair{Fallback::reserved, std::string_view("reserved by other jobs")},
                                   std::pair{Fallback::host_faster, std::string_view("host is faster")},
                                   std::pair{Fallback::no_nic_memory, std::string_view("no NIC memory")},
                                   std::pair{Fallback::packets, std::string_view("network of packets")}};
};

/** Verdicts of the mechanisms on a call, evaluated lazily since they take time. */
class Verdicts {
public:
  Verdicts()                           = default;
  Verdicts(const Verdicts&)            = delete;
  Verdicts& operator=(const Verdicts&) = delete;
  virtual ~Verdicts()                  = default;

  /** Returns the reason why @p mechanism cannot execute such calls on the communicator, or none. If the reason is the
   * collective, the call goes to the mechanism's fallback. */
  virtual Fallback obstacle(const MechanismKind& mechanism) = 0;
  /** Returns the resource that an otherwise capable @p mechanism lacks for this call, or none. */
  virtual Fallback shortage(const MechanismKind& mechanism) = 0;
  /** Returns the mechanisms whose times can be predicted, in order of preference. */
  virtual const std::vector<const MechanismKind*>& predictable() = 0;
  /** Returns the predicted time of the call with @p mechanism, which must be in predictable() and able to execute
   * it. */
  virtual Seconds predicted(const MechanismKind& mechanism) = 0;
  /** Returns whether the hosts are predicted to be faster than @p mechanism, which must be able to execute the call. */
  virtual bool hosts_are_faster(const MechanismKind& mechanism) = 0;
  /** Returns the mechanism chosen as the hosts' algorithm; null if that is an ordinary algorithm. */
  virtual const MechanismKind* hosts_mechanism() = 0;
};

struct Decision {
  const MechanismKind* mechanism = nullptr;        ///< executes the call; null: the hosts
  Fallback reason                = Fallback::none; ///< none, or why the decision differs from what was requested

  bool offloaded() const { return mechanism != nullptr; }
  bool operator==(const Decision& other) const = default;
};

/** Decides on a call of several ranks. @p asked: the run's mode; @p policy: the mode that the
 * fabric's [[policy]] sets for such calls, followed in automatic mode. */
Decision decide(OffloadMode asked, std::optional<OffloadMode> policy, Verdicts& verdicts);
/** Decides on a call on a communicator of one rank. */
Decision decide_alone(OffloadMode asked);

/** Returns the name of a mechanism in records; "fallback" for the hosts (null). */
std::string_view path_name(const MechanismKind* mechanism);
/** Returns all names that path_name() can return. */
std::vector<std::string> path_names();

} // namespace weft
