// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/run/mechanism_selector.hpp"

#include "collective/host/prediction.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace weft {
namespace {

/** Assumed number of consecutive calls with the same collective and root: the number of calls that `weft bench` times
 * by default. */
constexpr int CALLS_IN_A_ROW = 10;

/** Memoized predictions on a communicator, since programs repeat calls; valid for one epoch of the fabric's state. */
struct KeptPredictions : CommunicatorState {
  /// Mechanism, then the call's collective, blocking or not, bytes, root, operation, and number of consecutive calls.
  using Key =
      std::tuple<const MechanismKind*, const CollectiveKind*, bool, std::int64_t, int, const ReductionOperation*, int>;
  std::map<Key, bool> hosts_are_faster;
  FabricEpoch epoch = 0;
};

} // namespace

/** Verdicts of the mechanisms on one call. */
class MechanismSelector::CallVerdicts : public Verdicts {
  const MechanismSelector& selector_;
  Communicator& communicator_;
  const CallDescriptor& call_;

public:
  CallVerdicts(const MechanismSelector& selector, Communicator& communicator, const CallDescriptor& call)
      : selector_(selector), communicator_(communicator), call_(call)
  {
  }

  Fallback obstacle(const MechanismKind& mechanism) override
  {
    Mechanism& its         = selector_.mechanism(mechanism);
    const Fallback its_own = its.obstacle(communicator_, call_);
    if (its_own == Fallback::none && selector_.fabric_.packets().carries() && its.does(*call_.kind) &&
        not its.as_packets(call_))
      return Fallback::packets;
    return its_own;
  }
  Fallback shortage(const MechanismKind& mechanism) override
  {
    return selector_.mechanism(mechanism).shortage(communicator_, call_);
  }
  const std::vector<const MechanismKind*>& predictable() override { return selector_.predictable_; }
  Seconds predicted(const MechanismKind& mechanism) override
  {
    return selector_.mechanism(mechanism).predicted(communicator_, call_, communicator_.calls_in_a_row);
  }
  bool hosts_are_faster(const MechanismKind& mechanism) override;
  const MechanismKind* hosts_mechanism() override { return selector_.hosts_mechanism(*call_.kind); }
};

bool MechanismSelector::CallVerdicts::hosts_are_faster(const MechanismKind& mechanism)
{
  const auto predict = [&] {
    return selector_.predict_hosts_faster(selector_.mechanism(mechanism), communicator_, call_);
  };
  if (not call_.counts.empty())
    return predict();
  auto& kept = communicator_.state<KeptPredictions>([] { return std::make_unique<KeptPredictions>(); });
  if (std::exchange(kept.epoch, selector_.state_.epoch()) != kept.epoch)
    kept.hosts_are_faster.clear();
  const KeptPredictions::Key key{&mechanism,
                                 call_.kind,
                                 call_.blocking,
                                 call_.vector_bytes(),
                                 call_.root,
                                 call_.operation,
                                 communicator_.calls_in_a_row};
  const auto [found, is_new] = kept.hosts_are_faster.try_emplace(key);
  if (is_new)
    found->second = predict();
  return found->second;
}

MechanismSelector::MechanismSelector(const FabricState& state, OffloadMode asked, const Jobs& jobs,
                                     const std::map<std::string, std::string>& algorithms, const HostFallback& hosts,
                                     std::function<const MessageCosts&()> costs)
    : state_(state), fabric_(state.fabric()), asked_(asked), jobs_(jobs), algorithms_(algorithms), hosts_(hosts),
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

/** Returns the mechanism that is selected as SMPI's algorithm for a collective; null if an actual algorithm is. */
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

Decision MechanismSelector::decide(Communicator& communicator, const CallDescriptor& call)
{
  if (call.between_groups)
    return {nullptr, asked_.is_off() ? Fallback::policy : Fallback::collective};
  const std::pair called{call.kind, call.root};
  communicator.calls_in_a_row = std::exchange(communicator.last_call, called) == called ? CALLS_IN_A_ROW : 1;
  const OffloadMode asked     = mode_of(communicator.world);
  std::optional<OffloadMode> policy;
  if (asked.is_automatic())
    policy = fabric_.policy_for(std::string(call.kind->name), call.vector());
  CallVerdicts verdicts(*this, communicator, call);
  return weft::decide(asked, policy, verdicts);
}

Decision MechanismSelector::decide_alone() const
{
  return weft::decide_alone(mode_of(jobs_.world_of_current_rank()));
}

OffloadMode MechanismSelector::mode_of(int world) const
{
  const Job* const job = jobs_.launched(world);
  return job && job->mode ? *job->mode : asked_;
}

bool MechanismSelector::may_use(const Mechanism& mechanism, OffloadMode asked) const
{
  const MechanismKind& kind = mechanism.kind;
  const auto leads_to       = [&kind](const OffloadMode& mode) {
    const MechanismKind* at = mode.mechanism();
    while (at && at != &kind)
      at = at->rest.empty() ? nullptr : &mechanism_kind(at->rest);
    return at != nullptr;
  };
  const bool is_algorithm = mechanism.as_algorithm() && std::ranges::any_of(algorithms_, [&kind](const auto& chosen) {
                              return chosen.second == kind.name;
                            });
  if (is_algorithm || leads_to(asked))
    return true;
  return asked.is_automatic() &&
         (mechanism.predicts() || std::ranges::any_of(fabric_.policy(), leads_to, &PolicyRow::offload));
}

const HostFallback& MechanismSelector::hosts_of(const Communicator& communicator) const
{
  const Job* const job = jobs_.launched(communicator.world);
  return job && job->fallback ? *job->fallback : hosts_;
}

bool MechanismSelector::predict_hosts_faster(Mechanism& mechanism, Communicator& communicator,
                                             const CallDescriptor& call) const
{
  const int calls = communicator.calls_in_a_row;
  const auto host = [&communicator](int rank) { return communicator.rank_hosts[static_cast<std::size_t>(rank)]; };
  const HostFallback& hosts = hosts_of(communicator);
  HostCall on_hosts         = hosts.selection().resolved(host_call(call, host));
  Selection::Choice choice  = hosts.choose(on_hosts, calls);
  if (not choice.algorithm) // SMPI executes it: predict the library's selection instead
    choice = hosts.selection().choose(on_hosts);
  if (not choice.algorithm)
    return false;
  on_hosts                = hosts.resolved(std::move(on_hosts), choice);
  const Seconds offloaded = mechanism.predicted(communicator, call, calls);
  return predicted_interval(fabric_, costs_(), communicator.rank_hosts, on_hosts, choice, calls, offloaded) < offloaded;
}

} // namespace weft
