// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/mechanism_selector.hpp"

#include "binding/run/core_call.hpp"
#include "collective/host/prediction.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace weft {
namespace {

/** How many calls a row has that a call belongs to which follows one of the same collective and root: as many as
 *  `weft bench` times by default. */
constexpr int CALLS_IN_A_ROW = 10;

/** Results of predictions on a communicator, since programs repeat calls; those of one epoch of the fabric's state. */
struct KeptPredictions : CommunicatorState {
  /// The mechanism; and of the call: collective, whether it blocks, bytes, root, operation, calls in a row.
  using Key = std::tuple<const MechanismKind*, const CollectiveKind*, bool, std::int64_t, int, MPI_Op, int>;
  std::map<Key, bool> hosts_are_faster;
  FabricEpoch epoch = 0;
};

} // namespace

/** Verdicts of the mechanisms on one call. */
class MechanismSelector::CallVerdicts : public Verdicts {
  const MechanismSelector& selector_;
  Communicator& communicator_;
  const Described& described_;

public:
  CallVerdicts(const MechanismSelector& selector, Communicator& communicator, const Described& described)
      : selector_(selector), communicator_(communicator), described_(described)
  {
  }

  Fallback obstacle(const MechanismKind& mechanism) override
  {
    return selector_.mechanism(mechanism).obstacle(communicator_, described_);
  }
  Fallback shortage(const MechanismKind& mechanism) override
  {
    return selector_.mechanism(mechanism).shortage(communicator_, described_);
  }
  const std::vector<const MechanismKind*>& predictable() override { return selector_.predictable_; }
  Seconds predicted(const MechanismKind& mechanism) override
  {
    return selector_.mechanism(mechanism).predicted(communicator_, described_, communicator_.calls_in_a_row);
  }
  bool hosts_are_faster(const MechanismKind& mechanism) override;
  const MechanismKind* hosts_mechanism() override { return selector_.hosts_mechanism(described_.kind()); }
};

bool MechanismSelector::CallVerdicts::hosts_are_faster(const MechanismKind& mechanism)
{
  const CallSignature& signature = described_.signature;
  const auto predict             = [&] {
    return selector_.predict_hosts_faster(selector_.mechanism(mechanism), communicator_, described_);
  };
  if (not signature.parts.empty())
    return predict();
  auto& kept = communicator_.state<KeptPredictions>([] { return std::make_unique<KeptPredictions>(); });
  if (std::exchange(kept.epoch, selector_.state_.epoch()) != kept.epoch)
    kept.hosts_are_faster.clear();
  const KeptPredictions::Key key{&mechanism,     signature.called.kind, signature.called.blocking,   described_.message,
                                 signature.root, signature.operation,   communicator_.calls_in_a_row};
  const auto [found, is_new] = kept.hosts_are_faster.try_emplace(key);
  if (is_new)
    found->second = predict();
  return found->second;
}

MechanismSelector::MechanismSelector(const FabricState& state, OffloadMode asked,
                                     const std::map<std::string, std::string>& algorithms, const HostFallback& hosts,
                                     std::function<const MessageCosts&()> costs)
    : state_(state), fabric_(state.fabric()), asked_(asked), algorithms_(algorithms), hosts_(hosts),
      costs_(std::move(costs))
{
}

void MechanismSelector::use(std::vector<std::unique_ptr<Mechanism>> mechanisms)
{
  const auto kind_of = [](const std::unique_ptr<Mechanism>& mechanism) { return &mechanism->kind; };
  if (not std::ranges::equal(mechanisms, mechanism_kinds(), {}, kind_of))
    throw std::logic_error("the mechanisms are not those of the table of kinds, in its order");
  mechanisms_ = std::move(mechanisms);
  for (const auto& mechanism : mechanisms_)
    if (mechanism->predicts())
      predictable_.push_back(&mechanism->kind);
}

Mechanism& MechanismSelector::mechanism(const MechanismKind& kind) const
{
  for (const auto& mechanism : mechanisms_)
    if (&mechanism->kind == &kind)
      return *mechanism;
  throw std::logic_error("no mechanism of that kind");
}

/** The mechanism that is selected as SMPI's algorithm of a collective; null where an algorithm is. */
const MechanismKind* MechanismSelector::hosts_mechanism(const CollectiveKind& collective) const
{
  const auto algorithm = algorithms_.find(std::string(collective.name));
  if (algorithm == algorithms_.end())
    return nullptr;
  for (const auto& mechanism : mechanisms_)
    if (mechanism->as_algorithm() && mechanism->kind.name == algorithm->second)
      return &mechanism->kind;
  return nullptr;
}

Decision MechanismSelector::decide(Communicator& communicator, const Described& described)
{
  const std::pair called{&described.kind(), described.signature.root};
  communicator.calls_in_a_row = std::exchange(communicator.last_call, called) == called ? CALLS_IN_A_ROW : 1;
  std::optional<OffloadMode> policy;
  if (asked_.is_automatic())
    policy = fabric_.policy_for(std::string(described.kind().name), Bytes(static_cast<double>(described.message)));
  CallVerdicts verdicts(*this, communicator, described);
  return weft::decide(asked_, policy, verdicts);
}

bool MechanismSelector::predict_hosts_faster(Mechanism& mechanism, Communicator& communicator,
                                             const Described& described) const
{
  const int calls          = communicator.calls_in_a_row;
  HostCall call            = hosts_.selection().resolved(host_call(communicator, described));
  Selection::Choice choice = hosts_.choose(call, calls);
  if (not choice.algorithm) // SMPI's
    choice = hosts_.selection().choose(call);
  if (not choice.algorithm)
    return false;
  call                    = hosts_.resolved(std::move(call), choice);
  const Seconds offloaded = mechanism.predicted(communicator, described, calls);
  return predicted_interval(fabric_, costs_(), communicator.rank_hosts, call, choice, calls, offloaded) < offloaded;
}

} // namespace weft
