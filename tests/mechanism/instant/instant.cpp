// SPDX-License-Identifier: LGPL-2.1-only
/* Mechanism for tests: all ranks get the result a fixed time after the last of them has entered the call. */
#include "binding/mechanisms/offload.hpp"
#include "binding/registry.hpp"

#include <memory>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/s4u.hpp>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

constexpr Seconds DELAY{1e-3};

class InstantCall : public OffloadedCall {
  int entered_ = 0;

  void enter(int /*rank*/) override
  {
    if (++entered_ < communicator_->size())
      return;
    simgrid::kernel::timer::Timer::set(sg::Engine::get_clock() + DELAY.value(), [this, kept = shared_from_this()] {
      for (int rank = 0; rank < communicator_->size(); ++rank)
        end(rank);
    });
  }

public:
  InstantCall(RunContext& context, const std::shared_ptr<Communicator>& communicator, const CallDescriptor& call)
      : OffloadedCall(context, communicator, call, 0)
  {
  }
};

class Instant : public Mechanism {
  RunContext& context_;

public:
  explicit Instant(RunContext& context) : Mechanism(mechanism_kind("instant")), context_(context) {}

  bool does(const CollectiveKind& collective) const override { return collective.offloadable(); }
  Fallback obstacle(Communicator& /*communicator*/, const CallDescriptor& call) override
  {
    return does(*call.kind) ? Fallback::none : Fallback::collective;
  }
  Fallback shortage(Communicator& /*communicator*/, const CallDescriptor& /*call*/) override { return Fallback::none; }
  std::shared_ptr<OffloadedCall> start(const std::shared_ptr<Communicator>& communicator,
                                       const CallDescriptor& call) override
  {
    return std::make_shared<InstantCall>(context_, communicator, call);
  }
};

const bool ADDED =
    add_mechanism([](RunContext& context) -> std::unique_ptr<Mechanism> { return std::make_unique<Instant>(context); });

} // namespace
} // namespace weft
