// SPDX-License-Identifier: LGPL-2.1-only
/* Requests to storage, and messages between ranks' hosts, in simulated time.
 *
 * A request reaches its server after the route's latency, queues behind earlier requests, and waits for the server's
 * latency. Its data is a flow over the links and the device; the latency of the reply follows. */
#pragma once

#include "binding/messages/host_network.hpp"
#include "model/storage/striping.hpp"
#include "network/fabric_routes.hpp"

#include <functional>
#include <vector>

namespace weft {

class RunContext;

class StorageNetwork : public Due, public Receiving {
public:
  using Then = std::function<void()>;

  /** @p on_failure is called with the world of a job before a failed access ends the job. */
  StorageNetwork(RunContext& context, std::function<void(int world)> on_failure);

  /** The following functions, and @p then, run in SimGrid's kernel or within a rank's turn, without ending it. */
  void after(Seconds delay, Then then);
  /** Sends a message of ranks of the job with this @p world. */
  void send(int world, VertexId from, VertexId to, Bytes payload, Then then);
  void access_target(int world, VertexId host, bool write, const TargetPart& part, Then then);
  void access_disk(int world, VertexId host, bool write, const TargetPart& part, Then then);
  /** Makes a request to the metadata server, which takes @p latency; with files on disks there is no request. */
  void ask_metadata(VertexId host, Seconds latency, Then then);

  void due(std::uint64_t what) override;
  void arrived(std::uint64_t message) override { due(message); }
  void failed(std::uint64_t message, const std::string& why) override;

private:
  /** Server, and the time at which it can accept the next request. */
  struct Server {
    VertexId vertex;
    Seconds overhead;
    double free_at = 0;
  };
  RunContext& context_;
  std::function<void(int world)> on_failure_;
  StorageResources resources_;
  std::vector<Server> targets_;
  std::vector<Server> disks_; // by host
  Server metadata_{};
  struct Waiting {
    Then then;
    int world = 0; // of a message
  };
  std::vector<Waiting> waiting_; // by number
  std::vector<std::uint64_t> idle_;

  void fail(int world, const std::string& why, const std::string& whose);
  std::uint64_t keep(Then then, int world = 0);
  Seconds latency(VertexId from, VertexId to) const;
  void request(VertexId host, Server& server, std::int64_t requests, Seconds latency, Then then);
  void move(int world, VertexId from, VertexId to, const std::vector<int>& device, std::int64_t bytes,
            BytesPerSecond limit, Then then);
};

} // namespace weft
