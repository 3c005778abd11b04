// SPDX-License-Identifier: LGPL-2.1-only
/* A mechanism: one way in which the network carries out collectives. Those that there are stand in
 * binding/registry.cpp; the selector asks them, and a call that one of them is to carry out is started here.
 */
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

  /** Proves, before a run of so many ranks that asks for it, that it can be had. @p platform: SimGrid's; empty on a
   * fabric of weft's. Throws UserError. */
  virtual void check(const std::string& /*platform*/, int /*ranks*/) const {}
  /** Whether it can do such collectives at all. */
  virtual bool does(const CollectiveKind& collective) const = 0;
  /** What SMPI's help says of it as an algorithm of the hosts; null where it is none. */
  virtual const char* as_algorithm() const { return nullptr; }

  /** Why it can carry out no such call on @p communicator; none where it can. */
  virtual Fallback obstacle(Communicator& communicator, const CallDescriptor& call) = 0;
  /** What it, which could, has not got for this call; none where it has all. */
  virtual Fallback shortage(Communicator& communicator, const CallDescriptor& call) = 0;
  /** Whether it can predict times. */
  virtual bool predicts() const { return false; }
  /** Time per call of @p calls in a row. */
  virtual Seconds predicted(Communicator& communicator, const CallDescriptor& call, int calls);
  /** Begins a call, which its ranks are to join; takes what that needs, until the communicator is released. */
  virtual std::shared_ptr<OffloadedCall> start(const std::shared_ptr<Communicator>& communicator,
                                               const CallDescriptor& call) = 0;
  /** What it adds to the record; null: nothing. */
  virtual const RecordPart* report() const { return nullptr; }
};

} // namespace weft
