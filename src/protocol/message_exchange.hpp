// SPDX-License-Identifier: LGPL-2.1-only
/* Eager and rendezvous messages, from their posting to the completion of their receive.
 *
 * A detached send completes immediately, any other send when its message has arrived. An eager message leaves
 * immediately; a rendezvous message is held until its receive is known and its receiver attends (may_leave()). A
 * receive completes when its message has arrived. The owner chooses the mode by the size and kind of a send, and
 * transports the messages. */
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
 *   void matched(Index, int source, int tag)       called with the receive, before the message leaves or is delivered
 *   void send_ended(const Message&)               completes a send that is not detached
 *   void receive_ended(const Message&)            completes a receive; the message's number may be reused
 *
 * The owner may post messages and receives in the last two functions. @tparam Content data of a message for its owner
 * @tparam Matching pairs messages and receives: MessageMatching, or ExactMatching */
template <class Owner, class Content, class Matching = MessageMatching> class MessageExchange {
public:
  using Index    = std::uint64_t; ///< number of a message; reused
  using Endpoint = MessageMatching::Endpoint;
  using Position = MessageMatching::Place;

  struct Message : Content {
    bool detached;
    bool eager;
    bool known;            ///< true if its receive is known
    bool left;             ///< true if it is in flight, or has arrived
    bool arrived;          ///< true if it has arrived or failed
    std::uint64_t receive; ///< the owner's number for the receive, once known
  };

  /** State that one owner can pass to another. */
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
    const Message message = message_of(number); // a copy: the owner may post further messages
    forget(number);
    owner().receive_ended(message);
  }

  friend Owner; // so that no other class can derive by mistake
  MessageExchange() = default;

protected:
  State& state_of_messages() { return state_; }
  Matching& matching() { return state_.matching; }
  const Matching& matching() const { return state_.matching; }
  Message& message_of(Index number) { return state_.all[number]; }
  const Message& message_of(Index number) const { return state_.all[number]; }

  /** Adds a message that neither leaves nor is visible to its receiver yet. */
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
  /** Makes a message visible to its receiver, and sends it if it is eager or a receive was waiting. */
  void post_send(Index number, Endpoint to, int source, int tag)
  {
    if (const auto receive = state_.matching.arrive(to, number, source, tag))
      match(number, *receive, source, tag);
    else if (message_of(number).eager)
      leave(number);
  }
  /** Posts a receive. Returns its position in the queue, if no message matches. */
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
  /** Sends the held messages whose receivers attend, according to @p attends. */
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
  /** Records the arrival or failure of a message. */
  void arrive(Index number)
  {
    message_of(number).arrived = true;
    const Message message      = message_of(number); // a copy: the owner may post further messages
    if (message.known)
      forget(number);
    if (not message.detached)
      owner().send_ended(message);
    if (message.known) // otherwise the end of the send may have posted the receive
      owner().receive_ended(message);
  }
  /** Frees a message's number. */
  void forget(Index number) { state_.idle.push_back(number); }
};

} // namespace weft
