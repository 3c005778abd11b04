// SPDX-License-Identifier: LGPL-2.1-only
/* Rule of a selection: the calls that it matches, and the algorithms that it names. */
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

/** Placements that a rule matches: one rank per host (own); several on some (shared); several on
 * some of more than one host (several); several, equally many on each of several hosts (even); all
 * on one (one); several on some, contiguous on each host (in_order). */
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

/** Size that a rule's sizes are compared with: bytes_that_select(); the bytes of all ranks' vectors
 * or blocks together; the number of their elements. */
enum class Measure { own, total, total_elements };
template <> struct Names<Measure> {
  static constexpr std::array ROWS{std::pair{Measure::own, std::string_view("own")},
                                   std::pair{Measure::total, std::string_view("total")},
                                   std::pair{Measure::total_elements, std::string_view("total_elements")}};
};

/** [[rule]] table. The lists are parallel: from bytes[i] bytes on, algorithm[i] with segment[i].
 * Since sizes may grow with the ranks, a later one may be smaller than an earlier one: an entry
 * applies if the call reaches all sizes up to its own.
 */
struct SelectionRule {
  std::string collective;
  Operations operation  = Operations::any;
  Calls calls           = Calls::any; ///< a rule for one form takes precedence over those for any
  int ranks             = 1;          ///< applies from this number of ranks on, up to the next matching rule
  Asked power_of_two    = Asked::any; ///< whether the number of ranks is a power of two
  Asked enough_elements = Asked::any; ///< at least as many as the largest power of two that is at most the number of
                                      ///< ranks
  Asked more_elements   = Asked::any; ///< more elements than ranks
  int elements_up_to    = 0;          ///< largest number of elements; 0: unlimited
  Asked even_blocks     = Asked::any; ///< whether all ranks' blocks have the same length
  Spread hosts          = Spread::any;
  Measure measure       = Measure::own;
  std::vector<int> bytes{0};
  std::vector<int> bytes_per_rank; ///< added for each rank beyond `ranks`; 0 or empty: nothing
  std::vector<std::string> algorithm;
  std::vector<int> segment; ///< in bytes; 0 or empty: not segmented
  std::vector<int> fan_out; ///< 0 or empty: the algorithm's default

  bool holds_for(const HostCall& call) const;
  /** Returns whether this rule takes precedence over @p other, which also matches the call and
   * precedes it in the file. */
  bool goes_before(const SelectionRule& other) const;
  /** Returns the index of the call's entry in the lists. */
  std::size_t entry_for(const HostCall& call) const;
  Tuning tuning(std::size_t entry) const;

private:
  double bytes_at(std::size_t entry, int of_ranks) const;
};

const std::vector<Option<SelectionRule>>& selection_rule_options();
/** Throws UserError if a rule has unknown names or its lists do not agree. */
void check(const OptionTable& table, const SelectionRule& rule);

} // namespace weft
