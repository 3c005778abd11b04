// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/platform/network.hpp"

#include "binding/platform/transfer.hpp"

#include <algorithm>
#include <simgrid/simcall.hpp>
#include <utility>

namespace weft {

void Network::start_flow(const StreamFlow& flow, Seconds base_latency, Seconds sharing, FlowEnd done)
{
  StreamRequest request{{}, base_latency, sharing, flow.wire, flow.rate_limit};
  request.links.reserve(flow.links.size());
  simgrid::kernel::actor::simcall_answered([&] {
    for (const FlowLink& link : flow.links) {
      for (std::int64_t message = 0; message < link.messages; ++message)
        append_links(link.link, request.links);
      count_bytes(link.link, link.wire);
    }
    streams().start(request, std::move(done));
  });
}

void Network::transfer(VertexId from, VertexId to, Bytes bytes, FlowEnd done, double part)
{
  simgrid::kernel::actor::simcall_answered(
      [&] { weft::transfer(endpoint(from), endpoint(to), bytes, part, std::move(done)); });
}

double Network::use_of(LinkId id)
{
  std::vector<simgrid::s4u::Link*> links;
  append_links(id, links);
  double most = 0;
  for (const simgrid::s4u::Link* link : links)
    most = std::max(most, link->get_load());
  return most;
}

} // namespace weft
