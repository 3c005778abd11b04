// SPDX-License-Identifier: LGPL-2.1-only
/* Base class of mechanisms that execute calls over a communicator's tree of switches: feasibility, and channels. */
#pragma once

#include "binding/mechanisms/tree_state.hpp"
#include "binding/run/mechanism.hpp"
#include "binding/run/run_context.hpp"

#include <memory>

namespace weft {

class TreeMechanism : public Mechanism {
  /** Creates the call, for which channels have been acquired. */
  virtual std::shared_ptr<OffloadedCall> make(const std::shared_ptr<Communicator>& communicator,
                                              const CallDescriptor& call) = 0;

protected:
  RunContext& context_;

public:
  TreeMechanism(const MechanismKind& its_kind, RunContext& context) : Mechanism(its_kind), context_(context) {}

  bool does(const CollectiveKind& collective) const override { return collective.offloadable(); }
  Fallback obstacle(Communicator& communicator, const CallDescriptor& call) override;
  Fallback shortage(Communicator& communicator, const CallDescriptor& call) override;
  std::shared_ptr<OffloadedCall> start(const std::shared_ptr<Communicator>& communicator,
                                       const CallDescriptor& call) override;
};

} // namespace weft
