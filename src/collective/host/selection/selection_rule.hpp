// SPDX-License-Identifier: LGPL-2.1-only
/* One rule of a selection: for which calls it holds, and which algorithms it names. */
#pragma once

#include "base/named.hpp"
#include "base/option.hpp"
#include "collective/host/engine/host_call.hpp"

#include <string>
#include <vector>

namespace weft {

/** For which operations of a reduction a rule holds. */
enum class Operations { any, commutative, ordered, predefined, own };
template <> struct Names<Operations> {
  static constexpr std::array ROWS{std::pair{Operations::any, std::string_view("any")},
                                   std::pair{Operations::commutative, std::string_view("commutative")},
                                   std::pair{Operations::ordered, std::string_view("ordered")},
                                   std::pair{Operations::predefined, std::string_view("predefined")},
                                   std::pair{Operations::own, std::string_view("own")}};
};

/** For which forms of a collective a rule holds. */
enum class Calls { any, blocking, nonblocking };
template <> struct Names<Calls> {
  static constexpr std::array ROWS{std::pair{Calls::any, std::string_view("any")},
                                   std::pair{Calls::blocking, std::string_view("blocking")},
                                   std::pair{Calls::nonblocking, std::string_view("nonblocking")}};
};

/** How a call's ranks are spread over hosts, where a rule is to hold: one on each; several on some; several on some of
 *  more than one host; as many on each of several hosts, and several; all on one; several on some, and those of each
 * host follow one another. */
enum class Spread { any, own, shared, several, even, one, in_order };
template <> struct Names<Spread> {
  static constexpr std::array ROWS{
      std::pair{Spread::any, std::string_view("any")},          std::pair{Spread::own, std::string_view("own")},
      std::pair{Spread::shared, std::string_view("shared")},    std::pair{Spread::several, std::string_view("several")},
      std::pair{Spread::even, std::string_view("even")},        std::pair{Spread::one, std::string_view("one")},
      std::pair{Spread::in_order, std::string_view("in_order")}};
};

/** A condition that a call may have to meet, or must not. */
enum class Asked { any, yes, no };
template <> struct Names<Asked> {
  static constexpr std::array ROWS{std::pair{Asked::any, std::string_view("any")},
                                   std::pair{Asked::yes, std::string_view("yes")},
                                   std::pair{Asked::no, std::string_view("no")}};
};

/** What a rule's sizes are compared with: bytes_that_select(); the bytes of all ranks' vectors or blocks together; the
 *  number of their elements. */
enum class Measure { own, total, total_elements };
template <> struct Names<Measure> {
  static constexpr std::array ROWS{std::pair{Measure::own, std::string_view("own")},
                                   std::pair{Measure::total, std::string_view("total")},
                                   std::pair{Measure::total_elements, std::string_view("total_elements")}};
};

/** One [[rule]] table. The lists run in parallel: from bytes[i] bytes on, algorithm[i] in pieces of segment[i]. Of
 * sizes that grow with the ranks a later one may be smaller than one before it: an entry needs all sizes up to its own.
 */
struct SelectionRule {
  std::string collective;
  Operations operation  = Operations::any;
  Calls calls           = Calls::any; ///< a rule for one form goes before those for any
  int ranks             = 1;          ///< holds from so many ranks on, up to the next rule that holds, too
  Asked power_of_two    = Asked::any; ///< whether the ranks are one
  Asked enough_elements = Asked::any; ///< at least as many as the largest power of two that is not more than the ranks
  Asked more_elements   = Asked::any; ///< than ranks
  int elements_up_to    = 0;          ///< holds for no more elements; 0: for any number
  Asked even_blocks     = Asked::any; ///< whether all ranks' blocks are of the same length
  Spread hosts          = Spread::any;
  Measure measure       = Measure::own;
  std::vector<int> bytes{0};
  std::vector<int> bytes_per_rank; ///< added for each rank more than `ranks`; 0 or none: nothing
  std::vector<std::string> algorithm;
  std::vector<int> segment; ///< in bytes; 0 or none: not cut
  std::vector<int> fan_out; ///< 0 or none: as the algorithm has it
  std::string place;        ///< "FILE:LINE: ", where its algorithms are named

  bool holds_for(const HostCall& call) const;
  /** Whether this rule is the one of two that hold for a call, of which it comes second in the file. */
  bool goes_before(const SelectionRule& other) const;
  /** Which entry of its lists is the call's. */
  std::size_t entry_for(const HostCall& call) const;
  Tuning tuning(std::size_t entry) const;

private:
  double bytes_at(std::size_t entry, int of_ranks) const;
};

const std::vector<Option<SelectionRule>>& selection_rule_options();
/** Throws UserError where a rule names what there is not, or where its lists do not fit. */
void check(const OptionTable& table, const SelectionRule& rule);

} // namespace weft
