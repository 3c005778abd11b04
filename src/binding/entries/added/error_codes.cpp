// SPDX-License-Identifier: LGPL-2.1-only
/* Error classes, codes and strings that programs add (MPI 4.1, section 9.5), which SMPI lacks. They belong to one rank;
 * numbers are not reused. Also calls of error handlers, where SMPI crashes if the handler is predefined
 * (Errhandler::call in src/smpi/mpi/smpi_errhandler.cpp). */
#include "binding/abi/original.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/entries/polls/idle_calls.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/world_placeholder.hpp"

#include <algorithm>
#include <map>
#include <simgrid/s4u/Actor.hpp>
#include <string>
#include <string_view>

namespace weft {
namespace {

/** MPI_ERR_LASTCODE in weft's mpi.h, which has classes that SimGrid's lacks. */
constexpr int LAST_CODE = 100;

constexpr int WRONG_ERROR_HANDLER = 78; ///< MPI_ERR_ERRHANDLER

/** Names of those classes. */
const std::map<int, const char*>& newer_classes()
{
  static const std::map<int, const char*> ALL{
      {75, "MPI_ERR_SESSION"},         {76, "MPI_ERR_PROC_ABORTED"},     {77, "MPI_ERR_VALUE_TOO_LARGE"},
      {78, "MPI_ERR_ERRHANDLER"},      {79, "MPI_T_ERR_INVALID"},        {80, "MPI_T_ERR_INVALID_NAME"},
      {81, "MPI_T_ERR_NOT_SUPPORTED"}, {82, "MPI_T_ERR_NOT_ACCESSIBLE"}, {83, "MPI_ERR_ABI"}};
  return ALL;
}

/** Codes that one rank has added. */
struct AddedErrors {
  struct Code {
    int of_class;
    std::string text = {};
  };
  std::map<int, Code> codes; ///< a class is its own code
  int last = LAST_CODE;
  // Values of other attributes.
  int command  = 0;
  int universe = 0;

  static AddedErrors& of_this_rank()
  {
    static std::map<aid_t, AddedErrors> all; // references stay valid
    return all[simgrid::s4u::this_actor::get_pid()];
  }
  int add(int of_class)
  {
    ++last;
    codes[last] = {of_class == 0 ? last : of_class};
    return last;
  }
  const Code* find(int code) const
  {
    const auto found = codes.find(code);
    return found == codes.end() ? nullptr : &found->second;
  }
};

/** Calls the error handler that @p get returns: a predefined one here, a user-defined one by @p call. */
template <class Get, class Call> int call_handler(const char* function, int code, Get&& get, Call&& call)
{
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (get(&handler) == MPI_SUCCESS && (handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_RETURN)) {
    handled_by(handler, MPI_COMM_NULL, function, code);
    return MPI_SUCCESS;
  }
  return call();
}

bool is_of_mpi(int code)
{
  return code >= MPI_SUCCESS && code <= LAST_CODE;
}

int check_added(int code)
{
  return AddedErrors::of_this_rank().find(code)
             ? static_cast<int>(MPI_SUCCESS)
             : wrong(MPI_ERR_ARG, std::to_string(code) + " is no error code or class that the program has added");
}

int check_class(int error_class)
{
  if (is_of_mpi(error_class))
    return MPI_SUCCESS;
  const AddedErrors::Code* const known = AddedErrors::of_this_rank().find(error_class);
  return known && known->of_class == error_class
             ? static_cast<int>(MPI_SUCCESS)
             : wrong(MPI_ERR_ARG, std::to_string(error_class) + " is no error class");
}

/** Removes a code, or a class that has no other codes. */
int remove_error(int code)
{
  auto& codes = AddedErrors::of_this_rank().codes;
  if (std::ranges::any_of(codes,
                          [code](const auto& entry) { return entry.first != code && entry.second.of_class == code; }))
    return wrong(MPI_ERR_ARG, "the error class " + std::to_string(code) + " still has error codes");
  codes.erase(code);
  return MPI_SUCCESS;
}

/** Sets values of predefined attributes that SMPI does not know: the last code in use, the number of the rank's command
 * in MPI_Comm_spawn_multiple, and the number of ranks that fit on the hosts. */
int with_own_values(int result, int keyval, void* value, const int* flag)
{
  if (result != MPI_SUCCESS || *flag == 0)
    return result;
  AddedErrors& own = AddedErrors::of_this_rank();
  if (keyval == MPI_LASTUSEDCODE)
    *static_cast<int**>(value) = &own.last;
  const RunContext& run             = current_run();
  const SpawnedWorld* const spawned = run.jobs.spawned_of(simgrid::s4u::this_actor::get_pid());
  if (keyval == MPI_APPNUM && spawned) {
    own.command                = spawned->part_of(*rank_here());
    *static_cast<int**>(value) = &own.command;
  }
  if (keyval == MPI_UNIVERSE_SIZE && run.universe) {
    own.universe               = run.universe();
    *static_cast<int**>(value) = &own.universe;
  }
  return result;
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
  static const auto THEIRS = original(&PMPI_Comm_set_errhandler);
  return errhandler == MPI_ERRHANDLER_NULL ? wrong(WRONG_ERROR_HANDLER, "the error handler is MPI_ERRHANDLER_NULL")
                                           : THEIRS(comm, errhandler);
}

WEFT_INTERPOSED int PMPI_Add_error_class(int* errorclass)
{
  if (const int result = check_present(errorclass, "errorclass"); result != MPI_SUCCESS)
    return result;
  *errorclass = AddedErrors::of_this_rank().add(0);
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Add_error_code(int errorclass, int* errorcode)
{
  return first_error([&] { return check_class(errorclass); }, [&] { return check_present(errorcode, "errorcode"); },
                     [&] {
                       *errorcode = AddedErrors::of_this_rank().add(errorclass);
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Add_error_string(int errorcode, char* string)
{
  return first_error([&] { return check_added(errorcode); }, [&] { return check_present(string, "string"); },
                     [&] {
                       AddedErrors::of_this_rank().codes.at(errorcode).text = string;
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Remove_error_class(int errorclass)
{
  return first_error([&] { return check_added(errorclass); }, [&] { return check_class(errorclass); },
                     [&] { return remove_error(errorclass); });
}

WEFT_INTERPOSED int PMPI_Remove_error_code(int errorcode)
{
  return first_error([&] { return check_added(errorcode); },
                     [&] {
                       return AddedErrors::of_this_rank().find(errorcode)->of_class == errorcode
                                  ? wrong(MPI_ERR_ARG, std::to_string(errorcode) + " is an error class")
                                  : remove_error(errorcode);
                     });
}

WEFT_INTERPOSED int PMPI_Remove_error_string(int errorcode)
{
  return first_error([&] { return check_added(errorcode); },
                     [&] {
                       AddedErrors::of_this_rank().codes.at(errorcode).text.clear();
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Error_class(int errorcode, int* errorclass)
{
  static const auto THEIRS = original(&PMPI_Error_class);
  if (is_of_mpi(errorcode))
    return THEIRS(errorcode, errorclass);
  return first_error([&] { return check_added(errorcode); }, [&] { return check_present(errorclass, "errorclass"); },
                     [&] {
                       *errorclass = AddedErrors::of_this_rank().find(errorcode)->of_class;
                       return MPI_SUCCESS;
                     });
}

/** An invalid call sets an empty string, where SMPI would leave the old contents. */
WEFT_INTERPOSED int PMPI_Error_string(int errorcode, char* string, int* length)
{
  static const auto THEIRS = original(&PMPI_Error_string);
  const int present =
      first_error([&] { return check_present(string, "string"); }, [&] { return check_present(length, "resultlen"); });
  if (present != MPI_SUCCESS)
    return present;
  *string = '\0';
  *length = 0;
  if (const auto newer = newer_classes().find(errorcode); newer != newer_classes().end()) {
    *length         = static_cast<int>(std::string_view(newer->second).copy(string, MPI_MAX_ERROR_STRING - 1));
    string[*length] = '\0';
    return MPI_SUCCESS;
  }
  if (is_of_mpi(errorcode))
    return THEIRS(errorcode, string, length);
  return first_error([&] { return check_added(errorcode); },
                     [&] {
                       const std::string& text = AddedErrors::of_this_rank().find(errorcode)->text;
                       *length                 = static_cast<int>(text.copy(string, MPI_MAX_ERROR_STRING - 1));
                       string[*length]         = '\0';
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
  static const auto THEIRS = original(&PMPI_Comm_call_errhandler);
  return call_handler(
      "MPI_Comm_call_errhandler", errorcode, [&](auto* handler) { return PMPI_Comm_get_errhandler(comm, handler); },
      [&] { return THEIRS(comm, errorcode); });
}

WEFT_INTERPOSED int PMPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
  static const auto THEIRS = original(&PMPI_Win_call_errhandler);
  return call_handler(
      "MPI_Win_call_errhandler", errorcode, [&](auto* handler) { return PMPI_Win_get_errhandler(win, handler); },
      [&] { return THEIRS(win, errorcode); });
}

WEFT_INTERPOSED int PMPI_Attr_get(MPI_Comm comm, int keyval, void* value, int* flag)
{
  static const auto THEIRS = original(&PMPI_Attr_get);
  return with_own_values(THEIRS(real_communicator(comm), keyval, value, flag), keyval, value, flag);
}

WEFT_INTERPOSED int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag)
{
  static const auto THEIRS = original(&PMPI_Comm_get_attr);
  note_call(CallIdentity("Comm_get_attr", {number_of_handle(comm), keyval}));
  return with_own_values(THEIRS(real_communicator(comm), keyval, value, flag), keyval, value, flag);
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
