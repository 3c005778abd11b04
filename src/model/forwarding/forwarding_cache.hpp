// SPDX-License-Identifier: LGPL-2.1-only
/* Packet forwarding cache of one input port (Hirasawa et al., CLUSTER 2021, section III).
 *
 * An entry maps a tag to an output port. The tag is the switch's hash of a packet's destination
 * (fabric/topology/forwarding_hash.hpp). The set is the tag modulo the number of sets, so the consecutive tags of
 * regular topologies fill the sets evenly. Single entries cannot be invalidated; a change of routes flushes the cache.
 *
 * A run simulates many caches, whose entries together exceed the processor's caches. Tags that are never evicted are
 * therefore stored as single bits (KEPT).
 *
 * Misses are classified as usual: initial (first lookup since the last flush), capacity (a fully associative LRU cache
 * of the same size would miss too), conflict (all other misses).
 */
#pragma once

#include "base/named.hpp"
#include "base/prefetch.hpp"

#include <cstdint>
#include <list>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace weft {

/** Lookup key of a packet's destination; at most 24 bits. */
using ForwardingTag = std::uint32_t;
/** Marks a tag that is never evicted, because its set has room for every tag that can occur in it. A KEPT tag is this
 * flag plus a small unique number; one bit per number records whether the cache holds the tag. */
constexpr ForwardingTag KEPT = 1U << 31U;
/** Tag of destinations that leave by several ports: no entry holds them, and each lookup misses. */
constexpr ForwardingTag UNCACHED = ~ForwardingTag{0};

/** Replacement policy of a full set. */
enum class Replacement { lru, fifo, random };
template <> struct Names<Replacement> {
  static constexpr std::array ROWS{std::pair{Replacement::lru, std::string_view("lru")},
                                   std::pair{Replacement::fifo, std::string_view("fifo")},
                                   std::pair{Replacement::random, std::string_view("random")}};
};

struct CacheShape {
  int entries             = 0;
  int ways                = 0; ///< entries of a set; divides `entries`
  Replacement replacement = Replacement::lru;
};

class ForwardingCache {
  struct Entry {
    ForwardingTag tag;
    std::int32_t port;
  };
  CacheShape shape_;
  ForwardingTag sets_;
  // Few sets of a port's cache are in use. They are stored densely, which saves cache misses with thousands of ports.
  std::vector<std::uint32_t> places_; // index in entries_ by set, up to the highest set in use; NOWHERE: unused
  std::vector<Entry> entries_;        // sets in use, each in replacement order
  std::vector<std::uint64_t> kept_;   // one bit per number of a KEPT tag, up to the highest in use
  std::minstd_rand random_;

  static constexpr std::uint32_t NOWHERE = ~std::uint32_t{0};
  static constexpr unsigned WORD         = 64;
  static std::size_t word_of(ForwardingTag kept) { return (kept & ~KEPT) / WORD; }

  /** Returns the index of the first entry of a tag's set; entries_.size() if the set is unused. */
  std::size_t first_of(ForwardingTag tag) const
  {
    const ForwardingTag set = tag % sets_;
    if (set >= places_.size() || places_[set] == NOWHERE)
      return entries_.size();
    return static_cast<std::size_t>(places_[set]) * static_cast<std::size_t>(shape_.ways);
  }

public:
  explicit ForwardingCache(const CacheShape& shape);

  /** Prefetches for a lookup of @p tag. Call expect() for each tag of a batch, then expect_entries() for each. */
  void expect(ForwardingTag tag) const
  {
    if ((tag & KEPT) != 0) {
      if (const std::size_t word = word_of(tag); word < kept_.size())
        prefetch(&kept_[word], sizeof(kept_[word]));
    } else if (const ForwardingTag set = tag % sets_; set < places_.size())
      prefetch(&places_[set], sizeof(places_[set]));
  }
  void expect_entries(ForwardingTag tag) const
  {
    if ((tag & KEPT) != 0)
      return;
    if (const std::size_t first = first_of(tag); first < entries_.size())
      prefetch(&entries_[first], static_cast<std::size_t>(shape_.ways) * sizeof(Entry));
  }
  /** Looks up a KEPT tag and adds it. Returns true if the cache held it already. */
  bool know(ForwardingTag kept)
  {
    const std::size_t word = word_of(kept);
    if (word >= kept_.size())
      kept_.resize(word + 1);
    const std::uint64_t bit = std::uint64_t{1} << kept % WORD;
    const bool known        = (kept_[word] & bit) != 0;
    kept_[word] |= bit;
    return known;
  }
  /** Returns the port of @p tag, which must not be KEPT; nothing on a miss. */
  std::optional<int> lookup(ForwardingTag tag);
  /** Adds the result of the TCAM search after a miss. */
  void fill(ForwardingTag tag, int port);
  /** Removes all entries. */
  void flush()
  {
    places_.clear();
    entries_.clear();
    kept_.clear();
  }
};

/** Lookups of a cache by outcome. */
struct CacheCounters {
  std::int64_t hits     = 0;
  std::int64_t initial  = 0;
  std::int64_t capacity = 0;
  std::int64_t conflict = 0;

  std::int64_t misses() const { return initial + capacity + conflict; }
  std::int64_t lookups() const { return hits + misses(); }
  CacheCounters& operator+=(const CacheCounters& other);
};

/** Classifies misses with a fully associative LRU cache of the same size. */
class MissClassifier {
  std::size_t entries_;
  std::list<ForwardingTag> recent_; // most recent first
  std::unordered_map<ForwardingTag, std::list<ForwardingTag>::iterator> places_;
  std::unordered_set<ForwardingTag> seen_;

  bool shadow_hits(ForwardingTag tag);

public:
  explicit MissClassifier(int entries) : entries_(static_cast<std::size_t>(entries)) {}

  /** Counts a lookup of @p tag as a hit, or by its kind of miss. */
  void count(ForwardingTag tag, bool hit, CacheCounters& into);
  void flush();
};

} // namespace weft
