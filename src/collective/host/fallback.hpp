// SPDX-License-Identifier: LGPL-2.1-only
/* What the hosts do where no switch does it: an MPI library's selection of algorithms, algorithms by name or the
 * fastest one of all, for all collectives or by collective; and which are left to SMPI.
 *
 * As text, items with commas between them; later ones go before earlier ones:
 *
 *   openmpi-5.0                  a selection of presets/mpi, or the path of a file
 *   recursive_doubling           an algorithm, for all collectives that have one of that name
 *   bcast=binomial               an algorithm for one collective
 *   best, bcast=best             the fastest algorithm for each call (collective/host/fastest.hpp)
 *   smpi:ompi, bcast=smpi:mpich  what SMPI has under that name */
#pragma once

#include "collective/host/fastest.hpp"
#include "collective/host/selection/selection.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

class HostFallback {
  Selection selection_;
  std::map<std::string, const Algorithm*, std::less<>> named_; // by collective; null: the fastest
  std::map<std::string, std::string, std::less<>> smpi_;       // by collective: SMPI's name
  std::string smpi_for_all_;                                   // empty: none
  std::shared_ptr<FastestAlgorithm> fastest_;

  void add(const std::string& item);
  void add_for_all(const std::string& name);
  void add_for_one(const std::string& collective, const std::string& name);

public:
  /** Stands for the fastest algorithm. */
  static constexpr const char* BEST = "best";

  /** Throws UserError. */
  static HostFallback parse(const std::string& text);

  /** SMPI's name of what a collective is left to; empty where weft carries it out. */
  std::string smpi(std::string_view collective) const;
  /** What all collectives are left to for which SMPI has that; empty where nothing is. */
  const std::string& smpi_for_all() const { return smpi_for_all_; }
  /** SMPI has that for these @p collectives only. */
  void leave_only(const std::vector<std::string>& collectives);
  /** What is left to SMPI, by collective; all of them under "". */
  std::map<std::string, std::string, std::less<>> left_to_smpi() const;
  /** Leave a collective to SMPI. */
  void leave_to_smpi(const std::string& collective, const std::string& name);
  /** Predictions of the fastest algorithm are made on @p fabric, which must outlive this, with @p costs. */
  void predict_on(const Fabric& fabric, FastestAlgorithm::MakeCosts costs);
  /** Whether a collective takes the fastest algorithm; "": whether any does. */
  bool takes_best(std::string_view collective = "") const;
  /** What a call is done by, as one of @p calls in a row; no algorithm where that is not said, or SMPI does it. Throws
   *  UserError where the algorithm that the text or the selection names cannot do the call. */
  Selection::Choice choose(const HostCall& call, int calls = 1) const;
  /** The same call, of which calls within it are decided on by the library that @p choice names, or the selection. */
  HostCall resolved(HostCall call, const Selection::Choice& choice) const;
  const Selection& selection() const { return selection_; }
};

} // namespace weft
