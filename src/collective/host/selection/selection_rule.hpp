// SPDX-License-Identifier: LGPL-2.1-only
/* Rule of a selection: the calls that it matches, and the algorithms that it selects. */
#pragma once

#include "base/named.hpp"
#include "base/option.hpp"
#include "collective/host/engine/host_call.hpp"

#include <string>
#include <vector>

namespace weft {

/** Operations of reductions that a rule matches. */
enum class Operations { any, commutative, ordered, predefined, own };
template <> struct Names<Operations> {
  static constexpr std::array ROWS{std::pair{Operations::any, std::string_view("any")},
                                   std::pair{Operations::commutative, std::string_view("commutative")},
                                   std::pair{Operations::ordered, std::string_view("ordered")},
                                   std::pair{Operations::predefined, std::string_view("predefined")},
                                   std::pair{Operations::own, std::string_view("own")}};
};

/** Forms of a collective that a rule matches. */
enum class Calls { any, blocking, nonblocking };
template <> struct Names<Calls> {
  static constexpr std::array ROWS{std::pair{Calls::any, std::string_view("any")},
                                   std::pair{Calls::blocking, std::string_view("blocking")},
                                   std::pair{Calls::nonblocking, std::string_view("nonblocking")}};
};

/** Placements that a rule matches. own: one rank per host; shared: some host has several ranks; several: as shared, on
 * more than one host; even: as several, equally many ranks on each host; one: all ranks on one host; in_order: as
 * shared, each host's ranks consecutive. */
enum class Spread { any, own, shared, several, even, one, in_order };
template <> struct Names<Spread> {
  static constexpr std::array ROWS{
      std::pair{Spread::any, std::string_view("any")},          std::pair{Spread::own, std::string_view("own")},
      std::pair{Spread::shared, std::string_view("shared")},    std::pair{Spread::several, std::string_view("several")},
      std::pair{Spread::even, std::string_view("even")},        std::pair{Spread::one, std::string_view("one")},
      std::pair{Spread::in_order, std::string_view("in_order")}};
};

/** Condition that a call must meet (yes), must not meet (no), or may meet (any). */
enum class Asked { any, yes, no };
template <> struct Names<Asked> {
  static constexpr std::array ROWS{std::pair{Asked::any, std::string_view("any")},
                                   std::pair{Asked::yes, std::string_view("yes")},
                                   std::pair{Asked::no, std::string_view("no")}};
};

/** Size with which a rule's sizes are compared: bytes_that_select(); the bytes of all ranks' vectors or blocks
 * together; the number of their elements. */
enum class Measure { own, total, total_elements };
template <> struct Names<Measure> {
  static constexpr std::array ROWS{std::pair{Measure::own, std::string_view("own")},
                                   std::pair{Measure::total, std::string_view("total")},
                                   std::pair{Measure::total_elements, std::string_view("total_elements")}};
};

/** [[rule]] table. The lists are parallel: algorithm[i] with segment[i] applies to at least bytes[i] bytes. Since sizes
 * may grow with the ranks, a later size may be smaller than an earlier one: an entry applies if the call reaches all
 * sizes up to its own.
 */
struct SelectionRule {
  std::string collective;
  Operations operation = Operations::any;
  Calls calls          = Calls::any; ///< a rule for one form takes precedence over rules for any form
  int ranks            = 1;          ///< minimum number of ranks; applies up to the next matching rule
  Asked power_of_two   = Asked::any; ///< the number of ranks is a power of two
  Asked enough_elements =
      Asked::any; ///< at least as many elements as the largest power of two not above the number of ranks
  Asked more_elements = Asked::any; ///< more elements than ranks
  int elements_up_to  = 0;          ///< largest number of elements; 0: unlimited
  Asked even_blocks   = Asked::any; ///< all ranks' blocks have the same length
  Spread hosts        = Spread::any;
  Measure measure     = Measure::own;
  std::vector<int> bytes{0};
  std::vector<int> bytes_per_rank; ///< added to `bytes` for each rank beyond `ranks`; 0 or empty: nothing
  std::vector<std::string> algorithm;
  std::vector<int> segment; ///< in bytes; 0 or empty: not segmented
  std::vector<int> fan_out; ///< 0 or empty: the algorithm's default

  bool holds_for(const HostCall& call) const;
  /** Returns whether this rule takes precedence over @p other, which also matches the call and precedes this rule in
   * the file. */
  bool goes_before(const SelectionRule& other) const;
  /** Returns the index of the entry in the lists that applies to the call. */
  std::size_t entry_for(const HostCall& call) const;
  Tuning tuning(std::size_t entry) const;

private:
  double bytes_at(std::size_t entry, int of_ranks) const;
};

const std::vector<Option<SelectionRule>>& selection_rule_options();
/** Throws UserError if a rule has unknown names or lists of inconsistent lengths. */
void check(const OptionTable& table, const SelectionRule& rule);

} // namespace weft
