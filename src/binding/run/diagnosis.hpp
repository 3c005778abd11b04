// SPDX-License-Identifier: LGPL-2.1-only
/* What is said of programs that cannot go on. */
#pragma once

#include "binding/run/communicators.hpp"
#include "model/collective/call_descriptor.hpp"

#include <optional>
#include <string>
#include <unordered_set>

namespace weft {

/** No rank can go on: which calls hold which ranks, and which ranks there are. */
std::string describe_deadlock(const Communicators& communicators);

/** The ranks of a communicator do not make the same calls; @p calls says which. */
std::string describe_mismatch(const Communicator& communicator, const std::string& calls);

/** A call cannot be carried out because the network fails; @p failure says how. */
std::string describe_broken_call(const Communicator& communicator, const CallDescriptor& call,
                                 const std::string& failure);

/** A message cannot arrive because the network fails; @p whose waits for it: "rank 3". */
std::string describe_broken_message(const std::string& whose);

/** A rank, one of @p ended, has come to its end, and a call in flight waits for it; nothing where that is not so. */
std::optional<std::string> describe_missing_rank(const Communicator& communicator,
                                                 const std::unordered_set<aid_t>& ended);

/** The first communicator with a call in flight that waits for @p rank; null where there is none. */
const Communicator* waiting_for(const Communicators& communicators, aid_t rank);

} // namespace weft
