// SPDX-License-Identifier: LGPL-2.1-only
/* Common parts of MPI I/O functions, which are SMPI's on SimGrid platforms and otherwise weft's: profile, trace, checks
 * and error handlers of files. */
#pragma once

#include "binding/abi/original.hpp"
#include "binding/entries/frame/mpi_errors.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/files/file_access.hpp"
#include "binding/observe/profile.hpp"
#include "binding/observe/traced_call.hpp"

#include <smpi/smpi.h>

#include <string_view>
#include <type_traits>
#include <utility>

namespace weft {

/** Calls the error handler of a file, or of MPI_FILE_NULL, if @p result is an error. @return @p result */
int handled_by_file(MPI_File file, const char* function, int result);

/** Error handler of MPI_FILE_NULL of the current rank, with a reference. */
MPI_Errhandler& default_file_handler();

/** Sets the hints contained in an info object; it may be MPI_INFO_NULL. */
void read_hints(MPI_Info info, RomioHints& hints);

/** Checks of arguments: return MPI_SUCCESS or an error class. */
int check_file(MPI_File file);
int check_readable(const FileHandle& handle);
int check_writable(const FileHandle& handle);
/** Refuses accesses that MPI_MODE_SEQUENTIAL excludes. */
int check_not_sequential(const FileHandle& handle);

/** Executes weft's file function @p execute (files, handle), unless the handle is invalid. */
template <class Execute> int on_file(MPI_File file, Execute&& execute)
{
  const InMpi inside;
  if (const int result = check_file(file); result != MPI_SUCCESS)
    return result;
  return execute(*FileSystem::get(), FileHandle::of(file));
}

/** Returns whether SimGrid's own trace shows calls of SMPI's function, as it does for its blocking accesses. */
bool is_in_simgrids_trace(std::string_view function);

/** Executes a call that takes time, and writes its line to the trace. */
template <class Name, class Execute, class... Arguments>
int timed_file_call(MpiFunction& function, Execute&& execute, Arguments... arguments)
{
  const TimedCall timed(function);
  if (not timed.outermost() || not CallTrace::get())
    return execute();
  auto traced = traced_call<Name>(true, arguments...);
  return traced.end(execute());
}

/** Sets the result of a query, unless the pointer is null. */
template <class Value, class Ask> int answer(MPI_File file, Value* into, const char* name, Ask&& ask)
{
  return on_file(file, [&](FileSystem& files, FileHandle& handle) {
    if (const int result = check_present(into, name); result != MPI_SUCCESS)
      return result;
    *into = ask(files, handle);
    return static_cast<int>(MPI_SUCCESS);
  });
}

/** Joins the collective call that @p begin (steps) describes, and blocks until its end. */
template <class Begin> void take_part(FileSystem& files, FileHandle& handle, Begin&& begin)
{
  const auto completion = join_call(
      handle, false, [](CollectiveFileCall&, const std::shared_ptr<FileCompletion>&) {},
      [&](const std::shared_ptr<CollectiveFileCall>& call) {
        const auto steps = FileSteps::make();
        begin(*steps);
        files.begin(steps, [call] {
          for (const auto& one : call->completions)
            one->fire();
        });
      });
  completion->wait();
}

/** Clears the cancelled flag of a status among the arguments, whose field also holds the upper bits of the count for
 * status_bytes(): SMPI's file functions only set the lower bits. */
template <class... Arguments> void clear_flag_of_status(Arguments... arguments)
{
  const auto clear = [](auto argument) {
    if constexpr (std::is_same_v<decltype(argument), MPI_Status*>)
      if (argument != MPI_STATUS_IGNORE)
        argument->cancelled = 0;
  };
  (clear(arguments), ...);
}

/** Executes steps of the calling rank alone, and blocks until their end. */
template <class Add> void take_steps(FileSystem& files, Add&& add)
{
  const auto steps      = FileSteps::make();
  const auto completion = std::make_shared<FileCompletion>();
  add(*steps);
  files.begin(steps, [completion] { completion->fire(); });
  completion->wait();
}

} // namespace weft

/** Defines MPI_@p name by PMPI_@p name and the error handler of @p file. */
#define WEFT_FILE_HANDLED(name, file, parameters, ...)                                                                 \
  WEFT_INTERPOSED int MPI_##name parameters                                                                            \
  {                                                                                                                    \
    static const auto THEIRS = weft::original<decltype(&MPI_##name)>("MPI_" #name);                                    \
    return weft::FileSystem::get() ? weft::handled_by_file(file, "MPI_" #name, PMPI_##name(__VA_ARGS__))               \
                                   : THEIRS(__VA_ARGS__);                                                              \
  }

/** Defines PMPI_@p name: SMPI's on its platforms, else @p own; and MPI_@p name. */
#define WEFT_FILE_QUERY(name, file, parameters, own, ...)                                                              \
  WEFT_INTERPOSED int PMPI_##name parameters                                                                           \
  {                                                                                                                    \
    static const auto THEIRS = weft::original<decltype(&PMPI_##name)>("PMPI_" #name);                                  \
    return weft::FileSystem::get() ? own : THEIRS(__VA_ARGS__);                                                        \
  }                                                                                                                    \
  WEFT_FILE_HANDLED(name, file, parameters, __VA_ARGS__)

/** Defines both for a function that takes time. */
#define WEFT_FILE_CALL(name, file, parameters, own, ...)                                                               \
  WEFT_INTERPOSED int PMPI_##name parameters                                                                           \
  {                                                                                                                    \
    static const auto THEIRS = weft::original<decltype(&PMPI_##name)>("PMPI_" #name);                                  \
    static weft::MpiFunction function{"MPI_" #name, weft::CallKind::io, weft::is_in_simgrids_trace(#name)};            \
    return weft::timed_file_call<weft::trace::calls::name>(                                                            \
        function,                                                                                                      \
        [&] {                                                                                                          \
          if (weft::FileSystem::get())                                                                                 \
            return own;                                                                                                \
          weft::clear_flag_of_status(__VA_ARGS__);                                                                     \
          return THEIRS(__VA_ARGS__);                                                                                  \
        },                                                                                                             \
        __VA_ARGS__);                                                                                                  \
  }                                                                                                                    \
  WEFT_FILE_HANDLED(name, file, parameters, __VA_ARGS__)
