// SPDX-License-Identifier: LGPL-2.1-only
/* Sessions (MPI 4.1, section 11.3), which SMPI lacks. The first session of a rank initializes SMPI,
 * unless MPI_Init has; SMPI stays initialized until the rank ends, so that sessions can follow one another. Programs
 * may also call MPI_Init and MPI_Finalize as usual.
 *
 * Process sets are mpi://WORLD and mpi://SELF. MPI_Comm_create_group creates communicators from groups. */
#include "binding/entries/added/sessions.hpp"

#include "binding/entries/frame/hints.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/ranks/places.hpp"
#include "binding/ranks/world_placeholder.hpp"
#include "binding/threads/program_threads.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <simgrid/s4u/Actor.hpp>
#include <string>
#include <string_view>
#include <strings.h>
#include <utility>

/** Object behind an MPI_Session. */
struct weft_session { // NOLINT(readability-identifier-naming): as in weft's mpi.h
  MPI_Errhandler handler;
  MPI_Info info;
  int number; ///< in Fortran
};

namespace weft {
namespace {

/** Use of MPI by one rank. */
struct MpiUse {
  std::set<MPI_Session> sessions;
  bool began_by_session = false;
  bool init_called      = false; ///< true if MPI_Init was called after a session had begun
  bool finalize_called  = false; ///< true if MPI_Finalize was called then

  static MpiUse& of_this_rank()
  {
    static std::map<aid_t, MpiUse> all; // references stay valid
    return all[simgrid::s4u::this_actor::get_pid()];
  }
};

constexpr int NO_SESSION = -1; ///< number of MPI_SESSION_NULL
constexpr std::array PROCESS_SETS{"mpi://WORLD", "mpi://SELF"};

/** Returns whether two names of process sets are equal, ignoring case: programs for MPICH use lower case. */
bool is_named(const char* name, const char* process_set)
{
  return strcasecmp(name, process_set) == 0;
}

int check_process_set(const char* name)
{
  return name && std::ranges::any_of(PROCESS_SETS, [name](const char* its) { return is_named(name, its); })
             ? static_cast<int>(MPI_SUCCESS)
             : wrong(MPI_ERR_ARG, "there is no process set " + std::string(name ? name : "NULL"));
}

/** Initializes SMPI for the first session. */
int begin_mpi()
{
  MpiUse& use     = MpiUse::of_this_rank();
  int initialized = 0;
  int finalized   = 0;
  PMPI_Initialized(&initialized);
  PMPI_Finalized(&finalized);
  if (finalized != 0)
    return wrong(MPI_ERR_OTHER, "MPI_Finalize has ended SimGrid's MPI; call it after the sessions");
  if (initialized != 0)
    return MPI_SUCCESS;
  use.began_by_session = true;
  return PMPI_Init(nullptr, nullptr);
}

int begin_session(MPI_Info info, MPI_Errhandler handler, MPI_Session* session)
{
  if (const int result = begin_mpi(); result != MPI_SUCCESS)
    return result;
  MPI_Info used = MPI_INFO_NULL;
  if (info == MPI_INFO_NULL)
    PMPI_Info_create(&used);
  else
    PMPI_Info_dup(info, &used);
  const bool serialized = provide_threads(MPI_THREAD_SERIALIZED) == MPI_THREAD_SERIALIZED;
  PMPI_Info_set(used, "thread_level", serialized ? "MPI_THREAD_SERIALIZED" : "MPI_THREAD_FUNNELED");
  static int last  = 0;
  auto* const made = new weft_session{handler, used, ++last};
  MpiUse::of_this_rank().sessions.insert(made);
  *session = made;
  return MPI_SUCCESS;
}

int end_session(MPI_Session* session)
{
  MPI_Session const its = std::exchange(*session, nullptr);
  PMPI_Info_free(&its->info);
  MpiUse::of_this_rank().sessions.erase(its);
  delete its;
  return MPI_SUCCESS;
}

/** Copies a name, truncated to *@p length characters including the NUL; if that is 0, sets it to the required
 * length. */
int give_name(std::string_view name, int* length, char* text)
{
  if (*length > 0) {
    const std::size_t copied = name.copy(text, static_cast<std::size_t>(*length) - 1);
    text[copied]             = '\0';
  }
  *length = static_cast<int>(name.size()) + 1;
  return MPI_SUCCESS;
}

MPI_Comm processes_of(const char* process_set)
{
  return is_named(process_set, "mpi://SELF") ? MPI_COMM_SELF : own_world();
}

int create_from_group(MPI_Group group, const char* tag, MPI_Errhandler handler, MPI_Comm* made)
{
  constexpr std::size_t TAGS = 32767;
  const int number           = static_cast<int>(std::hash<std::string_view>()(tag) % TAGS);
  const int result           = PMPI_Comm_create_group(own_world(), group, number, made);
  if (result == MPI_SUCCESS && *made != MPI_COMM_NULL && handler != MPI_ERRHANDLER_NULL)
    PMPI_Comm_set_errhandler(*made, handler);
  return result;
}

} // namespace

int check_session(MPI_Session session)
{
  if (session && MpiUse::of_this_rank().sessions.contains(session))
    return MPI_SUCCESS;
  return wrong(WRONG_SESSION, "the session is MPI_SESSION_NULL or has been finalized");
}

/** Calls the session's error handler if @p result is an error. */
int handled_by_session(MPI_Session session, const char* function, int result)
{
  const bool known             = result == MPI_SUCCESS || MpiUse::of_this_rank().sessions.contains(session);
  const MPI_Errhandler handler = known && session ? session->handler : MPI_ERRORS_ARE_FATAL;
  return handled_by(handler, reinterpret_cast<MPI_Comm>(session), function, result);
}

} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session)
{
  return first_error([&] { return check_present(session, "session"); },
                     [&] { return begin_session(info, errhandler, session); });
}

WEFT_INTERPOSED int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session)
{
  return handled_by(errhandler, MPI_COMM_NULL, "MPI_Session_init", PMPI_Session_init(info, errhandler, session));
}

WEFT_INTERPOSED int PMPI_Session_finalize(MPI_Session* session)
{
  return first_error([&] { return check_present(session, "session"); }, [&] { return check_session(*session); },
                     [&] { return end_session(session); });
}

WEFT_INTERPOSED int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info /*info*/, int* npset_names)
{
  return first_error([&] { return check_session(session); }, [&] { return check_present(npset_names, "npset_names"); },
                     [&] {
                       *npset_names = static_cast<int>(PROCESS_SETS.size());
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info /*info*/, int n, int* pset_len,
                                              char* pset_name)
{
  return first_error([&] { return check_session(session); }, [&] { return check_present(pset_len, "pset_len"); },
                     [&] {
                       return n >= 0 && std::cmp_less(n, PROCESS_SETS.size())
                                  ? give_name(PROCESS_SETS[static_cast<std::size_t>(n)], pset_len, pset_name)
                                  : wrong(MPI_ERR_ARG, "the number of a process set is " + std::to_string(n));
                     });
}

WEFT_INTERPOSED int PMPI_Session_get_info(MPI_Session session, MPI_Info* info_used)
{
  return first_error([&] { return check_session(session); }, [&] { return check_present(info_used, "info_used"); },
                     [&] {
                       const int result = PMPI_Info_dup(session->info, info_used);
                       PMPI_Info_set(*info_used, MEMORY_KINDS_KEY, MEMORY_KINDS);
                       return result;
                     });
}

WEFT_INTERPOSED int PMPI_Session_get_pset_info(MPI_Session session, const char* pset_name, MPI_Info* info)
{
  return first_error([&] { return check_session(session); }, [&] { return check_process_set(pset_name); },
                     [&] { return check_present(info, "info"); },
                     [&] {
                       PMPI_Info_create(info);
                       const std::string size = std::to_string(place_in(processes_of(pset_name)).size);
                       return PMPI_Info_set(*info, "mpi_size", size.c_str());
                     });
}

WEFT_INTERPOSED int PMPI_Group_from_session_pset(MPI_Session session, const char* pset_name, MPI_Group* newgroup)
{
  return first_error([&] { return check_session(session); }, [&] { return check_process_set(pset_name); },
                     [&] { return check_present(newgroup, "newgroup"); },
                     [&] { return PMPI_Comm_group(processes_of(pset_name), newgroup); });
}

WEFT_INTERPOSED int PMPI_Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info /*info*/,
                                                MPI_Errhandler errhandler, MPI_Comm* newcomm)
{
  return first_error(
      [&] { return is_in_mpi() ? static_cast<int>(MPI_SUCCESS) : wrong(MPI_ERR_OTHER, "there is no session"); },
      [&] { return check_present(stringtag, "stringtag"); }, [&] { return check_present(newcomm, "newcomm"); },
      [&] { return create_from_group(group, stringtag, errhandler, newcomm); });
}

WEFT_INTERPOSED int MPI_Comm_create_from_group(MPI_Group group, const char* stringtag, MPI_Info info,
                                               MPI_Errhandler errhandler, MPI_Comm* newcomm)
{
  return handled_by(errhandler, MPI_COMM_NULL, "MPI_Comm_create_from_group",
                    PMPI_Comm_create_from_group(group, stringtag, info, errhandler, newcomm));
}

/** A session's error handler gets the address of the session in place of the communicator's. */
WEFT_INTERPOSED int PMPI_Session_create_errhandler(void (*function)(MPI_Session*, int*, ...),
                                                   MPI_Errhandler* errhandler)
{
  return PMPI_Comm_create_errhandler(reinterpret_cast<MPI_Comm_errhandler_fn*>(function), errhandler);
}

WEFT_INTERPOSED int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler)
{
  return first_error([&] { return check_session(session); },
                     [&] {
                       session->handler = errhandler;
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler* errhandler)
{
  return first_error([&] { return check_session(session); }, [&] { return check_present(errhandler, "errhandler"); },
                     [&] {
                       *errhandler = session->handler;
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Session_call_errhandler(MPI_Session session, int errorcode)
{
  return first_error([&] { return check_session(session); },
                     [&] {
                       handled_by(session->handler, reinterpret_cast<MPI_Comm>(session), "MPI_Session_call_errhandler",
                                  errorcode);
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Session_c2f(MPI_Session session)
{
  return check_session(session) == MPI_SUCCESS ? session->number : NO_SESSION;
}

WEFT_INTERPOSED MPI_Session PMPI_Session_f2c(int session)
{
  const auto& all  = MpiUse::of_this_rank().sessions;
  const auto found = std::ranges::find(all, session, [](const weft_session* one) { return one->number; });
  return found == all.end() ? nullptr : *found;
}

WEFT_INTERPOSED int MPI_Session_c2f(MPI_Session session) __attribute__((alias("PMPI_Session_c2f")));
WEFT_INTERPOSED int MPI_Session_toint(MPI_Session session) __attribute__((alias("PMPI_Session_c2f")));
WEFT_INTERPOSED int PMPI_Session_toint(MPI_Session session) __attribute__((alias("PMPI_Session_c2f")));
WEFT_INTERPOSED MPI_Session MPI_Session_f2c(int session) __attribute__((alias("PMPI_Session_f2c")));
WEFT_INTERPOSED MPI_Session MPI_Session_fromint(int session) __attribute__((alias("PMPI_Session_f2c")));
WEFT_INTERPOSED MPI_Session PMPI_Session_fromint(int session) __attribute__((alias("PMPI_Session_f2c")));

// ---- The program's view of MPI_Init and MPI_Finalize ----------------------------------------------------------------

WEFT_INTERPOSED int MPI_Init(int* argc, char*** argv)
{
  static const auto THEIRS = original<int (*)(int*, char***)>("MPI_Init");
  MpiUse& use              = MpiUse::of_this_rank();
  if (not use.began_by_session || use.init_called)
    return THEIRS(argc, argv);
  use.init_called = true;
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int MPI_Init_thread(int* argc, char*** argv, int required, int* provided)
{
  static const auto THEIRS = original<int (*)(int*, char***, int, int*)>("MPI_Init_thread");
  MpiUse& use              = MpiUse::of_this_rank();
  if (not use.began_by_session || use.init_called)
    return THEIRS(argc, argv, required, provided);
  use.init_called = true;
  *provided       = provide_threads(required);
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int MPI_Initialized(int* flag)
{
  static const auto THEIRS = original<int (*)(int*)>("MPI_Initialized");
  const int result         = THEIRS(flag);
  if (MpiUse::of_this_rank().began_by_session)
    *flag = MpiUse::of_this_rank().init_called ? 1 : 0;
  return result;
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
