// SPDX-License-Identifier: LGPL-2.1-only
/* The decision of one call, with what it takes: gathers what is known (collective/decision.hpp says what that is), asks
 * for the decision, and takes the channels or the NIC memory that the decided path needs. */
#pragma once

#include "binding/data/described.hpp"
#include "binding/run/communicator.hpp"
#include "collective/decision.hpp"
#include "collective/host/fallback.hpp"
#include "collective/host/host_stage.hpp"
#include "collective/host/prediction.hpp"
#include "model/nic/engine_memory.hpp"
#include "model/switch/aggregation.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weft {

struct HostWork {
  BytesPerSecond rate; ///< at which a core copies and converts
  /// Floats become integers, in blocks of so many that share a scale (model/switch/fixed_point.hpp); 0: they do not.
  std::size_t fixed_point_block = 0;
};

class Decider {
  const FabricState& state_;
  const Fabric& fabric_;
  const OffloadMode asked_;
  const std::map<std::string, std::string>& algorithms_; // collective -> the SMPI algorithm that it falls back to
  const HostFallback& hosts_;                            // what weft carries out there
  const HostStageAlgorithms& stage_;                     // what the ranks of a host do in an offloaded call
  const std::function<MessageCosts()> make_costs_;       // of the run's messages, once SMPI knows its options
  mutable std::optional<MessageCosts> costs_;            // made by the first prediction
  std::vector<Aggregation>& switches_;                   // by index in the fabric
  std::map<VertexId, EngineMemory> engines_;             // what multicasts keep in the hosts' progress engines
  std::vector<const SwitchModel*> smart_models_;         // of all the fabric's smart switches

  CallFacts facts(Communicator& communicator, const Described& described) const;
  Seconds predicted_offload(Communicator& communicator, const Described& described, int calls) const;
  bool host_is_faster(Communicator& communicator, const Described& described) const;
  bool predict_host_is_faster(Communicator& communicator, const Described& described, int calls) const;
  bool channel_is_free(const Communicator& communicator) const;
  Fallback no_multicast(Communicator& all, const Described& described) const;
  bool nic_memory_is_free(const Communicator& communicator, std::int64_t chunks) const;
  std::int64_t multicast_chunks(const Described& described) const;

public:
  /** All must outlive it. Predictions charge messages what @p costs returns, which is asked after the ranks started. */
  Decider(const FabricState& state, OffloadMode asked, const std::map<std::string, std::string>& algorithms,
          const HostFallback& hosts, const HostStageAlgorithms& stage, std::function<MessageCosts()> costs,
          std::vector<Aggregation>& switches);

  /** Decide for a call on a communicator of more than one rank; takes what the path needs. */
  Decision decide(Communicator& communicator, const Described& described);
  /** For one of a communicator of one rank. */
  Decision decide_alone(const Described& described) const;
  /** Give back what calls of a communicator have taken. */
  void release(const Communicator& communicator);

  /** What the hosts do with the data of an offloaded call. */
  HostWork host_work(const Communicator& communicator, const Described& described) const;
  /** An offloaded call, as the ranks of its hosts see it. */
  HostStageCall host_stage(const Communicator& communicator, const Described& described) const;
};

} // namespace weft
