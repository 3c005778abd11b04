// SPDX-License-Identifier: LGPL-2.1-only
/* The packet forwarding cache of one input port (Hirasawa et al., CLUSTER 2021, section III).
 *
 * An entry holds the port of one tag; a tag is what the switch's hash makes of a packet's destination
 * (fabric/topology/forwarding_hash.hpp). Its set is the tag modulo their number, so that tags which count from zero, as
 * the regular topologies' do, fill the sets evenly. The cache has no other state than its entries: whoever changes a
 * switch's routes flushes it, as there is nothing that would invalidate single entries.
 *
 * Caches that runs follow are many, and what is in use of all of them is more than a processor's own caches hold: a
 * cache has the tags that it is certain to keep as single bits (KEPT).
 *
 * Misses are told apart as usual: initial where the tag was never looked up (since the last flush); capacity where a
 * fully associative cache of as many entries with LRU would miss as well; conflict otherwise.
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

/** What a packet's destination is looked up by; at most 24 bits. */
using ForwardingTag = std::uint32_t;
/** Instead of a tag: KEPT and a small number that no other has, of a tag in whose set there is room for all that can
 *  ever be looked up there. Once the cache knows it, it stays, whatever the replacement: a bit says all of it. */
constexpr ForwardingTag KEPT = 1U << 31U;

/** Which entry of a full set makes room. */
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
  // Of thousands of ports' caches few sets are in use: these lie together, so that they are near when they are looked
  // at.
  std::vector<std::uint32_t> places_; // by set, up to the highest in use: which one of entries_; NOWHERE: not in use
  std::vector<Entry> entries_;        // those sets, each in the order of replacement
  std::vector<std::uint64_t> kept_;   // by number of KEPT tags, up to the highest in use: a bit each
  std::minstd_rand random_;

  static constexpr std::uint32_t NOWHERE = ~std::uint32_t{0};
  static constexpr unsigned WORD         = 64;
  static std::size_t word_of(ForwardingTag kept) { return (kept & ~KEPT) / WORD; }

  /** Where the entries of a tag's set begin; their number where that is not in use. */
  std::size_t first_of(ForwardingTag tag) const
  {
    const ForwardingTag set = tag % sets_;
    if (set >= places_.size() || places_[set] == NOWHERE)
      return entries_.size();
    return static_cast<std::size_t>(places_[set]) * static_cast<std::size_t>(shape_.ways);
  }

public:
  explicit ForwardingCache(const CacheShape& shape);

  /** It will be looked up soon: to be called first for all lookups to come, then with expect_entries() for each. */
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
  /** Look a KEPT tag up, and note it where it is not known. @return whether it was. */
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
  /** The port that leads to the destinations of @p tag, which is no KEPT one; nothing where the cache does not know. */
  std::optional<int> lookup(ForwardingTag tag);
  /** Note what the TCAM said after a miss. */
  void fill(ForwardingTag tag, int port);
  /** Forget all. */
  void flush()
  {
    places_.clear();
    entries_.clear();
    kept_.clear();
  }
};

/** What the lookups of a cache were. */
struct CacheCounters {
  std::int64_t hits     = 0;
  std::int64_t initial  = 0;
  std::int64_t capacity = 0;
  std::int64_t conflict = 0;

  std::int64_t misses() const { return initial + capacity + conflict; }
  std::int64_t lookups() const { return hits + misses(); }
  CacheCounters& operator+=(const CacheCounters& other);
};

/** Tells misses apart, by a fully associative shadow of the cache. */
class MissClassifier {
  std::size_t entries_;
  std::list<ForwardingTag> recent_; // latest first
  std::unordered_map<ForwardingTag, std::list<ForwardingTag>::iterator> places_;
  std::unordered_set<ForwardingTag> seen_;

  bool shadow_hits(ForwardingTag tag);

public:
  explicit MissClassifier(int entries) : entries_(static_cast<std::size_t>(entries)) {}

  /** Count a lookup of @p tag that was a hit or not. */
  void count(ForwardingTag tag, bool hit, CacheCounters& into);
  void flush();
};

} // namespace weft
