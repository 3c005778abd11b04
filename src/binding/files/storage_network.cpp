// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/files/storage_network.hpp"

#include "binding/abi/kernel_scope.hpp"
#include "binding/run/network_failure.hpp"
#include "binding/run/run_context.hpp"

#include <algorithm>
#include <simgrid/s4u/Engine.hpp>
#include <utility>

namespace weft {
namespace {

double clock_now()
{
  return simgrid::s4u::Engine::get_clock();
}

} // namespace

StorageNetwork::StorageNetwork(RunContext& context, std::function<void(int world)> on_failure)
    : context_(context), on_failure_(std::move(on_failure)), resources_(context.fabric)
{
  if (const auto& storage = context.fabric.storage()) {
    for (const int host : storage->host_of)
      targets_.push_back({host, storage->model.request_overhead});
    metadata_ = {storage->metadata, storage->model.metadata_overhead};
  }
  if (const auto& disk = context.fabric.disk())
    for (VertexId host = 0; host < context.fabric.host_count(); ++host)
      disks_.push_back({host, disk->request_overhead});
}

std::uint64_t StorageNetwork::keep(Then then, int world)
{
  if (idle_.empty()) {
    idle_.push_back(waiting_.size());
    waiting_.emplace_back();
  }
  const std::uint64_t number = idle_.back();
  idle_.pop_back();
  waiting_[number] = {std::move(then), world};
  return number;
}

void StorageNetwork::due(std::uint64_t what)
{
  const Then then = std::exchange(waiting_[what].then, nullptr);
  idle_.push_back(what);
  then();
}

void StorageNetwork::failed(std::uint64_t message, const std::string& why)
{
  waiting_[message].then = nullptr; // the job's ranks no longer run
  idle_.push_back(message);
  fail(waiting_[message].world, why, "a collective access of a file");
}

void StorageNetwork::fail(int world, const std::string& why, const std::string& whose)
{
  on_failure_(world);
  end_job_for_failure(context_, world, why, whose);
}

void StorageNetwork::after(Seconds delay, Then then)
{
  const KernelScope kernel;
  context_.host_network().call_after(delay, *this, keep(std::move(then)));
}

void StorageNetwork::send(int world, VertexId from, VertexId to, Bytes payload, Then then)
{
  context_.host_network().messages_of(world).send(from, to, payload + SMPI_ENVELOPE, UNKNOWN_PART, *this,
                                                  keep(std::move(then), world));
}

Seconds StorageNetwork::latency(VertexId from, VertexId to) const
{
  if (from == to)
    return {};
  Route route;
  context_.fabric.route(from, to, route);
  return context_.fabric.latency(route);
}

void StorageNetwork::request(VertexId host, Server& server, std::int64_t requests, Seconds its_latency, Then then)
{
  after(latency(host, server.vertex), [this, &server, requests, its_latency, then = std::move(then)] {
    server.free_at = std::max(server.free_at, clock_now()) + server.overhead.value() * static_cast<double>(requests);
    after(Seconds(server.free_at - clock_now()) + its_latency, then);
  });
}

void StorageNetwork::move(int world, VertexId from, VertexId to, const std::vector<int>& device, std::int64_t bytes,
                          BytesPerSecond limit, Then then)
{
  if (bytes == 0) {
    then();
    return;
  }
  context_.host_network().start_storage_flow(from, to, device, Bytes(static_cast<double>(bytes)), limit,
                                             [this, world, then = std::move(then)](const FlowResult& result) {
                                               if (result.arrived())
                                                 then();
                                               else
                                                 fail(world, result.failure, "an access of a file");
                                             });
}

void StorageNetwork::access_target(int world, VertexId host, bool write, const TargetPart& part, Then then)
{
  const StorageModel& model = context_.fabric.storage()->model;
  Server& server            = targets_[static_cast<std::size_t>(part.target)];
  const VertexId there      = server.vertex;
  std::vector<int> device;
  resources_.append_target(part.target, write, device);
  request(host, server, part.requests, model.latency,
          [this, world, host, there, write, device, bytes = part.bytes, then = std::move(then)] {
            const StorageModel& rates = context_.fabric.storage()->model;
            move(world, write ? host : there, write ? there : host, device, bytes,
                 write ? rates.write_bandwidth : rates.read_bandwidth,
                 [this, host, there, then] { after(latency(there, host), then); });
          });
}

void StorageNetwork::access_disk(int world, VertexId host, bool write, const TargetPart& part, Then then)
{
  const DiskModel& model = *context_.fabric.disk();
  std::vector<int> device;
  resources_.append_disk(host, write, device);
  request(host, disks_[static_cast<std::size_t>(host)], part.requests, model.latency,
          [this, world, host, write, device, bytes = part.bytes, then = std::move(then)] {
            const DiskModel& rates = *context_.fabric.disk();
            move(world, host, host, device, bytes, write ? rates.write_bandwidth : rates.read_bandwidth, then);
          });
}

void StorageNetwork::ask_metadata(VertexId host, Seconds its_latency, Then then)
{
  request(host, metadata_, 1, its_latency,
          [this, host, then = std::move(then)] { after(latency(metadata_.vertex, host), then); });
}

} // namespace weft
