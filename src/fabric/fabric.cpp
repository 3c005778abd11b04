// SPDX-License-Identifier: LGPL-2.1-only
#include "fabric/fabric.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace weft {

namespace {

/** Returns the largest number of cables of a host, or of rails if hosts belong to nodes. */
int most_ways(const FabricParts& parts)
{
  if (not parts.topology)
    return 1;
  if (const int rails = parts.topology->rails(); rails > 1)
    return rails;
  std::vector<int> cables(static_cast<std::size_t>(parts.topology->host_count()));
  int most = 1;
  for (std::size_t up = 0; up < parts.links.size(); up += 2)
    if (const Link& link = parts.links[up]; std::cmp_less(link.from, cables.size()))
      most = std::max(most, ++cables[static_cast<std::size_t>(link.from)]);
  return most;
}

} // namespace

Fabric::Fabric(FabricParts parts) : parts_(std::move(parts)), sprays_(parts_.routing.sprays())
{
  most_ways_ = most_ways(parts_);
  if (not parts_.model_of.empty())
    return;
  parts_.model_of.resize(parts_.switches.size());
  std::iota(parts_.model_of.begin(), parts_.model_of.end(), 0);
}

const ForwardingHash* Fabric::forwarding_hash(int index) const
{
  return parts_.hashes.empty() ? nullptr : parts_.hashes[model_index(index)].get();
}

std::optional<std::size_t> Fabric::shared_by(LinkId id) const
{
  const auto at = static_cast<std::size_t>(id);
  if (at >= parts_.shared_of.size() || parts_.shared_of[at] < 0)
    return std::nullopt;
  return static_cast<std::size_t>(parts_.shared_of[at]);
}

int Fabric::counted_as(LinkId id, VertexId from, VertexId to) const
{
  if (not sprays_ || std::max(from, to) >= host_count())
    return id;
  const std::optional<std::size_t> pool = shared_by(id);
  return pool ? static_cast<int>(parts_.links.size() + *pool) : id;
}

bool Fabric::counts(int resource, VertexId from, VertexId to) const
{
  const bool pools = sprays_ && std::max(from, to) < host_count();
  return std::cmp_less(resource, parts_.links.size() + (pools ? parts_.shared.size() : 0));
}

Seconds Fabric::latency(const Route& route) const
{
  Seconds sum;
  for (const LinkId id : route.links)
    sum += link(id).latency;
  for (const VertexId vertex : route.through)
    sum += model_at(vertex).hop_latency();
  return sum;
}

const PointToPointSegment& Fabric::segment(Bytes size) const
{
  const auto after = std::ranges::upper_bound(parts_.segments, size, {}, &PointToPointSegment::from);
  return *std::prev(after);
}

} // namespace weft
