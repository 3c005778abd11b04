// SPDX-License-Identifier: LGPL-2.1-only
/* Interface of a mechanism: one way in which the network executes collectives. binding/registry.cpp lists the
 * mechanisms; the selector queries them, and start() begins a call that one of them executes. */
#pragma once

#include "binding/run/communicator.hpp"
#include "collective/decision.hpp"
#include "model/collective/call_descriptor.hpp"
#include "model/mechanism/mechanism_kind.hpp"

#include <memory>
#include <string>

namespace weft {

class RecordPart;

class Mechanism {
public:
  const MechanismKind& kind;

  explicit Mechanism(const MechanismKind& its) : kind(its) {}
  Mechanism(const Mechanism&)            = delete;
  Mechanism& operator=(const Mechanism&) = delete;
  virtual ~Mechanism()                   = default;

  /** Checks that the mechanism is available to a run that requests it, before the run starts its @p ranks ranks. @p
   * platform: SimGrid's; empty on a weft fabric. Throws UserError. */
  virtual void check(const std::string& /*platform*/, int /*ranks*/) const {}
  /** Returns whether the mechanism supports a collective at all. */
  virtual bool does(const CollectiveKind& collective) const = 0;
  /** Returns the text of SMPI's help if the mechanism is also an algorithm of the hosts, otherwise null. */
  virtual const char* as_algorithm() const { return nullptr; }

  /** Returns whether a network of packets carries a call that the mechanism supports. */
  virtual bool as_packets(const CallDescriptor& /*call*/) const { return false; }
  /** Returns the reason why no such call is possible on @p communicator; none if it is possible. */
  virtual Fallback obstacle(Communicator& communicator, const CallDescriptor& call) = 0;
  /** Returns the resource that a possible call currently lacks; none if it lacks nothing. */
  virtual Fallback shortage(Communicator& communicator, const CallDescriptor& call) = 0;
  /** Returns whether the mechanism predicts times. */
  virtual bool predicts() const { return false; }
  /** Returns the predicted time per call of @p calls consecutive calls. */
  virtual Seconds predicted(Communicator& communicator, const CallDescriptor& call, int calls);
  /** Starts a call, which its ranks then join; acquires its resources until the communicator is released. */
  virtual std::shared_ptr<OffloadedCall> start(const std::shared_ptr<Communicator>& communicator,
                                               const CallDescriptor& call) = 0;
  /** Returns the mechanism's part of the record, or null. */
  virtual const RecordPart* report() const { return nullptr; }
};

} // namespace weft
