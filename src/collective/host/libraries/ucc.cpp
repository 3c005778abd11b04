// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/libraries/ucc.hpp"

#include "collective/host/algorithms/bcast.hpp"
#include "collective/host/steps/concurrent.hpp"
#include "collective/host/steps/within_nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace weft::ucc {
namespace {

/** Recursive k-nomial pattern (ucc_knomial_pattern): in each round, a rank exchanges with the ranks that differ in one
 * digit of base `radix`. The largest power of the radix, times a number of whole subtrees, participates. Of the
 * remaining ranks, which are paired off with the first ones, each odd rank is an extra, whose part the rank before it
 * takes over. */
struct Knomial {
  int radix;
  int power = 1; ///< largest power of the radix that is at most the number of ranks
  int extras;    ///< ranks that do not take part
  int places;    ///< ranks that take part
  int rounds = 0;

  Knomial(int ranks, int wanted_radix) : radix(std::max(2, std::min(wanted_radix, ranks)))
  {
    while (power <= ranks / radix) {
      power *= radix;
      ++rounds;
    }
    const int subtrees = ranks / power;
    extras             = ranks - subtrees * power;
    places             = ranks - extras;
    if (subtrees > 1)
      ++rounds;
  }
  bool is_extra(int rank) const { return rank < 2 * extras && rank % 2 != 0; }
  bool is_proxy(int rank) const { return rank < 2 * extras && rank % 2 == 0; }
  int place(int rank) const { return rank < 2 * extras ? rank / 2 : rank - extras; }
  int rank(int place) const { return place < extras ? 2 * place : place + extras; }
  int distance(int round) const
  {
    int result = 1;
    for (int before = 0; before < round; ++before)
      result *= radix;
    return result;
  }
  /** Returns the position @p step digits after @p place in a round, wrapping around; -1 if no rank is there. */
  int peer(int place, int round, int step) const
  {
    const int group = distance(round) * radix;
    const int other = (place + step * distance(round)) % group + place / group * group;
    return other < places ? other : -1;
  }
  /** Returns the number of positions that exchange in a round. */
  int width(int round) const { return distance(round) < power ? radix : places / power; }
  int index(int place, int round) const { return place / distance(round) % radix; }
};

/** Returns segment @p index of @p count elements in @p segments. */
Elements segment_of(Elements count, int segments, int index)
{
  return count / segments + (index < count % segments ? 1 : 0);
}

int radix_of(Tuning tuning, int standard)
{
  return tuning.fan_out > 1 ? tuning.fan_out : standard;
}

constexpr int RADIX         = 4;      // UCC_UUNITS_AUTO_RADIX, REDUCE_KN_RADIX
constexpr int BARRIER_RADIX = 8;      // BARRIER_KN_RADIX
constexpr Bytes LONG_ALLREDUCE{4096}; // "allreduce:0-4k:@0#allreduce:4k-inf:@1"

/** Exchanges of whole vectors in all rounds, with their sums. */
Schedule exchange_all(const HostCall& call, Knomial pattern, int rank, Bytes vector)
{
  if (pattern.is_extra(rank)) {
    co_yield isend(rank - 1, vector);
    co_yield irecv(rank - 1, vector);
    co_yield wait_all();
    co_return;
  }
  const bool sums = call.collective != "barrier";
  if (pattern.is_proxy(rank)) {
    co_yield recv(rank + 1, vector);
    if (sums)
      co_yield reduce(vector);
  }
  const int place = pattern.place(rank);
  for (int round = 0; round < pattern.rounds; ++round) {
    int received = 0;
    for (int step = 1; step < pattern.radix; ++step)
      if (const int peer = pattern.peer(place, round, step); peer >= 0)
        co_yield isend(pattern.rank(peer), vector);
    for (int step = pattern.radix - 1; step > 0; --step)
      if (const int peer = pattern.peer(place, round, step); peer >= 0) {
        co_yield irecv(pattern.rank(peer), vector);
        ++received;
      }
    co_yield wait_all();
    if (sums && received > 0)
      co_yield reduce(vector * received);
  }
  if (pattern.is_proxy(rank))
    co_yield send(rank + 1, vector);
}

/** Returns the radix of SRA: 2 if there are too few elements for the requested one
 * (ucc_knomial_pattern_get_min_radix). */
int scattered_radix(const HostCall& call, int wanted)
{
  const int radix      = std::min(wanted, call.ranks);
  const Elements block = (call.count + radix - 1) / radix;
  return block * (radix - 1) > call.count || radix - 1 > call.count ? std::min(2, call.ranks) : radix;
}

/** Returns the elements that the rank at @p place keeps before the first round and after each one. */
std::vector<Elements> kept_blocks(const Knomial& pattern, Elements count, int place)
{
  std::vector<Elements> kept{count};
  for (int round = 0; round < pattern.rounds; ++round)
    kept.push_back(segment_of(kept.back(), pattern.width(round), pattern.index(place, round)));
  return kept;
}

/** Sends each peer of a round its segment of the block that all of them hold, and receives its own from each. */
Schedule scatter_round(const HostCall& call, const Knomial& pattern, int place, int round, Elements block)
{
  const int width = pattern.width(round);
  const Bytes own = call.bytes(segment_of(block, width, pattern.index(place, round)));
  int received    = 0;
  for (int step = 1; step < pattern.radix; ++step)
    if (const int peer = pattern.peer(place, round, step); peer >= 0)
      co_yield isend(pattern.rank(peer), call.bytes(segment_of(block, width, pattern.index(peer, round))));
  for (int step = 1; step < pattern.radix; ++step)
    if (const int peer = pattern.peer(place, round, step); peer >= 0) {
      co_yield irecv(pattern.rank(peer), own);
      ++received;
    }
  co_yield wait_all();
  if (received > 0)
    co_yield reduce(own * received);
}

Schedule gather_round(const HostCall& call, const Knomial& pattern, int place, int round, Elements block)
{
  const int width = pattern.width(round);
  const Bytes own = call.bytes(segment_of(block, width, pattern.index(place, round)));
  for (int step = pattern.radix - 1; step > 0; --step)
    if (const int peer = pattern.peer(place, round, step); peer >= 0)
      co_yield isend(pattern.rank(peer), own);
  for (int step = 1; step < pattern.radix; ++step)
    if (const int peer = pattern.peer(place, round, step); peer >= 0)
      co_yield irecv(pattern.rank(peer), call.bytes(segment_of(block, width, pattern.index(peer, round))));
  co_yield wait_all();
}

/** Ring in which each rank adds its own part @p part of a block to the received one; @p direction is 1 or -1. */
Schedule reduce_in_one_direction(const HostCall& call, int rank, int direction, int parts, int part)
{
  const auto at      = [&call](int place) { return (place % call.ranks + call.ranks) % call.ranks; };
  const auto size_of = [&](int block) { return call.bytes(segment_of(call.to(at(block)), parts, part)); };
  for (int step = 1; step < call.ranks; ++step) {
    const Bytes coming     = size_of(rank - direction * (step + 1));
    const Request received = co_yield irecv(at(rank - direction), coming);
    co_yield isend(at(rank + direction), size_of(rank - direction * step));
    co_yield wait(received);
    co_yield reduce(coming);
  }
  co_yield wait_all();
}

} // namespace

Schedule allreduce_knomial(const HostCall& call, int rank, Tuning tuning)
{
  return exchange_all(call, Knomial(call.ranks, radix_of(tuning, RADIX)), rank, call.bytes(call.count));
}

Schedule allreduce_sra_knomial(const HostCall& call, int rank, Tuning tuning)
{
  const Knomial pattern(call.ranks, scattered_radix(call, radix_of(tuning, RADIX)));
  const Bytes vector = call.bytes(call.count);
  if (pattern.is_extra(rank)) {
    co_yield send(rank - 1, vector);
    co_yield recv(rank - 1, vector);
    co_return;
  }
  if (pattern.is_proxy(rank)) {
    co_yield recv(rank + 1, vector);
    co_yield reduce(vector);
  }
  const int place                  = pattern.place(rank);
  const std::vector<Elements> kept = kept_blocks(pattern, call.count, place);
  for (int round = 0; round < pattern.rounds; ++round)
    co_yield scatter_round(call, pattern, place, round, kept[static_cast<std::size_t>(round)]);
  for (int round = pattern.rounds - 1; round >= 0; --round)
    co_yield gather_round(call, pattern, place, round, kept[static_cast<std::size_t>(round)]);
  if (pattern.is_proxy(rank))
    co_yield send(rank + 1, vector);
}

Schedule allreduce_rab(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const NodePosition stand(call, rank);
  HostCall parts = call;
  parts.within   = nullptr; // the parts are UCC's, whichever library called it
  co_yield locally(parts, stand, "reduce", 0, reduce_knomial);
  if (stand.leads())
    co_yield between(parts, stand, "allreduce", 0,
                     call.bytes(call.count) < LONG_ALLREDUCE ? allreduce_knomial : allreduce_sra_knomial);
  co_yield locally(parts, stand, "bcast", 0, bcast_knomial);
}

Schedule barrier_knomial(const HostCall& call, int rank, Tuning tuning)
{
  return exchange_all(call, Knomial(call.ranks, radix_of(tuning, BARRIER_RADIX)), rank, Bytes());
}

Schedule reduce_knomial(const HostCall& call, int rank, Tuning tuning)
{
  const int radix    = std::min(radix_of(tuning, RADIX), call.ranks);
  const Bytes vector = call.bytes(call.count);
  const auto at      = [&call](int place) { return (place + call.root) % call.ranks; };
  const int place    = (rank - call.root + call.ranks) % call.ranks;
  for (int distance = 1; distance < call.ranks; distance *= radix) {
    const int digit = place / distance % radix;
    if (digit != 0) {
      co_yield send(at(place - digit * distance), vector);
      co_return;
    }
    int received = 0;
    for (int step = 1; step < radix && place + step * distance < call.ranks; ++step, ++received)
      co_yield irecv(at(place + step * distance), vector);
    co_yield wait_all();
    if (received > 0)
      co_yield reduce(vector * received);
  }
}

Schedule reduce_scatter_ring(const HostCall& call, int rank, Tuning /*tuning*/)
{
  if (call.to(0) < 2) { // UCC's blocks are all of equal size
    co_yield reduce_in_one_direction(call, rank, 1, 1, 0);
    co_return;
  }
  std::vector<ConcurrentSchedule> rings;
  rings.reserve(2);
  for (int part = 0; part < 2; ++part)
    rings.push_back({reduce_in_one_direction(call, rank, part == 0 ? 1 : -1, 2, part), part + 1});
  co_yield together(std::move(rings));
}

} // namespace weft::ucc
