// SPDX-License-Identifier: LGPL-2.1-only
/* The algorithms of MPI libraries for the collectives that hosts carry out, one row each.
 *
 * What is said of messages, of their order and of what is waited for follows the library that the row names: Open MPI
 * 4.1 (ompi/mca/coll/base, tuned and basic) or MPICH 4 (src/mpi/coll); the messages are checked against those that Open
 * MPI 4.1.4 and MPICH 4.0.2 send. Where both send the same in the same order, the row is Open MPI's. */
#pragma once

#include "base/named.hpp"
#include "collective/host/engine/host_call.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/** What an algorithm asks of a call: an operation that commutes; two ranks; ranks of which those of each host follow
 * one another; ranks of one host; both that and an operation that commutes. */
enum class Needs { nothing, commutative, two_ranks, in_order, one_host, one_host_commutative };

/** Whose algorithm it is. */
enum class Library { open_mpi, mpich };
template <> struct Names<Library> {
  static constexpr std::array ROWS{std::pair{Library::open_mpi, std::string_view("Open MPI")},
                                   std::pair{Library::mpich, std::string_view("MPICH")}};
};

/** An algorithm of the same collective that stands in for another; an empty name: none does. */
struct Substitute {
  std::string_view name = {};
  Tuning tuning         = {};
};

struct Algorithm {
  std::string_view collective;
  std::string_view name;
  int number; ///< in Open MPI's coll_tuned_<collective>_algorithm and its files of rules; 0 where it has none
  MakeSchedule schedule;
  Needs needs    = Needs::nothing;
  Library source = Library::open_mpi; ///< whose it is
  /// What its library takes in its place, by itself, where a call is not what it needs; none: the library would go
  /// wrong.
  std::string_view otherwise = {};
  /// The algorithm whose steps its library's function takes for some calls, mostly because there are too few elements
  /// or an unfit number of ranks; none: it always takes its own.
  Substitute (*substitute)(const HostCall& call, Tuning tuning) = nullptr;
  /// Whether it takes, for some calls, the algorithm that is chosen where nothing is known of hosts (HAN).
  bool (*ignores_hosts)(const HostCall& call) = nullptr;
};

std::span<const Algorithm> host_algorithms();
/** Null where there is no such. */
const Algorithm* find_algorithm(std::string_view collective, std::string_view name);
const Algorithm* find_algorithm(std::string_view collective, int number);

/** Whether @p algorithm can carry out @p call. */
bool can_do(const Algorithm& algorithm, const HostCall& call);
/** What a library that is told to take @p algorithm takes for @p call: that, or what stands in its place. Throws
 *  UserError, of which @p place is the beginning, where there is none. */
const Algorithm* fitting(const Algorithm& algorithm, const HostCall& call, const std::string& place = "");

/** The names of a collective's algorithms, for messages. */
std::vector<std::string> algorithms_of(std::string_view collective);
/** The collectives that have any, in the order of the alphabet. */
const std::vector<std::string>& collectives_with_algorithms();

} // namespace weft
