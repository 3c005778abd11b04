// SPDX-License-Identifier: LGPL-2.1-only
#pragma once

#include "protocol/message_matching.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace weft {

/** Message matching without wildcards, for schedules, whose queues are short or matched at their front. Each endpoint
 * searches its own short queues, which takes a tenth of the instructions of MessageMatching. */
class ExactMatching {
  struct Waiting { // receive, or unexpected message
    std::uint64_t name;
    std::uint64_t what;
  };
  using Queue = std::vector<Waiting>;
  struct EndpointState {
    Queue receives;
    Queue messages;
  };
  std::vector<EndpointState> endpoints_;

  static std::uint64_t name_of(int source, int tag)
  {
    return (std::uint64_t{static_cast<std::uint32_t>(source)} << 32U) | static_cast<std::uint32_t>(tag);
  }
  EndpointState& state(MessageMatching::Endpoint endpoint)
  {
    if (endpoint >= endpoints_.size()) [[unlikely]]
      endpoints_.resize(std::size_t{endpoint} + 1);
    return endpoints_[endpoint];
  }
  /** Removes the first entry with this name, or adds @p what to @p others. */
  [[gnu::always_inline]] static std::optional<std::uint64_t> take(Queue& queue, Queue& others, std::uint64_t name,
                                                                  std::uint64_t what)
  {
    const auto found = std::ranges::find(queue, name, &Waiting::name);
    if (found == queue.end()) {
      others.push_back({name, what});
      return std::nullopt;
    }
    const std::uint64_t its = found->what;
    queue.erase(found);
    return its;
  }

public:
  /** Clears receives and messages, but keeps their memory. */
  void clear()
  {
    for (EndpointState& its : endpoints_) {
      its.receives.clear();
      its.messages.clear();
    }
  }
  /** Posts a receive. It matches the earliest message, or is queued. */
  MessageMatching::Posted post(MessageMatching::Endpoint endpoint, std::uint64_t receive, int source, int tag)
  {
    EndpointState& its = state(endpoint);
    if (const auto message = take(its.messages, its.receives, name_of(source, tag), receive))
      return {0, MessageMatching::Found{*message, source, tag}};
    return {};
  }
  /** Matches a message. Returns its receive; if there is none, the message is unexpected. */
  std::optional<std::uint64_t> arrive(MessageMatching::Endpoint endpoint, std::uint64_t message, int source, int tag)
  {
    EndpointState& its = state(endpoint);
    return take(its.receives, its.messages, name_of(source, tag), message);
  }
};

} // namespace weft
