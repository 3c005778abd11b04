// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/algorithms/neighbor.hpp"

#include <cstddef>

namespace weft {
namespace {

/** Returns the message of the receive posted at position @p place. */
const NeighborMessage& receive_at(const NeighborMessages& messages, std::size_t place)
{
  return messages.received[messages.cartesian ? place ^ 1U : place];
}

Schedule post_receives(const HostCall& call, const NeighborMessages& messages)
{
  for (std::size_t place = 0; place < messages.received.size(); ++place)
    if (const NeighborMessage& one = receive_at(messages, place); one.peer >= 0)
      co_yield irecv(one.peer, call.bytes(one.count));
}

Schedule post_sends(const HostCall& call, const NeighborMessages& messages)
{
  for (const NeighborMessage& one : messages.sent)
    if (one.peer >= 0)
      co_yield isend(one.peer, call.bytes(one.count));
}

} // namespace

HostCall on_a_ring(HostCall call)
{
  if (call.collective.starts_with("neighbor_"))
    call.neighbors = [ranks = call.ranks, count = call.count](int rank) {
      const int before = (rank + ranks - 1) % ranks;
      const int after  = (rank + 1) % ranks;
      NeighborMessages messages{{{before, count}, {after, count}}, {{before, count}, {after, count}}, true, true};
      if (ranks == 1)
        messages = {};
      return messages;
    };
  return call;
}

Schedule neighbor_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const NeighborMessages messages = call.neighbors(rank);
  co_yield post_receives(call, messages);
  co_yield post_sends(call, messages);
  co_yield wait_all();
}

Schedule neighbor_alternating(const HostCall& call, int rank, Tuning tuning)
{
  const NeighborMessages messages = call.neighbors(rank);
  if (not messages.undirected) {
    co_yield neighbor_linear(call, rank, tuning);
    co_return;
  }
  for (std::size_t place = 0; place < messages.sent.size(); ++place) {
    if (const NeighborMessage& one = messages.received[place]; one.peer >= 0)
      co_yield irecv(one.peer, call.bytes(one.count));
    if (const NeighborMessage& one = messages.sent[place]; one.peer >= 0)
      co_yield isend(one.peer, call.bytes(one.count));
  }
  co_yield wait_all();
}

Schedule neighbor_sends_first(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const NeighborMessages messages = call.neighbors(rank);
  co_yield post_sends(call, messages);
  co_yield post_receives(call, messages);
  co_yield wait_all();
}

} // namespace weft
