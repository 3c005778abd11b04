// SPDX-License-Identifier: LGPL-2.1-only
/* Algorithms of the hosts (`--fallback`): an MPI library's selection, algorithms by name, or the fastest one, for all
 * collectives or by collective; and the collectives that SMPI executes.
 *
 * The text form is a comma-separated list; later items take precedence:
 *
 *   openmpi-5.0                  a selection of presets/mpi, or the path of a file
 *   nccl-2.29                    NCCL for the collectives that it has, the selection for the rest
 *   recursive_doubling           an algorithm, for all collectives that have one of that name
 *   bcast=binomial               an algorithm for one collective
 *   best, bcast=best             the fastest algorithm for each call (collective/host/fastest.hpp)
 *   smpi:ompi, bcast=smpi:mpich  SMPI's algorithm or selector of that name */
#pragma once

#include "collective/host/fastest.hpp"
#include "collective/host/nccl/nccl_library.hpp"
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
  std::string smpi_for_all_;                                   // SMPI's name for all collectives; empty: none
  std::shared_ptr<FastestAlgorithm> fastest_;
  std::string nccl_name_; // empty: NCCL is not used
  std::shared_ptr<const NcclLibrary> nccl_;

  void add(const std::string& item);
  void add_for_all(const std::string& name);
  void add_for_one(const std::string& collective, const std::string& name);

public:
  /** Name of the fastest algorithm. */
  static constexpr const char* BEST = "best";

  /** Parses the text form. Throws UserError. */
  static HostFallback parse(const std::string& text);

  /** Returns SMPI's name of the algorithm for a collective; empty if weft executes it. */
  std::string smpi(std::string_view collective) const;
  /** Returns SMPI's name that applies to all collectives for which SMPI has this algorithm, or "". */
  const std::string& smpi_for_all() const { return smpi_for_all_; }
  /** Restricts smpi_for_all() to @p collectives, for which SMPI has that algorithm. */
  void leave_only(const std::vector<std::string>& collectives);
  /** Returns the algorithms of collectives that SMPI executes, by collective; "" means all. */
  std::map<std::string, std::string, std::less<>> left_to_smpi() const;
  /** Makes SMPI execute a collective. */
  void leave_to_smpi(const std::string& collective, const std::string& name);
  /** Sets the fabric, which must outlive the object, and the costs for predictions of the fastest algorithm. Throws
   * UserError if NCCL is requested and the fabric has no GPUs. */
  void predict_on(const Fabric& fabric, FastestAlgorithm::MakeCosts costs);
  /** Returns true if a collective uses the fastest algorithm; for "", if any collective does. */
  bool takes_best(std::string_view collective = "") const;
  /** Returns the algorithm for one of @p calls consecutive calls; none if it is not determined, or SMPI executes the
   * call. */
  Selection::Choice choose(const HostCall& call, int calls = 1) const;
  /** Returns the call with its nested calls resolved by the library that @p choice names, or by the selection. */
  HostCall resolved(HostCall call, const Selection::Choice& choice) const;
  const Selection& selection() const { return selection_; }
};

} // namespace weft
