// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/algorithms/allreduce.hpp"

#include "collective/host/algorithms/bcast.hpp"
#include "collective/host/algorithms/reduce.hpp"
#include "collective/host/steps/exchange.hpp"
#include "collective/host/steps/halving.hpp"
#include "collective/host/steps/pieces.hpp"
#include "collective/host/steps/rank_bits.hpp"

#include <algorithm>

namespace weft {
namespace {

HostCall part_of(const HostCall& call, std::string_view collective)
{
  HostCall part   = call;
  part.collective = collective;
  part.root       = 0;
  return part;
}

} // namespace

Schedule allreduce_linear(const HostCall& call, int rank, Tuning tuning)
{
  const HostCall sum = part_of(call, "reduce");
  co_yield reduce_linear(sum, rank, tuning);
  co_yield bcast_linear(sum, rank, tuning);
}

Schedule allreduce_nonoverlapping(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const HostCall sum    = part_of(call, "reduce");
  const HostCall result = part_of(call, "bcast");
  co_yield within(sum, rank, reduce_binomial);
  co_yield within(result, rank, bcast_binomial);
}

Schedule allreduce_recursive_doubling(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const Bytes vector = call.bytes(call.count);
  const int places   = power_of_two_below(call.ranks);
  const int pairs    = call.ranks - places;
  co_yield copy(vector); // into the receive buffer
  // The first ranks form pairs: the even rank sends its vector to the odd rank and then idles.
  int place = rank - pairs;
  if (rank < 2 * pairs) {
    if (rank % 2 == 0) {
      co_yield send(rank + 1, vector);
      co_yield recv(rank + 1, vector);
      co_return;
    }
    co_yield recv(rank - 1, vector);
    co_yield reduce(vector);
    place = rank / 2;
  }
  for (int bit = 1; bit < places; bit *= 2) {
    const int other               = flip_bit(place, bit);
    const int peer                = other < pairs ? 2 * other + 1 : other + pairs;
    const Request next_definition = co_yield irecv(peer, vector);
    co_yield send(peer, vector);
    co_yield wait(next_definition);
    co_yield reduce(vector);
  }
  if (rank < 2 * pairs)
    co_yield send(rank - 1, vector);
}

namespace {

/** Ring allgather: each rank's initial block goes once around the ring. */
Schedule gather_in_a_ring(const HostCall& call, int rank, Blocks blocks)
{
  const int left  = (rank + call.ranks - 1) % call.ranks;
  const int right = (rank + 1) % call.ranks;
  for (int round = 0; round < call.ranks - 1; ++round) {
    const int sent = (rank + 1 + call.ranks - round) % call.ranks;
    const int got  = (rank + call.ranks - round) % call.ranks;
    co_yield send_receive(right, call.bytes(blocks.at(sent)), left, call.bytes(blocks.at(got)));
  }
}

} // namespace

Schedule allreduce_ring(const HostCall& call, int rank, Tuning tuning)
{
  if (not has_one_for_each(call)) {
    co_yield allreduce_recursive_doubling(call, rank, tuning);
    co_return;
  }
  const Blocks blocks{call.count, call.ranks};
  co_yield copy(call.bytes(call.count));
  co_yield reduce_in_a_ring(call.ranks, rank, rank, [&](int block) { return call.bytes(blocks.at(block)); });
  co_yield gather_in_a_ring(call, rank, blocks);
}

bool fills_segmented_ring(const HostCall& call, Bytes segment)
{
  return call.count >= call.ranks * std::max<Elements>(1, Segments::of(call, call.count, segment).length);
}

Schedule allreduce_segmented_ring(const HostCall& call, int rank, Tuning tuning)
{
  const Elements length = Segments::of(call, call.count, tuning.segment).length;
  if (not fills_segmented_ring(call, tuning.segment)) {
    co_yield allreduce_ring(call, rank, tuning);
    co_return;
  }
  const Elements in_a_phase = call.ranks * length;
  const Elements left_over  = call.count % in_a_phase;
  const bool one_more       = left_over >= call.ranks && left_over > in_a_phase / 2;
  const int phases          = static_cast<int>(call.count / in_a_phase) + (one_more ? 1 : 0);
  const Blocks blocks{call.count, call.ranks};
  co_yield copy(call.bytes(call.count));
  for (int phase = 0; phase < phases; ++phase)
    co_yield reduce_in_a_ring(call.ranks, rank, rank,
                              [&](int block) { return call.bytes(Blocks{blocks.at(block), phases}.at(phase)); });
  co_yield gather_in_a_ring(call, rank, blocks);
}

Schedule allreduce_rabenseifner(const HostCall& call, int rank, Tuning tuning)
{
  const Folded folded(call.ranks);
  if (not can_be_halved(call)) {
    co_yield allreduce_linear(call, rank, tuning);
    co_return;
  }
  co_yield copy(call.bytes(call.count));
  co_yield fold_halves(call, folded, rank);
  const int place = folded.place(rank);
  if (place < 0) {
    co_yield recv(rank - 1, call.bytes(call.count));
    co_return;
  }
  co_yield scatter_reduce_halves(call, folded, place);
  const std::vector<Elements> windows = halved_windows(call.count, place, folded.places);
  std::size_t round                   = windows.size() - 1;
  for (int bit = folded.places / 2; bit > 0; bit /= 2, --round) {
    const int peer                = folded.rank(flip_bit(place, bit));
    const Request next_definition = co_yield irecv(peer, call.bytes(windows[round - 1] - windows[round]));
    co_yield send(peer, call.bytes(windows[round]));
    co_yield wait(next_definition);
  }
  if (rank < 2 * folded.pairs)
    co_yield send(rank + 1, call.bytes(call.count));
}

} // namespace weft
