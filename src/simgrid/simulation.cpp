#include "simgrid/simulation.hpp"

#include "mpi/names.hpp"
#include "simgrid/call.hpp"
#include "simgrid/fortran.hpp"
#include "simgrid/leaving.hpp"
#include "simgrid/offload.hpp"
#include "simgrid/private_abi.hpp"
#include "simgrid/profile.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <unistd.h>

namespace sg = simgrid::s4u;

namespace weft {
namespace {

/** Null until there is one. */
Simulation*& the_simulation()
{
  static Simulation* simulation = nullptr;
  return simulation;
}

/** MPI tells so when a communicator that carries our attribute is freed. */
int on_free(MPI_Comm, int, void* communicator, void*)
{
  Simulation::get().release(*static_cast<Communicator*>(communicator));
  return MPI_SUCCESS;
}

/** "0, 1, 2 and 61 more", for messages. */
std::string some_of(const std::vector<int>& ranks)
{
  constexpr std::size_t SHOWN = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(SHOWN, ranks.size()); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  if (ranks.size() > SHOWN)
    text += " and " + std::to_string(ranks.size() - SHOWN) + " more";
  return text;
}

Fallback reason_of(NoTree obstacle)
{
  switch (obstacle) {
    case NoTree::one_host:
      return Fallback::one_host;
    case NoTree::no_gain:
      return Fallback::no_gain;
    case NoTree::no_common_switch:
      break;
  }
  return Fallback::not_on_tree;
}

int mpi_rank(const sg::Actor& actor)
{
  const char* rank = actor.get_property("rank");
  return rank ? static_cast<int>(std::strtol(rank, nullptr, 10)) : -1;
}

/** The models of a tree's switches, each where it comes first. */
std::vector<const SwitchModel*> models_of(const Fabric& fabric, const ReductionTree& tree)
{
  std::vector<const SwitchModel*> models;
  std::set<const SwitchModel*> seen;
  for (const TreeSwitch& node : tree.switches)
    if (const SwitchModel* model = &fabric.switch_model(node.index); seen.insert(model).second)
      models.push_back(model);
  return models;
}

} // namespace

Simulation::Simulation(Fabric its_fabric, OffloadMode its_mode, std::string record_path)
    : record_path_(std::move(record_path)), fabric(std::move(its_fabric)), mode(its_mode)
{
  for (int index = 0; index < fabric.switch_count(); ++index)
    switches.emplace_back(fabric.switch_model(index));
}

Simulation& Simulation::create(Fabric fabric, OffloadMode mode, std::string record_path, bool keep_events)
{
  if (the_simulation())
    throw std::logic_error("the platform is loaded already");
  auto* simulation               = new Simulation(std::move(fabric), mode, std::move(record_path));
  the_simulation()               = simulation;
  simulation->record.keep_events = keep_events;
  Profile::get().keep_slices     = keep_events;
  simulation->watch_ranks_from_now_on();
  watch_leaving(simulation->record_path_);
  sg::Engine::on_simulation_end_cb([simulation] { simulation->write_record(); });
  sg::Engine::on_deadlock_cb([simulation] { simulation->abort("deadlock", simulation->describe_deadlock()); });
  return *simulation;
}

Simulation& Simulation::get()
{
  return *the_simulation();
}

void Simulation::watch_ranks_from_now_on()
{
  sg::Actor::on_creation_cb([this](const sg::Actor& actor) {
    if (not network->is_host(actor.get_host()) || actor.get_name() == SPEAKER_NAME)
      return;
    ++ranks_;
    Profile::get().rank_begins(actor.get_pid());
    hosts_used_.insert(actor.get_host());
    actor.on_exit([this, pid = actor.get_pid()](bool killed) {
      if (is_forked_child())
        leave_forked_child(0);
      Profile::get().rank_ends(pid);
      if (not killed)
        rank_ended(pid);
    });
  });
}

void Simulation::rank_ended(aid_t actor)
{
  ended_.insert(actor);
  const Communicator* waiting = nullptr; // the one with the smallest number, so that the message is always the same
  for (const auto& [id, communicator] : communicators_)
    if (not communicator->pending().empty() && (not waiting || id < waiting->id))
      if (const std::optional<int> rank = communicator->rank_of(actor); rank && communicator->waiting_for(*rank))
        waiting = communicator.get();
  if (waiting)
    check_members(*waiting);
}

// SMPI's algorithms die of a message to a rank that has ended; a stream would wait for it for ever.
void Simulation::check_members(const Communicator& communicator)
{
  if (ended_.empty())
    return;
  for (int rank = 0; rank < communicator.size(); ++rank) {
    const PendingCall* call = communicator.waiting_for(rank);
    if (call && ended_.contains(communicator.actors[static_cast<std::size_t>(rank)]))
      mismatch(communicator, "rank " + std::to_string(call->first_rank) + " called " + call->signature.text() +
                                 " as collective number " + std::to_string(communicator.calls_made(rank) + 1) +
                                 ", and rank " + std::to_string(rank) + " has ended without it");
  }
}

std::shared_ptr<Communicator> Simulation::describe(MPI_Comm comm) const
{
  const int size     = comm->size();
  auto communicator  = std::make_shared<Communicator>(size);
  communicator->id   = comm->id();
  const bool combine = fabric.nic().host_combines();
  std::map<VertexId, std::vector<int>> members_at;
  std::vector<VertexId> member_hosts;
  for (int rank = 0; rank < size; ++rank) {
    communicator->actors.push_back(comm->group()->actor(rank));
    // A member that has ended cannot take part any more; where it was does not matter.
    const sg::ActorPtr actor = sg::Actor::by_pid(communicator->actors.back());
    communicator->hosts.push_back(actor ? actor->get_host() : nullptr);
    const VertexId host = actor ? network->vertex_of(actor->get_host()) : 0;
    communicator->rank_hosts.push_back(host);
    std::vector<int>& members = members_at[host];
    if (members.empty() || not combine) {
      communicator->nic_position.push_back(static_cast<int>(members.size()));
      members.push_back(communicator->members());
      communicator->member_ranks.emplace_back();
      member_hosts.push_back(host);
    }
    communicator->member_of.push_back(members.back());
    communicator->member_ranks[static_cast<std::size_t>(members.back())].push_back(rank);
  }
  // MPI_COMM_WORLD's number is -1.
  TreeResult result  = build_reduction_tree(fabric, member_hosts, static_cast<std::size_t>(communicator->id + 1));
  communicator->tree = std::move(result.tree);
  if (communicator->tree)
    communicator->models = models_of(fabric, *communicator->tree);
  else
    communicator->obstacle = reason_of(result.obstacle);
  return communicator;
}

const std::shared_ptr<Communicator>& Simulation::communicator(MPI_Comm comm, int rank)
{
  std::shared_ptr<Communicator>& entry = communicators_[comm->id()];
  if (not entry)
    entry = describe(comm);
  if (not entry->attached[static_cast<std::size_t>(rank)])
    attach(comm, rank, *entry);
  return entry;
}

void Simulation::attach(MPI_Comm comm, int rank, Communicator& communicator)
{
  if (attribute_key_ == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_free, &attribute_key_, nullptr);
  communicator.attached[static_cast<std::size_t>(rank)] = true;
  if (communicator.id < 0) // MPI_COMM_WORLD is one object of all ranks, and lives as long as they do
    return;
  PMPI_Comm_set_attr(comm, attribute_key_, &communicator);
}

void Simulation::release(Communicator& communicator)
{
  ++communicator.freed;
  release_if_done(communicator);
}

void Simulation::release_if_done(Communicator& communicator)
{
  // A rank that has not used it yet will still do so, and must find the calls that the others have made.
  if (communicator.freed < communicator.size() || not communicator.pending().empty())
    return;
  for (Aggregation& aggregation : switches)
    aggregation.release_channel(communicator.id);
  for (auto& [host, communicators] : multicasting_)
    communicators.erase(communicator.id);
  for (const sg::ActorPtr& server : communicator.servers)
    server->kill();
  communicator.servers.clear();          // they hold the communicator
  communicators_.erase(communicator.id); // the last use of it
}

bool Simulation::acquire_channels(const Communicator& communicator)
{
  const auto& nodes = communicator.tree->switches;
  const bool all    = std::ranges::all_of(nodes, [&](const TreeSwitch& node) {
    return switches[static_cast<std::size_t>(node.index)].has_channel_for(communicator.id);
  });
  if (all)
    for (const TreeSwitch& node : nodes)
      switches[static_cast<std::size_t>(node.index)].acquire_channel(communicator.id);
  return all;
}

Fallback Simulation::decide_without_tree(const Communicator& communicator, const CollectiveCall& call) const
{
  // Where no switch could do the call anyway, that is the reason; else that there is no tree.
  Fallback reason = communicator.obstacle;
  for (const SwitchModel& model : fabric.switch_models()) {
    if (not model.smart())
      continue;
    reason = decide_call(model, call, communicator.size());
    if (reason == Fallback::none)
      return communicator.obstacle;
  }
  return reason;
}

Fallback Simulation::obstacle(const Communicator& communicator, const Described& described) const
{
  if (not described.movement)
    return Fallback::collective;
  const CallSignature& signature = described.signature;
  const CollectiveCall call{offered_as(signature.collective), datatype_name(signature.datatype),
                            operation_name(signature.operation), Bytes(static_cast<double>(described.message))};
  if (not communicator.tree)
    return decide_without_tree(communicator, call);
  for (const SwitchModel* model : communicator.models)
    if (const Fallback reason = decide_call(*model, call, communicator.size()); reason != Fallback::none)
      return reason;
  return Fallback::none;
}

bool Simulation::host_is_faster(Communicator& communicator, const Described& described) const
{
  if (not communicator.host_cost)
    communicator.host_cost.emplace(fabric, communicator.rank_hosts);
  const std::string collective = offered_as(described.signature.collective);
  const bool gathers           = described.movement == Movement::allgather;
  const Bytes contribution(static_cast<double>(described.message) / (gathers ? communicator.size() : 1));
  const auto plan =
      communicator.plan(fabric, tree_call(communicator, described, parts_of(communicator.size(), described)),
                        host_work(communicator, described).rate);
  const auto algorithm = algorithms.find(collective);
  return communicator.host_cost->time(collective, contribution,
                                      algorithm == algorithms.end() ? "" : algorithm->second) < plan->duration();
}

bool Simulation::wants_multicast(const Described& described) const
{
  if (not described.movement || combines(*described.movement))
    return false;
  if (mode == OffloadMode::multicast)
    return true;
  return mode == OffloadMode::automatic &&
         fabric.policy_for(offered_as(described.signature.collective), Bytes(static_cast<double>(described.message))) ==
             OffloadMode::multicast;
}

bool Simulation::falls_back_to_multicast(const Described& described) const
{
  const auto algorithm = algorithms.find(offered_as(described.signature.collective));
  return algorithm != algorithms.end() && algorithm->second == "multicast";
}

Fallback Simulation::multicast_obstacle(Communicator& communicator, const Described& described)
{
  if (described.message == 0)
    return Fallback::zero_count;
  if (not memory_is_shared())
    return Fallback::privatization;
  if (not communicator.multicast)
    communicator.multicast =
        make_multicast_group(fabric, communicator.rank_hosts, static_cast<std::size_t>(communicator.id + 1));
  if (not communicator.multicast->group)
    return reason_of(communicator.multicast->obstacle);
  return acquire_nic_memory(communicator, described) ? Fallback::none : Fallback::no_nic_memory;
}

bool Simulation::acquire_nic_memory(const Communicator& communicator, const Described& described)
{
  const auto& engine = fabric.progress_engine();
  if (not engine)
    return true;
  const std::int64_t fit =
      engine->communicators(chunks_of(fabric.multicast(), Bytes(static_cast<double>(described.message))));
  const auto has_room = [&](VertexId host) {
    const std::set<int>& users = multicasting_[host];
    return users.contains(communicator.id) || std::cmp_less(users.size(), fit);
  };
  if (not std::ranges::all_of(communicator.rank_hosts, has_room))
    return false;
  for (const VertexId host : communicator.rank_hosts)
    multicasting_[host].insert(communicator.id);
  return true;
}

EngineRates Simulation::engine_rates() const
{
  const auto& engine              = fabric.progress_engine();
  const MulticastModel& multicast = fabric.multicast();
  if (not engine)
    return {};
  return {engine->send_rate(multicast.transport, multicast.chunk),
          engine->receive_rate(multicast.transport, multicast.chunk)};
}

/** What the run asks for, or leaves to the fabric's policy, or else to what is predicted to be faster. */
CallPath Simulation::choose(Communicator& communicator, const Described& described) const
{
  if (mode == OffloadMode::multicast)
    return {OffloadMode::stream, Fallback::none};
  if (mode != OffloadMode::automatic)
    return {mode, Fallback::none};
  const std::optional<OffloadMode> fixed =
      fabric.policy_for(offered_as(described.signature.collective), Bytes(static_cast<double>(described.message)));
  if (fixed == OffloadMode::off)
    return {OffloadMode::off, Fallback::policy};
  if (fixed && fixed != OffloadMode::automatic)
    return {*fixed, Fallback::none};
  if (host_is_faster(communicator, described))
    return {OffloadMode::off, Fallback::host_faster};
  return {OffloadMode::stream, Fallback::none};
}

CallPath Simulation::decide(Communicator& communicator, const Described& described)
{
  if (wants_multicast(described)) {
    const Fallback reason = multicast_obstacle(communicator, described);
    return {reason == Fallback::none ? OffloadMode::multicast : OffloadMode::off, reason};
  }
  const CallPath path = decide_in_network(communicator, described);
  if (path.granularity == OffloadMode::off && falls_back_to_multicast(described) &&
      multicast_obstacle(communicator, described) == Fallback::none)
    return {OffloadMode::multicast, Fallback::none};
  return path;
}

CallPath Simulation::decide_in_network(Communicator& communicator, const Described& described)
{
  if (mode == OffloadMode::off)
    return {OffloadMode::off, Fallback::policy};
  if (const Fallback reason = obstacle(communicator, described); reason != Fallback::none)
    return {OffloadMode::off, reason};
  const CallPath path = choose(communicator, described);
  if (path.granularity == OffloadMode::off)
    return path;
  if (not memory_is_shared() &&
      (is_nonblocking(described.signature.collective) || path.granularity == OffloadMode::message))
    return {OffloadMode::off, Fallback::privatization};
  return acquire_channels(communicator) ? path : CallPath{OffloadMode::off, Fallback::no_free_channel};
}

HostWork Simulation::host_work(const Communicator& communicator, const Described& described) const
{
  HostWork work{fabric.nic().offload_copy_rate, 0};
  const CallSignature& signature = described.signature;
  for (const SwitchModel* model : communicator.models) {
    const Capability* capability = model->serving(offered_as(signature.collective), datatype_name(signature.datatype),
                                                  operation_name(signature.operation));
    if (not capability || capability->conversion.empty())
      continue;
    // One core does one after the other.
    const double seconds_a_byte = 1 / fabric.nic().offload_copy_rate.value() + 1 / capability->conversion_rate.value();
    return {BytesPerSecond(1 / seconds_a_byte), static_cast<std::size_t>(model->payload / Bytes(sizeof(float)))};
  }
  return work;
}

std::string Simulation::describe_deadlock() const
{
  std::ostringstream text;
  text << "deadlock at " << sg::Engine::get_clock() << " s of simulated time: no rank can go on.";
  std::map<int, const Communicator*> by_id;
  for (const auto& [id, communicator] : communicators_)
    by_id[id] = communicator.get();
  for (const auto& [id, communicator] : by_id) {
    for (const auto& call : communicator->pending()) {
      std::vector<int> inside;
      std::vector<int> missing;
      for (int rank = 0; rank < communicator->size(); ++rank) {
        if (call->inside[static_cast<std::size_t>(rank)])
          inside.push_back(rank);
        else if (call->entered < communicator->size())
          missing.push_back(rank);
      }
      text << " On " << communicator->text() << ", " << call->signature.text() << " holds ranks " << some_of(inside);
      if (not missing.empty())
        text << " and waits for " << some_of(missing);
      text << ".";
    }
  }
  std::vector<int> alive;
  for (const sg::ActorPtr& actor : sg::Engine::get_instance()->get_all_actors())
    if (const int rank = mpi_rank(*actor); rank >= 0)
      alive.push_back(rank);
  std::ranges::sort(alive);
  text << " Ranks that have not ended: " << some_of(alive)
       << ". Look for a receive without its send, or a collective that not all ranks of a communicator call.";
  return text.str();
}

void Simulation::write_record() const
{
  if (record_path_.empty())
    return;
  Profile::get().stop();
  const Record::Run run{fabric,
                        mode,
                        ranks_,
                        static_cast<int>(hosts_used_.size()),
                        sg::Engine::get_clock(),
                        switches,
                        [this](LinkId link) { return network->bytes_on_link(link); },
                        [this](int index) { return network->lookups(index); },
                        algorithms};
  const std::string beside = record_path_ + ".part";
  std::ofstream file(beside);
  file << record.to_json(run);
  file.close();
  if (not file || std::rename(beside.c_str(), record_path_.c_str()) != 0) {
    std::perror(("weft: the record cannot be written to " + record_path_).c_str());
    std::remove(beside.c_str());
    std::fflush(nullptr);
    ::_exit(2);
  }
}

void Simulation::mismatch(const Communicator& communicator, const std::string& calls)
{
  abort("mismatch", "on " + communicator.text() + ", " + calls +
                        ". MPI asks all ranks of a communicator for the same collectives in the same order.");
}

void Simulation::abort(const std::string& kind, const std::string& message, int status)
{
  record.outcome = {kind, message};
  write_record();
  // Whoever asked for a record shows the message from there.
  if (record_path_.empty())
    std::fprintf(stderr, "weft: %s\n", message.c_str());
  flush_output();
  // Other ranks are in the middle of calls that will never end: nothing of the simulation can be taken down in order.
  ::_exit(status);
}

} // namespace weft
