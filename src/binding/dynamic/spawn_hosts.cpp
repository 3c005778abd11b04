// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/dynamic/spawn_hosts.hpp"

#include "base/error.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/dynamic/spawn_refusal.hpp"
#include "binding/ranks/agreement.hpp"
#include "binding/ranks/world_placeholder.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <numeric>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <utility>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

std::string name_of(const RunContext& context, VertexId host)
{
  return context.fabric.topology().host_name(host);
}

/** Returns the names in a comma-separated list. */
std::vector<std::string> listed(const std::string& text)
{
  std::vector<std::string> names;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ',');) {
    std::erase(one, ' ');
    names.push_back(one.substr(0, one.find(':'))); // HOST:SLOTS
  }
  return names;
}

/** Returns the first word of each line of a hostfile, without comments. */
std::vector<std::string> names_in(const std::string& path)
{
  std::ifstream file(path);
  if (not file)
    throw SpawnRefusal("info key hostfile: " + path + " cannot be read");
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    if (std::string name; words >> name)
      names.push_back(name.substr(0, name.find(':')));
  }
  return names;
}

/** Returns the job that owns each host, in a run of several jobs. */
std::map<std::string, const Job*, std::less<>> hosts_of_jobs(const Jobs& jobs)
{
  std::map<std::string, const Job*, std::less<>> hosts;
  for (const Job& job : jobs.all())
    if (job.own_launcher && job.hosts)
      for (const std::string& name : *job.hosts) {
        const auto [entry, is_new] = hosts.emplace(name, &job);
        if (not is_new)
          entry->second = nullptr;
      }
  return hosts;
}

} // namespace

SpawnHosts::SpawnHosts(const RunContext& context, const Job& job)
    : context_(context), job_(job), reserved_(hosts_of_jobs(context.jobs))
{
  for (const sg::ActorPtr& actor : sg::Engine::get_instance()->get_all_actors())
    if (actor->get_property("rank")) {
      const Job* const its = context.jobs.of(actor->get_pid());
      add_rank(context.network.vertex_of(actor->get_host()), its ? *its : context.jobs.all().front());
    }
  for (const SpawnedWorld& world : context.jobs.spawned())
    if (world.actors.empty()) // the job begins later
      for (const VertexId host : world.hosts)
        add_rank(host, world.job);
  if (context.hosts_down)
    for (const auto& [host, since] : context.hosts_down())
      ranks_[host] = std::numeric_limits<int>::max();
}

void SpawnHosts::add_rank(VertexId host, const Job& job)
{
  const auto [entry, is_new] = jobs_.emplace(host, &job);
  if (not is_new && entry->second != &job)
    entry->second = nullptr;
  ++ranks_[host];
}

int SpawnHosts::room_on(VertexId host) const
{
  const auto found = ranks_.find(host);
  return std::max(0, context_.host_supply->cores(host) - (found == ranks_.end() ? 0 : found->second));
}

int SpawnHosts::room_on(const std::vector<VertexId>& hosts) const
{
  std::int64_t room = 0;
  for (const VertexId host : hosts)
    room += room_on(host);
  return static_cast<int>(std::min<std::int64_t>(room, std::numeric_limits<int>::max()));
}

bool SpawnHosts::is_free(VertexId host) const
{
  const auto found = ranks_.find(host);
  return (found == ranks_.end() || found->second == 0) &&
         (reserved_.empty() || not reserved_.contains(name_of(context_, host)));
}

bool SpawnHosts::is_own(VertexId host) const
{
  if (const auto running = jobs_.find(host); running != jobs_.end() && running->second != &job_)
    return false;
  const auto reserved = reserved_.empty() ? reserved_.end() : reserved_.find(name_of(context_, host));
  return reserved == reserved_.end() || reserved->second == &job_;
}

VertexId SpawnHosts::named(const std::string& name, const SpawnCommand& command) const
{
  const int hosts = context_.fabric.host_count();
  for (VertexId host = 0; host < hosts; ++host)
    if (name_of(context_, host) == name) {
      if (is_free(host) || is_own(host))
        return host;
      throw SpawnRefusal("ranks of " + command.command + " cannot run on the host " + name +
                         ", which belongs to another job; name a free host, or leave the info key out");
    }
  throw SpawnRefusal(std::string("info key ") + (command.host ? "host" : "hostfile") + ": found \"" + name +
                     "\", which is no host of the fabric; its hosts are " + name_of(context_, 0) + " to " +
                     name_of(context_, hosts - 1));
}

std::vector<VertexId> SpawnHosts::named_hosts(const SpawnCommand& command) const
{
  std::vector<VertexId> hosts;
  for (const std::string& name : command.host ? listed(*command.host) : names_in(*command.hostfile))
    if (const VertexId host = named(name, command); std::ranges::find(hosts, host) == hosts.end())
      hosts.push_back(host);
  return hosts;
}

/** Places ranks in blocks, as few per host as possible. */
void SpawnHosts::place(const std::vector<VertexId>& hosts, int ranks, std::vector<VertexId>& placed)
{
  if (hosts.empty() || ranks == 0)
    return;
  const int count = static_cast<int>(hosts.size());
  int per_host    = (ranks + count - 1) / count;
  const auto fits = [&] {
    std::int64_t room = 0;
    for (const VertexId host : hosts)
      room += std::min(per_host, room_on(host));
    return room >= ranks;
  };
  while (not fits())
    ++per_host;
  for (const VertexId host : hosts)
    for (int left = std::min({per_host, room_on(host), ranks}); left > 0; --left, --ranks) {
      placed.push_back(host);
      ++ranks_[host];
    }
}

std::vector<VertexId> SpawnHosts::take(const SpawnCommand& command)
{
  std::vector<VertexId> first;
  std::vector<VertexId> second;
  const bool are_named = command.host || command.hostfile;
  if (are_named)
    first = named_hosts(command);
  else
    for (VertexId host = 0; host < context_.fabric.host_count(); ++host) {
      if (room_on(host) == 0)
        continue;
      if (is_free(host))
        first.push_back(host);
      else if (is_own(host))
        second.push_back(host);
    }
  const int room_first = room_on(first);
  const int room       = static_cast<int>(
      std::min<std::int64_t>(std::int64_t{room_first} + room_on(second), std::numeric_limits<int>::max()));
  const int ranks = command.ranks(room);
  if (ranks == 0)
    throw SpawnRefusal(std::to_string(command.most) + " ranks of " + command.command +
                       " need as many free cores, and " +
                       (are_named ? "the hosts that its info names have " : "the hosts that the job can use have ") +
                       std::to_string(room) +
                       (are_named ? "; name more hosts"
                                  : "; spawn fewer ranks, run on a larger fabric, or let the info "
                                    "key soft allow fewer"));
  std::vector<VertexId> placed;
  place(first, std::min(ranks, room_first), placed);
  place(second, ranks - static_cast<int>(placed.size()), placed);
  return placed;
}

int universe(const RunContext& context)
{
  const auto reserved  = hosts_of_jobs(context.jobs);
  const MPI_Comm world = own_world();
  std::map<const sg::Host*, int> placed;
  for (const aid_t actor : members_of(world))
    if (const sg::ActorPtr rank = sg::Actor::by_pid(actor))
      ++placed[rank->get_host()];
  int per_host = 1;
  for (const auto& [host, ranks] : placed)
    per_host = std::max(per_host, ranks);
  const Job* const job = context.jobs.of(sg::this_actor::get_pid());
  std::int64_t hosts   = 0;
  for (VertexId host = 0; host < context.fabric.host_count(); ++host) {
    const auto found = reserved.empty() ? reserved.end() : reserved.find(name_of(context, host));
    hosts += found == reserved.end() || found->second == job ? 1 : 0;
  }
  const std::int64_t size = std::max<std::int64_t>(hosts * per_host, world->size());
  return static_cast<int>(std::min<std::int64_t>(size, std::numeric_limits<int>::max()));
}

} // namespace weft
