// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/requests/message_overheads.hpp"

#include "binding/abi/smpi/host_extensions.hpp"
#include "binding/abi/smpi/requests.hpp"

#include <xbt/config.hpp>

namespace sg = simgrid::s4u;
using simgrid::smpi::fields_of;
using simgrid::smpi::layout_of;
using simgrid::smpi::RequestLayout;

namespace weft {

MessageOverheads::MessageOverheads(const RunContext& context, ActorHosts& hosts) : hosts_(hosts)
{
  using simgrid::config::is_default;
  const bool costs =
      context.fabric.mpi() || context.fabric.host().message_overhead > Seconds() || context.core_noise.any();
  sends_cost_    = costs || not is_default("smpi/os") || not is_default("smpi/ois");
  receives_cost_ = costs || not is_default("smpi/or");
  vary_ =
      context.core_noise.any() || not is_default("smpi/os") || not is_default("smpi/ois") || not is_default("smpi/or");
}

/** Returns a message's overhead on the sender's host for last_send_, on the receiver's for last_receive_. Cached, since
 * SMPI looks it up through several tables. */
double MessageOverheads::overhead(Overhead& last, AskOverhead ask, std::size_t size, sg::Host* from, sg::Host* to) const
{
  const bool local = from == to;
  if (vary_ || last.seconds < 0 || last.size != size || last.local != local)
    last = {size, local, ((&last == &last_send_ ? from : to)->extension<simgrid::smpi::Host>()->*ask)(size, from, to)};
  return last.seconds;
}

void MessageOverheads::pay_for_send(const RequestLayout& fields)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  const bool goes_on = fields.detached || (fields.flags & (NONBLOCKING_SEND_FLAG | SYNCHRONOUS_FLAG)) != 0;
  if (not sends_cost_ || not goes_on)
    return;
  // Both kinds of sends cost the same unless SMPI's options state otherwise; costs then vary.
  const auto ask = (fields.flags & NONBLOCKING_SEND_FLAG) != 0 ? &Host::oisend : &Host::osend;
  const double sleep =
      overhead(last_send_, ask, fields.size, hosts_.of(fields.source).host, hosts_.of(fields.destination).host);
  if (sleep > 0)
    sg::this_actor::sleep_for(sleep);
}

double MessageOverheads::take(MPI_Request request)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  if (not is_active(request) || is_own_and_pending(request))
    return 0;
  RequestLayout& fields = fields_of(request);
  if ((fields.flags & RECEIVE_FLAG) == 0 || fields.detached_sender == MPI_REQUEST_NULL)
    return 0;
  simgrid::smpi::Request::unref(&fields.detached_sender);
  fields.detached_sender = MPI_REQUEST_NULL; // even if other references to it exist
  return overhead(last_receive_, &Host::orecv, fields.real_size, fields.source_host,
                  hosts_.of(fields.destination).host);
}

double MessageOverheads::take_all(std::span<const MPI_Request> requests)
{
  double sum = 0;
  for (MPI_Request request : requests)
    if (request != MPI_REQUEST_NULL && layout_of(request).detached_sender != MPI_REQUEST_NULL)
      sum += take(request);
  return sum;
}

void MessageOverheads::pay_for_receives(std::span<const MPI_Request> requests)
{
  if (not receives_cost_)
    return;
  if (const double sleep = take_all(requests); sleep > 0)
    sg::this_actor::sleep_for(sleep);
}

} // namespace weft
