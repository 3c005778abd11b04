// SPDX-License-Identifier: LGPL-2.1-only
/* NCCL as a host library (`--fallback nccl-2.29`): it executes the collectives that NCCL has, by the tuner's choice. */
#pragma once

#include "collective/host/nccl/nccl_tuner.hpp"
#include "collective/host/selection/algorithms.hpp"
#include "fabric/fabric.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weft {

class NcclLibrary {
  NcclTuner tuner_;

public:
  /** Returns the names of the libraries: "nccl-" and a version of presets/nccl. */
  static std::vector<std::string> names();
  /** @p name is one of names(). Throws UserError if the hosts of @p fabric are not GPUs. */
  NcclLibrary(const std::string& name, const Fabric& fabric);

  /** Returns whether NCCL executes a call. It does not if NCCL lacks the collective, or the operation is
   * user-defined. */
  static bool takes(const HostCall& call);
  /** Returns the plan of a call for which takes() is true. Throws UserError if ranks share a GPU, or no algorithm is
   * left. */
  std::shared_ptr<const NcclPlan> plan(const HostCall& call) const;
  /** Returns the algorithm of a plan, whose name appears in records: "nccl_ring_LL128". */
  static const Algorithm& algorithm(const NcclPlan& plan);
};

} // namespace weft
