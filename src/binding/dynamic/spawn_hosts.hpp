// SPDX-License-Identifier: LGPL-2.1-only
/* Hosts on which ranks are spawned.
 *
 * Ranks on hosts named by the call are placed in blocks, as few per host as possible. Otherwise ranks go to free hosts
 * in fabric order, one each if there are enough, else as few per host as possible; if the cores of the free hosts do
 * not suffice, the remaining ranks go to free cores of hosts of the same job. A host is free if no job of the run names
 * it and no rank runs on it. No core runs two ranks. */
#pragma once

#include "binding/dynamic/spawn_command.hpp"
#include "binding/run/run_context.hpp"

#include <map>
#include <string>
#include <vector>

namespace weft {

class SpawnHosts {
  const RunContext& context_;
  const Job& job_;
  std::map<VertexId, int> ranks_;       // ranks that run now, or are to be spawned
  std::map<VertexId, const Job*> jobs_; // jobs of the ranks that run now; null: several
  std::map<std::string, const Job*, std::less<>> reserved_;

  void add_rank(VertexId host, const Job& job);
  int room_on(VertexId host) const;
  bool is_free(VertexId host) const;
  bool is_own(VertexId host) const;
  VertexId named(const std::string& name, const SpawnCommand& command) const;
  std::vector<VertexId> named_hosts(const SpawnCommand& command) const;
  int room_on(const std::vector<VertexId>& hosts) const;
  void place(const std::vector<VertexId>& hosts, int ranks, std::vector<VertexId>& placed);

public:
  /** @param job job of the spawning ranks */
  SpawnHosts(const RunContext& context, const Job& job);

  /** Returns the host of each rank of a command; `soft` may reduce the number of ranks. Throws SpawnRefusal. */
  std::vector<VertexId> take(const SpawnCommand& command);
};

/** Returns MPI_UNIVERSE_SIZE for the current rank: its world's ranks per host, times the hosts of its world and those
 * that no other job owns. */
int universe(const RunContext& context);

} // namespace weft
