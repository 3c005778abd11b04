// SPDX-License-Identifier: LGPL-2.1-only
/* Predefined handles as constants. Programs use the addresses of weft_comm_world, weft_comm_self and weft_info_env
 * (setup/mpi/header.py), so that static variables may be initialized with them. The symbols are indirect functions:
 * when the loader loads a rank's copy of the program, it calls a function here and binds the symbol to SMPI's object.
 * Calls need no translation, and callbacks get the same handles as the program.
 *
 * - MPI_COMM_WORLD is SMPI's variable, which does not change once ranks run; with several jobs it is SMPI's object that
 *   represents each rank's world. A program that ranks share is loaded before SMPI creates the world, so it is created
 *   here.
 * - MPI_COMM_SELF and MPI_INFO_ENV are the rank's own. Programs that use them are not shared
 *   (python/weft/runs/privatization/variables.py). */
#include "binding/jobs/predefined_handles.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/smpi/handles.hpp"
#include "binding/jobs/jobs.hpp"
#include "binding/ranks/world_placeholder.hpp"
#include "binding/settings/settings.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <simgrid/s4u/Actor.hpp>
#include <simgrid/s4u/Engine.hpp>
#include <smpi/smpi.h>
#include <string>

namespace weft {
namespace {

MPI_Comm& world_made_last()
{
  static MPI_Comm world = MPI_COMM_NULL;
  return world;
}

bool is_in_rank()
{
  return simgrid::s4u::Engine::is_initialized() && simgrid::s4u::Actor::self() &&
         not simgrid::s4u::this_actor::is_maestro();
}

/** Returns whether the launcher of a single program is about to run, which creates the world after loading the
 * program. */
bool is_before_launch()
{
  return simgrid::s4u::Engine::is_initialized() && not is_in_rank() && settings().jobs.empty() && number_of_ranks() > 0;
}

MPI_Comm world_of_program()
{
  static const auto PLACEHOLDER = original<MPI_Comm>("smpi_MPI_COMM_UNINITIALIZED");
  if (MPI_COMM_WORLD == PLACEHOLDER && is_before_launch()) {
    // SMPI keeps the first registration of a name.
    SMPI_app_instance_register(Job::LAUNCHED, nullptr, number_of_ranks());
    return latest_world();
  }
  return own_world();
}

/** Returns an object of the current rank. Outside of simulations, where build systems try programs, any address will
 * do. */
template <class Object> void* of_rank(Object* (*get)(), const char* name)
{
  static std::array<char, 1> unused;
  if (is_in_rank())
    return get();
  if (not simgrid::s4u::Engine::is_initialized())
    return unused.data();
  std::fprintf(stderr,
               "weft: the program or a library of it uses %s, which differs between ranks, and cannot be shared "
               "by them; leave out --no-privatize\n",
               name);
  std::_Exit(2);
}

/** Fields of an error handler (src/smpi/include/smpi_errhandler.hpp). */
struct ErrorHandlerLayout {
  simgrid::smpi::HandleLayout handle;
  std::string call_location;
  int references;
  MPI_Comm_errhandler_function* of_communicators;
  MPI_File_errhandler_function* of_files;
  MPI_Win_errhandler_function* of_windows;
};

/** Ends the program; used as the error handler of any kind of object. */
// NOLINTNEXTLINE(cert-dcl50-cpp,modernize-avoid-variadic-functions): MPI's type
template <class Handle> void abort_program(Handle* /*object*/, int* code, ...)
{
  MPI_Abort(own_world(), *code);
}

const ErrorHandlerLayout& fatal_handler()
{
  // Volatile, since smpi.h declares a smaller type, and UndefinedBehaviorSanitizer would report this read past its end.
  const void* volatile object = MPI_ERRORS_ARE_FATAL;
  return *static_cast<const ErrorHandlerLayout*>(object);
}

} // namespace

void remember_world(MPI_Comm world)
{
  world_made_last() = world;
}

MPI_Comm latest_world()
{
  return world_made_last();
}

} // namespace weft

extern "C" {
using Address = void (*)();
Address weft_find_comm_world()
{
  return reinterpret_cast<Address>(weft::world_of_program());
}
Address weft_find_comm_self()
{
  return reinterpret_cast<Address>(weft::of_rank(smpi_process_comm_self, "MPI_COMM_SELF"));
}
Address weft_find_info_env()
{
  return reinterpret_cast<Address>(weft::of_rank(smpi_process_info_env, "MPI_INFO_ENV"));
}

__attribute__((visibility("default"), ifunc("weft_find_comm_world"))) void weft_comm_world();
__attribute__((visibility("default"), ifunc("weft_find_comm_self"))) void weft_comm_self();
__attribute__((visibility("default"), ifunc("weft_find_info_env"))) void weft_info_env();

/** MPI_ERRORS_ABORT, which SMPI lacks: an error handler as if the program had created it. */
// NOLINTNEXTLINE(bugprone-throwing-static-initialization): an empty text does not throw
__attribute__((visibility("default"))) weft::ErrorHandlerLayout weft_errors_abort{
    weft::fatal_handler().handle, "", 1, weft::abort_program<MPI_Comm>, weft::abort_program<MPI_File>,
    weft::abort_program<MPI_Win>,
};
}
