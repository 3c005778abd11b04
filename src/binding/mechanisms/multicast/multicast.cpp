// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/mechanisms/multicast/multicast.hpp"

#include "base/error.hpp"
#include "base/share.hpp"
#include "binding/mechanisms/multicast/multicast_offload.hpp"
#include "collective/in_network/tree_obstacle.hpp"
#include "collective/multicast/chunks.hpp"

#include <string>

namespace weft {
namespace {

void check_rank(const Fabric& fabric, const std::string& key, int found, int ranks)
{
  if (found >= ranks)
    throw UserError(name_of_file(fabric.file()) + ": [multicast.drops] " + key + ": found " + std::to_string(found) +
                    ", so it loses nothing; allowed with " + std::to_string(ranks) + " ranks: 0 to " +
                    std::to_string(ranks - 1));
}

class Multicast : public Mechanism {
  RunContext& context_;
  MulticastRun run_;

  MulticastState& state(Communicator& communicator)
  {
    return communicator.state<MulticastState>(
        [&] { return std::make_unique<MulticastState>(context_.state, run_, communicator); });
  }
  /** Number of chunks of a rank's receive buffer. */
  std::int64_t chunks(const CallDescriptor& call) const
  {
    return chunks_of(context_.fabric.multicast(), call.vector());
  }

public:
  explicit Multicast(RunContext& context)
      : Mechanism(mechanism_kind("multicast")), context_(context), run_{EngineUse(context.fabric), {}}
  {
  }

  void check(const std::string& platform, int ranks) const override;
  bool does(const CollectiveKind& collective) const override { return collective.multicasts; }
  const char* as_algorithm() const override
  {
    return "reliable Broadcast over the switches' multicast, else SMPI's default";
  }
  Fallback obstacle(Communicator& communicator, const CallDescriptor& call) override;
  Fallback shortage(Communicator& communicator, const CallDescriptor& call) override
  {
    return state(communicator).has_memory(chunks(call)) ? Fallback::none : Fallback::no_nic_memory;
  }
  std::shared_ptr<OffloadedCall> start(const std::shared_ptr<Communicator>& communicator,
                                       const CallDescriptor& call) override
  {
    MulticastState& its = state(*communicator);
    its.take_memory(chunks(call));
    return make_multicast_call(context_, run_, its, communicator, call);
  }
  const RecordPart* report() const override { return &run_.record; }
};

void Multicast::check(const std::string& platform, int ranks) const
{
  if (not platform.empty())
    throw UserError(
        "--offload multicast: " + platform +
        " is a SimGrid platform, which cannot describe multicast by hosts; describe the network in a fabric file");
  const Fabric& fabric = context_.fabric;
  for (const ProgressEngine& engine : fabric.progress_engines())
    engine.check(fabric.multicast().transport, fabric.multicast().chunk);
  for (const DropRule& rule : fabric.multicast().drops) {
    check_rank(fabric, "root", rule.root, ranks);
    check_rank(fabric, "receiver", rule.receiver, ranks);
  }
}

Fallback Multicast::obstacle(Communicator& communicator, const CallDescriptor& call)
{
  if (not does(*call.kind))
    return Fallback::collective;
  if (call.vector_bytes() == 0)
    return Fallback::zero_count;
  const std::shared_ptr<const GroupResult> found = state(communicator).group();
  return found->group ? Fallback::none : reason_of(found->obstacle);
}

} // namespace

std::unique_ptr<Mechanism> make_multicast(RunContext& context)
{
  return std::make_unique<Multicast>(context);
}

} // namespace weft
