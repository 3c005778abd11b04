// SPDX-License-Identifier: LGPL-2.1-only
/* Error messages about programs that cannot continue. */
#pragma once

#include "binding/run/communicators.hpp"
#include "model/collective/call_descriptor.hpp"

#include <functional>
#include <optional>
#include <string>
#include <unordered_set>

namespace weft {

/** Returns whether a description concerns a rank, by its actor. */
using ConcernsRank = std::function<bool(aid_t actor)>;

/** Describes a deadlock of some ranks: the ranks that each call holds, and the ranks that have not ended. @p messages:
 * sentences about MPI messages that they wait for, each with a leading space. */
std::string describe_deadlock(const Communicators& communicators, const ConcernsRank& concerns,
                              const std::string& messages);

/** Describes a mismatch between the calls of a communicator's ranks; @p calls names them. */
std::string describe_mismatch(const Communicator& communicator, const std::string& calls);

/** Describes a call that fails because of the network; @p failure states how. */
std::string describe_broken_call(const Communicator& communicator, const CallDescriptor& call,
                                 const std::string& failure);

/** Describes a message that cannot arrive because the network fails; @p whose names the waiting rank: "rank 3". @p
 * failure states how; empty: a SimGrid link is off. */
std::string describe_broken_message(const std::string& whose, const std::string& failure = "");

/** Describes a rank in @p ended for which a call in flight waits; nothing if there is none. */
std::optional<std::string> describe_missing_rank(const Communicator& communicator,
                                                 const std::unordered_set<aid_t>& ended);

/** Returns the first communicator with a call in flight that waits for @p rank; null if there is none. */
const Communicator* waiting_for(const Communicators& communicators, aid_t rank);

} // namespace weft
