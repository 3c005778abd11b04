#include "simgrid/simulation.hpp"

#include "mpi/names.hpp"
#include "simgrid/leaving.hpp"
#include "simgrid/private_abi.hpp"
#include "simgrid/process.hpp"
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
    : record_path_(std::move(record_path)), fabric(std::move(its_fabric)), mode(its_mode),
      decider(fabric, mode, algorithms, switches)
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
  watch_process();
  if (not simulation->record_path_.empty())
    watch_crashes(simulation->record_path_ + ".crashed");
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
        leave_process(0);
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
    communicator->no_tree = result.obstacle;
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
  decider.release(communicator.id);
  for (const sg::ActorPtr& server : communicator.servers)
    server->kill();
  communicator.servers.clear();          // they hold the communicator
  communicators_.erase(communicator.id); // the last use of it
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
  leave_process(status);
}

} // namespace weft
