// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/steps/halving.hpp"

#include "collective/host/steps/rank_bits.hpp"

namespace weft {

Folded::Folded(int ranks) : places(power_of_two_below(ranks)), pairs(ranks - places) {}

int Folded::place(int rank) const
{
  if (rank >= 2 * pairs)
    return rank - pairs;
  return rank % 2 == 0 ? rank / 2 : -1;
}

bool can_be_halved(const HostCall& call)
{
  return call.commutative && call.count >= power_of_two_below(call.ranks);
}

Schedule fold_halves(const HostCall& call, Folded folded, int rank)
{
  if (rank >= 2 * folded.pairs)
    co_return;
  const Bytes left  = call.bytes(call.count / 2);
  const Bytes right = call.bytes(call.count - call.count / 2);
  if (rank % 2 != 0) {
    const Request next_definition = co_yield irecv(rank - 1, right);
    co_yield send(rank - 1, left);
    co_yield wait(next_definition);
    co_yield reduce(right);
    co_yield send(rank - 1, right);
  } else {
    const Request next_definition = co_yield irecv(rank + 1, left);
    co_yield send(rank + 1, right);
    co_yield wait(next_definition);
    co_yield reduce(left);
    co_yield recv(rank + 1, right);
  }
}

std::vector<Elements> halved_windows(Elements count, int place, int places)
{
  std::vector<Elements> windows{count};
  for (int bit = 1; bit < places; bit *= 2) {
    const Elements lower = windows.back() / 2;
    windows.push_back(has(place, bit) ? windows.back() - lower : lower);
  }
  return windows;
}

Schedule scatter_reduce_halves(const HostCall& call, Folded folded, int place)
{
  const std::vector<Elements> windows = halved_windows(call.count, place, folded.places);
  std::size_t round                   = 1;
  for (int bit = 1; bit < folded.places; bit *= 2, ++round) {
    const int peer                = folded.rank(flip_bit(place, bit));
    const Elements kept           = windows[round];
    const Request next_definition = co_yield irecv(peer, call.bytes(kept));
    co_yield send(peer, call.bytes(windows[round - 1] - kept));
    co_yield wait(next_definition);
    co_yield reduce(call.bytes(kept));
  }
}

} // namespace weft
