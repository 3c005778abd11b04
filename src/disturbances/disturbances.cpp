// SPDX-License-Identifier: LGPL-2.1-only
#include "disturbances/disturbances.hpp"

#include "model/host/mpi_model.hpp"
#include "network/job_traffic.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace weft {
namespace {

/** Agenda entry of the next fault; all other entries are numbers of streams that begin. */
constexpr std::uint64_t FAULT = ~std::uint64_t{0};

} // namespace

std::vector<LinkId> DisturbanceDescription::faulty_links(const Fabric& fabric) const
{
  std::set<LinkId> links;
  std::set<VertexId> vertices;
  if (faults)
    for (const FaultEvent& event : faults->events) {
      for (const FabricChange& change : event.changes) {
        if (change.what == FabricChange::What::device)
          vertices.insert(fabric.host_count() + change.number);
        else
          links.insert(change.number);
      }
      vertices.insert(event.dead_hosts.begin(), event.dead_hosts.end());
    }
  for (LinkId id = 0; not vertices.empty() && std::cmp_less(id, fabric.links().size()); ++id)
    if (vertices.contains(fabric.link(id).from) || vertices.contains(fabric.link(id).to))
      links.insert(id);
  return {links.begin(), links.end()};
}

Disturbances::Disturbances(const DisturbanceDescription& description, const Fabric& fabric, Agenda& agenda,
                           FlowNetwork& flows, FabricState& known)
    : agenda_(agenda), flows_(flows), eager_(fabric.mpi().value_or(MpiModel()).eager_threshold),
      streams_(make_traffic(description.traffic, fabric, *this, JobTraffic::NONE)), actual_(fabric)
{
  if (not description.faults)
    return;
  losses_ = LinkLosses(description.faults->losses);
  flows_.lose_packets(losses_);
  faults_.emplace(description.faults->events);
  recovery_.emplace(agenda_, flows_, actual_, known, description.faults->recovery);
}

void Disturbances::begin(std::function<void(int host, Seconds since)> host_dies)
{
  host_dies_ = std::move(host_dies);
  for (std::size_t number = 0; number < streams_.size(); ++number)
    agenda_.add(streams_[number]->table().start, *this, number);
  // Faults at time 0 precede all messages.
  while (faults_ && faults_->next() && *faults_->next() <= agenda_.now())
    due(FAULT);
  await();
}

/** Schedules the next fault. */
void Disturbances::await()
{
  if (faults_ && faults_->next())
    agenda_.add(*faults_->next(), *this, FAULT);
}

void Disturbances::due(std::uint64_t what)
{
  if (what != FAULT) {
    streams_[what]->begin();
    return;
  }
  const FaultEvent& event = faults_->begin();
  faults_->apply(*recovery_);
  for (const int host : event.dead_hosts)
    host_dies_(host, event.at);
  if (agenda_.now() > Seconds())
    await();
}

void Disturbances::send(int /*job*/, VertexId from, VertexId to, Bytes bytes, BackgroundReceiver& receiver,
                        std::uint64_t number)
{
  ++sent_;
  flows_.send(from, to, bytes, UNKNOWN_PART, receiver, number);
}

std::optional<FaultReport> Disturbances::faults() const
{
  return faults_ ? std::optional(faults_->report(&*recovery_)) : std::nullopt;
}

std::vector<TrafficReport> Disturbances::traffic() const
{
  std::vector<TrafficReport> all;
  all.reserve(streams_.size());
  for (const auto& stream : streams_)
    all.push_back(stream->report());
  return all;
}

} // namespace weft
