// SPDX-License-Identifier: LGPL-2.1-only
/* Overheads of messages: the time that sends and receives take on their hosts. */
#pragma once

#include "binding/requests/actor_hosts.hpp"
#include "binding/run/run_context.hpp"

#include <cstddef>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>
#include <span>

namespace simgrid::smpi {
class Host;
struct RequestLayout;
} // namespace simgrid::smpi

namespace weft {

class MessageOverheads {
  /** Overhead for the size asked for last. */
  struct Overhead {
    std::size_t size = 0;
    bool local       = false; // within a host
    double seconds   = -1;    // negative: not asked for yet
  };
  using AskOverhead = double (simgrid::smpi::Host::*)(std::size_t, simgrid::s4u::Host*, simgrid::s4u::Host*) const;

  ActorHosts& hosts_;
  bool sends_cost_;
  bool receives_cost_;
  bool vary_; // with the message or host
  Overhead last_send_;
  Overhead last_receive_;

  double overhead(Overhead& last, AskOverhead ask, std::size_t size, simgrid::s4u::Host* from,
                  simgrid::s4u::Host* to) const;

public:
  MessageOverheads(const RunContext& context, ActorHosts& hosts);

  /** Returns whether receives take time. */
  bool receives_cost() const { return receives_cost_; }
  /** Returns whether overheads of receives depend on more than their sizes, so that they cannot be added up. */
  bool pays_one_by_one() const { return receives_cost_ && vary_; }
  /** Suspends the current rank for the overhead of a send that does not block, before its message leaves. */
  void pay_for_send(const simgrid::smpi::RequestLayout& fields);
  /** Suspends the current rank for the overheads of those of its requests that have received a detached message. They
   * then finish without overhead. */
  void pay_for_receives(std::span<const MPI_Request> requests);
  /** Returns the overhead of a request that has received a detached message, and releases the sender's request; 0 if
   * there is none. */
  double take(MPI_Request request);
  /** Returns the sum of these overheads. */
  double take_all(std::span<const MPI_Request> requests);
};

} // namespace weft
