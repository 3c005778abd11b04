// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/platform/transfer.hpp"

#include "binding/abi/kernel/activities.hpp"
#include "binding/abi/kernel/network_actions.hpp"

#include <algorithm>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/simcall.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

std::unordered_map<sg::Comm*, sg::CommPtr>& in_flight()
{
  static std::unordered_map<sg::Comm*, sg::CommPtr> transfers;
  return transfers;
}

/** Ended transfers, released when the next one starts: SimGrid accesses a transfer after signalling
 * its end. */
std::vector<sg::CommPtr>& ended()
{
  static std::vector<sg::CommPtr> transfers;
  return transfers;
}

/** Sends only a part of the transfer that has just started from a host. */
void shorten(const sg::Host* from, double bytes)
{
  auto& model = *from->get_netpoint()->get_englobing_zone()->get_network_model();
  simgrid::kernel::resource::latest_action(model)->set_remains(bytes);
}

void begin(sg::Host* from, sg::Host* to, Bytes bytes, double part, FlowEnd done)
{
  ended().clear();
  const sg::CommPtr comm  = sg::Comm::sendto_init();
  in_flight()[comm.get()] = comm;
  // SimGrid never starts a transfer of 0 bytes, unless they are set behind its interface.
  const auto size = static_cast<std::uint64_t>(bytes.value());
  comm->set_payload_size(std::max<std::uint64_t>(1, size));
  if (size == 0)
    reinterpret_cast<simgrid::kernel::activity::CommImpl*>(comm->get_impl())->set_size(0);
  const double sent = bytes.value() * part;
  start_flow(comm, from, to, [key = comm.get(), sent, done = std::move(done)](const sg::Comm& flow) {
    done(result_of(flow, sent)); // may start the next transfer
    ended().push_back(std::move(in_flight().extract(key).mapped()));
  });
  if (part < 1 && not simgrid::kernel::activity::has_ended(*comm->get_impl()))
    shorten(from, sent);
}

} // namespace

void transfer(sg::Host* from, sg::Host* to, Bytes bytes, double part, FlowEnd done)
{
  simgrid::kernel::actor::simcall_answered([&] { begin(from, to, bytes, part, std::move(done)); });
}

} // namespace weft
