// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/ranks/world_placeholder.hpp"

#include "binding/abi/interposed_symbol.hpp"
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/actor_extensions.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/error_handlers.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/ranks/current.hpp"

#include <simgrid/s4u/Actor.hpp>
#include <utility>

namespace weft {
namespace {

MPI_Comm placeholder()
{
  static const auto PLACEHOLDER = original<MPI_Comm>("smpi_MPI_COMM_UNINITIALIZED");
  return PLACEHOLDER;
}

/** Ranks of spawned worlds. */
struct SpawnedRanks {
  bool exist           = false;
  bool loading_program = false;
  ActorMap<bool> all;

  static SpawnedRanks& get()
  {
    static auto* const ALL = new SpawnedRanks; // leaked, since ranks may end during static destruction
    return *ALL;
  }
};

bool is_spawned_rank()
{
  const SpawnedRanks& spawned = SpawnedRanks::get();
  return spawned.exist && running_context && spawned.all.get(current_actor());
}

/** Returns whether a communicator is the world of the current rank and SMPI has no per-rank object for it. */
bool stands_for_world(const simgrid::smpi::Comm* comm)
{
  return is_placeholder(comm) || (comm == MPI_COMM_WORLD && is_spawned_rank());
}

/** Returns the current rank's error handler of its world, with a reference; null for the default. */
MPI_Errhandler& handler_of_world()
{
  static auto* const ALL = new ActorMap<MPI_Errhandler>; // leaked, since ranks may end during static destruction
  return (*ALL)[current_actor()];
}

} // namespace

bool is_placeholder(const simgrid::smpi::Comm* comm)
{
  return comm == placeholder();
}

MPI_Comm own_world()
{
  return is_spawned_rank() || SpawnedRanks::get().loading_program ? placeholder() : MPI_COMM_WORLD;
}

// The world that SMPI has launched must then outlive its ranks, since its variable would name another object.
void note_spawned_rank(aid_t actor)
{
  SpawnedRanks& spawned = SpawnedRanks::get();
  if (not spawned.exist && not is_placeholder(MPI_COMM_WORLD))
    MPI_COMM_WORLD->ref();
  spawned.exist      = true;
  spawned.all[actor] = true;
}

SpawnedProgramScope::SpawnedProgramScope()
{
  SpawnedRanks::get().loading_program = true;
}

SpawnedProgramScope::~SpawnedProgramScope()
{
  SpawnedRanks::get().loading_program = false;
}

MPI_Comm real_communicator(MPI_Comm comm)
{
  if (not is_placeholder(comm)) [[likely]]
    return comm;
  const auto* const process = simgrid::s4u::Actor::self()->extension<simgrid::smpi::ActorExt>();
  const MPI_Comm world      = process ? process->comm_world() : MPI_COMM_NULL;
  return world == MPI_COMM_NULL ? comm : world;
}

void inherit_error_handler(MPI_Comm original, MPI_Comm made)
{
  if (is_placeholder(original) && handler_of_world() != MPI_ERRHANDLER_NULL)
    made->set_errhandler(handler_of_world());
}

} // namespace weft

namespace simgrid::smpi {

WEFT_INTERPOSED void Comm::unref(MPI_Comm comm)
{
  static const auto THEIRS = weft::original<void (*)(MPI_Comm)>("_ZN7simgrid4smpi4Comm5unrefEPS1_");
  if (not weft::is_placeholder(comm) || not s4u::this_actor::is_maestro())
    THEIRS(comm);
}

/** The end of a world, which does not run callbacks of attributes with a single program either. */
WEFT_INTERPOSED void Comm::destroy(MPI_Comm comm)
{
  static const auto THEIRS = weft::original<void (*)(MPI_Comm)>("_ZN7simgrid4smpi4Comm7destroyEPS1_");
  constexpr int WORLD      = -1;
  if (comm != MPI_COMM_WORLD && not weft::is_placeholder(comm) && comm->id() == WORLD)
    unref(comm);
  else
    THEIRS(comm);
}

WEFT_INTERPOSED MPI_Errhandler Comm::errhandler()
{
  static const auto THEIRS = weft::original<MPI_Errhandler (*)(Comm*)>("_ZN7simgrid4smpi4Comm10errhandlerEv");
  const bool is_world      = weft::stands_for_world(this);
  const MPI_Errhandler own = is_world ? weft::handler_of_world() : MPI_ERRHANDLER_NULL;
  if (own == MPI_ERRHANDLER_NULL)
    return THEIRS(is_world ? weft::own_world() : this);
  own->ref();
  return own;
}

WEFT_INTERPOSED void Comm::set_errhandler(MPI_Errhandler handler)
{
  using Set                = void (*)(Comm*, MPI_Errhandler);
  static const auto THEIRS = weft::original<Set>("_ZN7simgrid4smpi4Comm14set_errhandlerEPNS0_10ErrhandlerE");
  if (not weft::stands_for_world(this)) {
    THEIRS(this, handler);
    return;
  }
  if (handler != MPI_ERRHANDLER_NULL)
    handler->ref();
  if (const MPI_Errhandler before = std::exchange(weft::handler_of_world(), handler); before != MPI_ERRHANDLER_NULL)
    Errhandler::unref(before);
}

/** Fortran's MPI_COMM_WORLD is the number 0. */
WEFT_INTERPOSED MPI_Comm Comm::f2c(int number)
{
  static const auto THEIRS = weft::original<MPI_Comm (*)(int)>("_ZN7simgrid4smpi4Comm3f2cEi");
  return number == 0 ? weft::own_world() : THEIRS(number);
}

WEFT_INTERPOSED MPI_Info Comm::info()
{
  static const auto THEIRS = weft::original<MPI_Info (*)(Comm*)>("_ZN7simgrid4smpi4Comm4infoEv");
  return THEIRS(weft::real_communicator(this));
}

WEFT_INTERPOSED void Comm::set_info(MPI_Info info)
{
  static const auto THEIRS = weft::original<void (*)(Comm*, MPI_Info)>("_ZN7simgrid4smpi4Comm8set_infoEPNS0_4InfoE");
  THEIRS(weft::real_communicator(this), info);
}

WEFT_INTERPOSED void Comm::add_rma_win(MPI_Win window)
{
  static const auto THEIRS = weft::original<void (*)(Comm*, MPI_Win)>("_ZN7simgrid4smpi4Comm11add_rma_winEPNS0_3WinE");
  THEIRS(weft::real_communicator(this), window);
}

WEFT_INTERPOSED void Comm::remove_rma_win(MPI_Win window)
{
  static const auto THEIRS =
      weft::original<void (*)(Comm*, MPI_Win)>("_ZN7simgrid4smpi4Comm14remove_rma_winEPNS0_3WinE");
  THEIRS(weft::real_communicator(this), window);
}

WEFT_INTERPOSED void Comm::finish_rma_calls() const
{
  using Finish             = void (*)(const Comm*);
  static const auto THEIRS = weft::original<Finish>("_ZNK7simgrid4smpi4Comm16finish_rma_callsEv");
  THEIRS(weft::real_communicator(const_cast<MPI_Comm>(this))); // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

} // namespace simgrid::smpi

// ---- Replaced functions: attributes; error_codes.cpp has their queries
// ------------------------------------------------

#define WEFT_ATTRIBUTE_FUNCTION(name, parameters, ...)                                                                 \
  extern "C" int weft_##name parameters WEFT_REPLACES("PMPI_" #name);                                                  \
  int weft_##name parameters                                                                                           \
  {                                                                                                                    \
    static const auto THEIRS = weft::next_definition<int(*) parameters>("PMPI_" #name);                                \
    return THEIRS(weft::real_communicator(comm), __VA_ARGS__);                                                         \
  }

WEFT_ATTRIBUTE_FUNCTION(Comm_set_attr, (MPI_Comm comm, int key, void* value), key, value)
WEFT_ATTRIBUTE_FUNCTION(Comm_delete_attr, (MPI_Comm comm, int key), key)
WEFT_ATTRIBUTE_FUNCTION(Attr_put, (MPI_Comm comm, int key, void* value), key, value)
WEFT_ATTRIBUTE_FUNCTION(Attr_delete, (MPI_Comm comm, int key), key)
