// SPDX-License-Identifier: LGPL-2.1-only
/* Eager and rendezvous messages, from their posting to the end of their receive.
 *
 * A detached send ends at once, any other when its message has arrived. An eager message leaves at once, any other when
 * its receive is known and its receiver attends (may_leave()); until then it is held. A receive ends when its message
 * has arrived. The owner decides by size and kind of a send what it is, and carries the messages. */
#pragma once

#include "protocol/message_costs.hpp"
#include "protocol/message_matching.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace weft {

/** Messages of an owner, which derives from this class and defines:
 *
 *   bool may_leave(const Message&)                returns whether a rendezvous message's receiver attends
 *   void carry(Index)                             sends the message, and calls arrive() at its arrival
 *   void matched(Index, int source, int tag)      is told of the receive, before the message leaves or is delivered
 *   void send_ended(const Message&)               completes a send that is not detached
 *   void receive_ended(const Message&)            completes a receive; the message's number may be used again
 *
 * The owner may post messages and receives in the last two. @tparam Content data of a message for its owner
 * @tparam Matching pairs messages and receives: MessageMatching, or ExactMatching */
template <class Owner, class Content, class Matching = MessageMatching> class MessageExchange {
public:
  using Index    = std::uint64_t; ///< number of a message; reused
  using Endpoint = MessageMatching::Endpoint;
  using Position = MessageMatching::Place;

  struct Message : Content {
    bool detached;
    bool eager;
    bool known;            ///< its receive is
    bool left;             ///< in flight, or arrived
    bool arrived;          ///< or failed
    std::uint64_t receive; ///< the owner's number for it, once known
  };

  /** State that an owner can leave to another one. */
  struct State {
    Matching matching        = {};
    std::vector<Message> all = {};
    std::vector<Index> idle  = {};
    std::vector<Index> held  = {};
    bool is_idle() const { return idle.size() == all.size(); }
  };

private:
  State state_;
  Owner& owner() { return static_cast<Owner&>(*this); }

  void finish(Index number)
  {
    const Message message = message_of(number); // a copy: the owner may post others
    forget(number);
    owner().receive_ended(message);
  }

  friend Owner; // no other class can derive by mistake
  MessageExchange() = default;

protected:
  State& state_of_messages() { return state_; }
  Matching& matching() { return state_.matching; }
  const Matching& matching() const { return state_.matching; }
  Message& message_of(Index number) { return state_.all[number]; }
  const Message& message_of(Index number) const { return state_.all[number]; }

  /** Adds a message, which neither leaves nor is visible to its receiver yet. */
  Index add_message(SendMode mode, Content content)
  {
    Index number = state_.all.size();
    if (state_.idle.empty()) {
      state_.all.emplace_back();
    } else {
      number = state_.idle.back();
      state_.idle.pop_back();
    }
    Message& its               = state_.all[number];
    static_cast<Content&>(its) = std::move(content);
    its.detached               = mode.detached;
    its.eager                  = mode.eager;
    its.known                  = false;
    its.left                   = false;
    its.arrived                = false;
    its.receive                = 0;
    return number;
  }
  /** Makes a message visible to its receiver, and lets it leave if it is eager or a receive was waiting. */
  void post_send(Index number, Endpoint to, int source, int tag)
  {
    if (const auto receive = state_.matching.arrive(to, number, source, tag))
      match(number, *receive, source, tag);
    else if (message_of(number).eager)
      leave(number);
  }
  /** Posts a receive. Returns where it waits, if no message matches. */
  std::optional<Position> post_receive(Endpoint at, std::uint64_t receive, int source, int tag)
  {
    const MessageMatching::Posted posted = state_.matching.post(at, receive, source, tag);
    if (not posted.found)
      return posted.place;
    match(posted.found->message, receive, posted.found->source, posted.found->tag);
    return std::nullopt;
  }
  /** Pairs a message with a receive. */
  void match(Index number, std::uint64_t receive, int source, int tag)
  {
    Message& its = message_of(number);
    its.known    = true;
    its.receive  = receive;
    owner().matched(number, source, tag);
    if (its.arrived)
      finish(number);
    else if (not its.left && (its.eager || owner().may_leave(its)))
      leave(number);
    else if (not its.left)
      state_.held.push_back(number);
  }
  void leave(Index number)
  {
    message_of(number).left = true;
    owner().carry(number);
  }
  /** Lets the held messages leave for which @p attends returns true: their receivers attend. */
  template <class Attends> void release_held(Attends attends)
  {
    for (std::size_t at = 0; at < state_.held.size();)
      if (const Index number = state_.held[at]; attends(message_of(number))) {
        leave(number);
        state_.held.erase(state_.held.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        ++at;
      }
  }
  /** Notes the arrival, or failure, of a message. */
  void arrive(Index number)
  {
    message_of(number).arrived = true;
    const Message message      = message_of(number); // a copy: the owner may post others
    if (message.known)
      forget(number);
    if (not message.detached)
      owner().send_ended(message);
    if (message.known) // if not, the end of the send may have posted the receive
      owner().receive_ended(message);
  }
  /** Frees a message's number. */
  void forget(Index number) { state_.idle.push_back(number); }
};

} // namespace weft
