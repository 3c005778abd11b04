// SPDX-License-Identifier: LGPL-2.1-only
/* Host algorithms of MPI libraries for collectives, one row each.
 *
 * Messages, their order and the waits follow the library that the row names: Open MPI 4.1
 * (ompi/mca/coll/base, tuned and basic), MPICH 4 (src/mpi/coll) or UCC (src/components/tl/ucp); the rows of MPI
 * libraries are checked against the messages that Open MPI 4.1.4 and MPICH 4.0.2 send. Where both send the same
 * messages in the same order, the row is Open MPI's. */
#pragma once

#include "base/named.hpp"
#include "collective/host/engine/host_call.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/** Requirement of an algorithm on a call: a commutative operation; two ranks; contiguous ranks on
 * each host; all ranks on one host; one host and a commutative operation. */
enum class Needs { nothing, commutative, two_ranks, in_order, one_host, one_host_commutative };

/** Library that an algorithm belongs to. */
enum class Library { open_mpi, mpich, ucc, nccl };
template <> struct Names<Library> {
  static constexpr std::array ROWS{
      std::pair{Library::open_mpi, std::string_view("Open MPI")}, std::pair{Library::mpich, std::string_view("MPICH")},
      std::pair{Library::ucc, std::string_view("UCC")}, std::pair{Library::nccl, std::string_view("NCCL")}};
};

/** Algorithm of the same collective that replaces another; an empty name: none. */
struct Substitute {
  std::string_view name = {};
  Tuning tuning         = {};
};

struct Algorithm {
  std::string_view collective;
  std::string_view name;
  int number; ///< in Open MPI's coll_tuned_<collective>_algorithm and its rules files; 0 if it has none
  MakeSchedule schedule;
  Needs needs    = Needs::nothing;
  Library source = Library::open_mpi; ///< library to which it belongs
  /// Algorithm that the library uses instead for calls that do not meet `needs`; empty: the library would fail.
  std::string_view otherwise = {};
  /// Returns the algorithm whose steps the library's function executes for some calls, mostly because there are too few
  /// elements or an unsuitable number of ranks; null: always its own.
  Substitute (*substitute)(const HostCall& call, Tuning tuning) = nullptr;
  /// Returns whether the algorithm selected without knowledge of hosts executes @p call (HAN); null: never.
  bool (*ignores_hosts)(const HostCall& call) = nullptr;
};

std::span<const Algorithm> host_algorithms();
/** Returns the algorithm with this name or number; null if there is none. */
const Algorithm* find_algorithm(std::string_view collective, std::string_view name);
const Algorithm* find_algorithm(std::string_view collective, int number);

/** Returns whether @p algorithm can execute @p call. */
bool can_do(const Algorithm& algorithm, const HostCall& call);
/** Returns the algorithm that a library executes for @p call if @p algorithm is requested: @p algorithm itself or its
 * replacement. Throws UserError if there is none. */
const Algorithm* fitting(const Algorithm& algorithm, const HostCall& call);

/** Returns the names of a collective's algorithms, for error messages. */
std::vector<std::string> algorithms_of(std::string_view collective);
/** Returns the collectives that have algorithms, in alphabetical order. */
const std::vector<std::string>& collectives_with_algorithms();

} // namespace weft
