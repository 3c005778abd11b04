// SPDX-License-Identifier: LGPL-2.1-only
#include "collective/host/algorithms/gather_scatter.hpp"

#include "collective/host/steps/pieces.hpp"
#include "collective/host/steps/rank_tree.hpp"

#include <algorithm>
#include <ranges>

namespace weft {
namespace {

/** Returns the number of ranks in the in-order binomial subtree that begins with @p rank. */
int subtree(const HostCall& call, int rank)
{
  const int place = (rank - call.root + call.ranks) % call.ranks;
  int size        = 1;
  while (place % (2 * size) == 0 && size < call.ranks)
    size *= 2;
  return std::min(size, call.ranks - place);
}

} // namespace

Schedule gatherv_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  if (rank != call.root) {
    if (call.from(rank) > 0)
      co_yield send(call.root, call.bytes(call.from(rank)));
    co_return;
  }
  for (int other = 0; other < call.ranks; ++other)
    if (other != rank && call.from(other) > 0)
      co_yield recv(other, call.bytes(call.from(other)));
}

Schedule gather_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  if (rank != call.root) {
    co_yield send(call.root, call.bytes(call.count));
    co_return;
  }
  for (int other = 0; other < call.ranks; ++other)
    if (other != rank)
      co_yield recv(other, call.bytes(call.count));
}

Schedule gather_binomial(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const RankTree tree = in_order_binomial_tree(call.ranks, rank, call.root);
  for (const int child : tree.children)
    co_yield recv(child, call.bytes(call.count * subtree(call, child)));
  if (tree.parent >= 0)
    co_yield send(tree.parent, call.bytes(call.count * subtree(call, rank)));
}

Schedule gather_linear_sync(const HostCall& call, int rank, Tuning tuning)
{
  const Elements first = Segments::of(call, call.count, tuning.segment).length;
  const Bytes front    = call.bytes(first);
  const Bytes rest     = call.bytes(call.count - first);
  if (rank != call.root) {
    co_yield recv(call.root, Bytes());
    co_yield send(call.root, front);
    co_yield send(call.root, rest);
    co_return;
  }
  std::vector<Request> rests;
  for (int other = 0; other < call.ranks; ++other) {
    if (other == rank)
      continue;
    const Request coming = co_yield irecv(other, front);
    co_yield send(other, Bytes());
    rests.push_back(co_yield irecv(other, rest));
    co_yield wait(coming);
  }
  for (const Request one : rests)
    co_yield wait(one);
}

Schedule scatterv_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  if (rank != call.root) {
    if (call.to(rank) > 0)
      co_yield recv(call.root, call.bytes(call.to(rank)));
    co_return;
  }
  for (int other = 0; other < call.ranks; ++other)
    if (other != rank && call.to(other) > 0)
      co_yield send(other, call.bytes(call.to(other)));
}

Schedule scatter_linear(const HostCall& call, int rank, Tuning /*tuning*/)
{
  if (rank != call.root) {
    co_yield recv(call.root, call.bytes(call.count));
    co_return;
  }
  for (int other = 0; other < call.ranks; ++other)
    if (other != rank)
      co_yield send(other, call.bytes(call.count));
}

Schedule scatter_binomial(const HostCall& call, int rank, Tuning /*tuning*/)
{
  const RankTree tree = in_order_binomial_tree(call.ranks, rank, call.root);
  if (tree.parent >= 0)
    co_yield recv(tree.parent, call.bytes(call.count * subtree(call, rank)));
  for (const int child : tree.children | std::views::reverse)
    co_yield send(child, call.bytes(call.count * subtree(call, child)));
}

Schedule scatter_linear_nonblocking(const HostCall& call, int rank, Tuning /*tuning*/)
{
  if (rank != call.root) {
    co_yield recv(call.root, call.bytes(call.count));
    co_return;
  }
  for (int other = 0; other < call.ranks; ++other)
    if (other != rank)
      co_yield isend(other, call.bytes(call.count));
  co_yield wait_all();
}

} // namespace weft
