// SPDX-License-Identifier: LGPL-2.1-only
/* MPI's message matching: the posted receives and the unexpected messages of all endpoints. An endpoint is one rank in
 * one communicator.
 *
 * A message goes to the earliest posted receive that matches, and a receive or probe gets the earliest message that
 * matches, so messages of one sender do not overtake each other (MPI 4.0, section 3.5). ANY_TAG matches non-negative
 * tags; negative tags are the library's own.
 *
 * Queues are found by hashing (endpoint, source, tag). A receive waits in the queue with exactly its source and tag,
 * wildcards included; an arriving message takes the earliest of the fronts of the up to four queues that match it. An
 * unexpected message is in the queue of its source and tag and, once its endpoint has used a wildcard, in the wildcard
 * queues that match it. So every operation takes constant time, except an endpoint's first wildcard, which takes time
 * proportional to its unexpected messages. Memory is reused: the steady state allocates nothing per message.
 *
 * The order of several sends at one instant is arbitrary. Once an endpoint has used ANY_SOURCE, its messages are
 * therefore collected, and arrive in the order of their sources at the end of the instant.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace weft {

class MessageMatching {
public:
  static constexpr int ANY_SOURCE = -1;
  static constexpr int ANY_TAG    = std::numeric_limits<int>::min();

  using Endpoint = std::uint32_t; ///< numbered from 0; memory grows with the largest number
  using Place    = std::uint32_t; ///< handle of an item in a queue, valid until the item leaves it

  /** Message that a probe found. */
  struct Found {
    std::uint64_t message;
    int source;
    int tag;
    friend bool operator==(const Found&, const Found&) = default;
  };
  /** Message that matches a posted receive. */
  struct Match {
    std::uint64_t message;
    std::uint64_t receive;
    int source;
    int tag;
    friend bool operator==(const Match&, const Match&) = default;
  };
  /** Result of posting a receive: its position in the queue, or the message that it matched. */
  struct Posted {
    Place place;
    std::optional<Found> found;
  };

private:
  static constexpr std::uint32_t NONE = std::numeric_limits<std::uint32_t>::max();
  enum Wild : std::uint8_t { NOTHING, TAG, SOURCE, BOTH }; // wildcards in a queue's name
  static constexpr std::uint8_t KINDS = 4;
  struct Link {
    std::uint32_t before = NONE;
    std::uint32_t after  = NONE;
    std::uint32_t queue  = NONE; // NONE: not in a queue of this kind
  };
  struct Neighbours {
    std::uint32_t before = NONE;
    std::uint32_t after  = NONE;
  };
  struct Item {               // posted receive or unexpected message
    std::uint64_t what   = 0; // the caller's number for the item
    std::uint64_t number = 0; // receives: position in the order of posting
    int source           = 0;
    int tag              = 0;
    Endpoint endpoint    = 0;
    Link exact{};     // in the queue of its own name
    Neighbours all{}; // in the list of the endpoint's unexpected messages
  };
  using WildLinks = std::array<Link, KINDS - 1>; // of a message, in wildcard queues
  struct Queue {
    std::uint64_t name_high = 0; // endpoint and source in one word
    int tag                 = 0;
    std::uint32_t next      = NONE; // next queue with the same hash, or next idle one
    std::uint32_t first     = NONE;
    std::uint32_t last      = NONE;
    bool receives           = false; // queue of receives; otherwise of messages
  };
  struct EndpointState {
    std::uint32_t first     = NONE; // first unexpected message
    std::uint32_t last      = NONE;
    std::uint32_t messages  = 0;
    std::uint32_t receives  = 0;
    std::uint32_t wild      = 0; // number of posted receives with wildcards
    std::uint32_t collected = 0;
    bool wildcards_indexed  = false; // true if the endpoint's messages are in the wildcard queues
    bool collects           = false; // true once the endpoint has used ANY_SOURCE
  };
  struct Collected {
    Endpoint endpoint;
    int source;
    int tag;
    std::uint64_t message;
  };

  std::vector<EndpointState> endpoints_;
  std::vector<Item> items_;
  std::vector<std::uint32_t> idle_items_;
  std::vector<WildLinks> wild_links_; // by item, up to the last one in such a queue
  std::vector<Queue> queues_;
  std::vector<std::uint32_t> idle_queues_;
  std::vector<std::uint32_t> buckets_; // size is a power of two
  std::size_t used_queues_ = 0;
  std::uint64_t posted_    = 0;
  std::vector<Collected> collected_; // in the order of the calls
  std::vector<Match> matches_;       // reused by end_instant()

  struct Name {
    bool receives;
    Endpoint endpoint;
    int source;
    int tag;
  };
  static std::uint8_t wild(int source, int tag);
  static Name widened(const Name& name, std::uint8_t wild);
  static bool matches(std::uint8_t wild, int tag) { return (wild & TAG) == 0 || tag >= 0; }
  std::size_t bucket(const Name& name) const;
  std::uint32_t find(const Name& name) const;
  std::uint32_t open(const Name& name);
  void close(std::uint32_t queue);
  void rehash();
  std::uint32_t new_item(Endpoint endpoint, std::uint64_t what, int source, int tag);
  Link& link(std::uint32_t item, std::size_t kind)
  {
    return kind == NOTHING ? items_[item].exact : wild_links_[item][kind - 1];
  }
  void enqueue(std::uint32_t item, std::size_t kind, const Name& name);
  void dequeue(std::uint32_t item, std::size_t kind);
  EndpointState& state(Endpoint endpoint)
  {
    if (endpoint >= endpoints_.size()) [[unlikely]]
      endpoints_.resize(std::size_t{endpoint} + 1);
    return endpoints_[endpoint];
  }
  void index_wildcards(Endpoint endpoint);
  std::uint32_t first_message(Endpoint endpoint, int source, int tag);
  void remove_message(std::uint32_t item);
  Found found(std::uint32_t item) const { return {items_[item].what, items_[item].source, items_[item].tag}; }

public:
  MessageMatching();

  /** Posts @p receive. It matches the earliest message, or is queued. */
  Posted post(Endpoint endpoint, std::uint64_t receive, int source, int tag);
  /** Removes a waiting receive. */
  void cancel(Place receive);
  /** Matches an arriving message. Returns its receive; if there is none, the message is unexpected. */
  std::optional<std::uint64_t> arrive(Endpoint endpoint, std::uint64_t message, int source, int tag);
  /** Returns the earliest message that matches (MPI_Probe). */
  std::optional<Found> probe(Endpoint endpoint, int source, int tag);
  /** Returns the earliest message that matches and removes it (MPI_Mprobe). */
  std::optional<Found> extract(Endpoint endpoint, int source, int tag);
  /** Removes an unexpected message, given its source and tag. Returns false if there is no such message. */
  bool withdraw(Endpoint endpoint, std::uint64_t message, int source, int tag);

  /** Returns whether messages for the endpoint must be collected. */
  bool collects(Endpoint endpoint) const { return endpoint < endpoints_.size() && endpoints_[endpoint].collects; }
  /** Collects all further messages of the endpoint, and the unexpected ones of this instant, for which @p is_new
   * returns true. */
  template <class IsNew> void begin_collecting(Endpoint endpoint, IsNew is_new)
  {
    EndpointState& its  = state(endpoint);
    its.collects        = true;
    std::uint32_t first = NONE;
    for (std::uint32_t item = its.last; item != NONE && is_new(items_[item].what); item = items_[item].all.before)
      first = item;
    while (first != NONE) {
      const Item item = items_[first];
      remove_message(first);
      collect(endpoint, item.what, item.source, item.tag);
      first = item.all.after;
    }
  }
  /** Adds a message that arrives at the end of this instant. */
  void collect(Endpoint endpoint, std::uint64_t message, int source, int tag);
  /** Makes the collected messages arrive. Returns the matches with waiting receives; valid until the next call. */
  const std::vector<Match>& end_instant();

  /** Calls @p told with endpoint, receive, source and tag of each waiting receive, in unspecified order. */
  template <class Told> void for_each_receive(Told told) const
  {
    for (std::uint32_t queue : buckets_)
      for (; queue != NONE; queue = queues_[queue].next)
        for (std::uint32_t item = queues_[queue].receives ? queues_[queue].first : NONE; item != NONE;
             item               = items_[item].exact.after)
          told(items_[item].endpoint, items_[item].what, items_[item].source, items_[item].tag);
  }
  /** Calls @p told with endpoint, message, source and tag of each unexpected message, oldest first at each endpoint. */
  template <class Told> void for_each_message(Told told) const
  {
    for (const EndpointState& its : endpoints_)
      for (std::uint32_t item = its.first; item != NONE; item = items_[item].all.after)
        told(items_[item].endpoint, items_[item].what, items_[item].source, items_[item].tag);
  }

  std::size_t waiting_receives(Endpoint endpoint) const;
  std::size_t unexpected_messages(Endpoint endpoint) const;
};

} // namespace weft
