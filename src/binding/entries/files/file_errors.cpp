// SPDX-License-Identifier: LGPL-2.1-only
/* Error handlers of files (MPI 4.1, section 14.7). Newly opened files inherit the handler of MPI_FILE_NULL, which is
 * initially MPI_ERRORS_RETURN. */
#include "binding/abi/smpi/error_handlers.hpp"
#include "binding/entries/files/file_functions.hpp"
#include "binding/ranks/actor_map.hpp"
#include "binding/ranks/current.hpp"
#include "binding/ranks/places.hpp"

namespace weft {

MPI_Errhandler& default_file_handler()
{
  static ActorMap<MPI_Errhandler> all;
  MPI_Errhandler& its = all[current_actor()];
  if (its == MPI_ERRHANDLER_NULL)
    its = MPI_ERRORS_RETURN;
  return its;
}

int handled_by_file(MPI_File file, const char* function, int result)
{
  const bool known             = file != MPI_FILE_NULL && FileSystem::get()->knows(file);
  const MPI_Errhandler handler = known ? FileHandle::of(file).handler : default_file_handler();
  const bool programs =
      handler != MPI_ERRORS_ARE_FATAL && handler != MPI_ERRORS_RETURN && handler != MPI_ERRHANDLER_NULL;
  handled_by(programs ? MPI_ERRORS_RETURN : handler, MPI_COMM_NULL, function, result);
  if (programs && result != MPI_SUCCESS)
    handler->call(file, result);
  return result;
}

bool is_in_simgrids_trace(std::string_view function)
{
  constexpr std::string_view READ  = "File_read";
  constexpr std::string_view WRITE = "File_write";
  return not FileSystem::get() && (function.starts_with(READ) || function.starts_with(WRITE));
}

int check_file(MPI_File file)
{
  if (not is_in_mpi())
    return wrong(MPI_ERR_OTHER, "MPI is not initialized, or finalized");
  if (file == MPI_FILE_NULL)
    return wrong(MPI_ERR_FILE, "the file is MPI_FILE_NULL");
  return FileSystem::get()->knows(file) ? static_cast<int>(MPI_SUCCESS)
                                        : wrong(MPI_ERR_FILE, "the file has been closed");
}

int check_readable(const FileHandle& handle)
{
  return not has_mode(handle.file->mode, MPI_MODE_WRONLY)
             ? static_cast<int>(MPI_SUCCESS)
             : wrong(MPI_ERR_ACCESS, handle.file->name + " is open for writing only (MPI_MODE_WRONLY)");
}

int check_writable(const FileHandle& handle)
{
  return not has_mode(handle.file->mode, MPI_MODE_RDONLY)
             ? static_cast<int>(MPI_SUCCESS)
             : wrong(MPI_ERR_READ_ONLY, handle.file->name + " is open for reading only (MPI_MODE_RDONLY)");
}

int check_not_sequential(const FileHandle& handle)
{
  return not has_mode(handle.file->mode, MPI_MODE_SEQUENTIAL)
             ? static_cast<int>(MPI_SUCCESS)
             : wrong(MPI_ERR_UNSUPPORTED_OPERATION,
                     handle.file->name + " is open with MPI_MODE_SEQUENTIAL, for accesses by the shared pointer only");
}

namespace {

int set_file_handler(MPI_File file, MPI_Errhandler handler)
{
  if (handler == MPI_ERRHANDLER_NULL)
    return wrong(MPI_ERR_ARG, "the error handler is MPI_ERRHANDLER_NULL");
  if (file != MPI_FILE_NULL)
    if (const int result = check_file(file); result != MPI_SUCCESS)
      return result;
  MPI_Errhandler& its = file == MPI_FILE_NULL ? default_file_handler() : FileHandle::of(file).handler;
  handler->ref();
  simgrid::smpi::Errhandler::unref(its);
  its = handler;
  return MPI_SUCCESS;
}

int get_file_handler(MPI_File file, MPI_Errhandler* handler)
{
  if (file != MPI_FILE_NULL)
    if (const int result = check_file(file); result != MPI_SUCCESS)
      return result;
  if (const int result = check_present(handler, "errhandler"); result != MPI_SUCCESS)
    return result;
  *handler = file == MPI_FILE_NULL ? default_file_handler() : FileHandle::of(file).handler;
  (*handler)->ref();
  return MPI_SUCCESS;
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_FILE_QUERY(File_set_errhandler, file, (MPI_File file, MPI_Errhandler errhandler),
                set_file_handler(file, errhandler), file, errhandler)
WEFT_FILE_QUERY(File_get_errhandler, file, (MPI_File file, MPI_Errhandler* errhandler),
                get_file_handler(file, errhandler), file, errhandler)

WEFT_INTERPOSED int PMPI_File_call_errhandler(MPI_File file, int errorcode)
{
  static const auto THEIRS = original<decltype(&PMPI_File_call_errhandler)>("PMPI_File_call_errhandler");
  if (not FileSystem::get())
    return THEIRS(file, errorcode);
  if (const int result = check_file(file); result != MPI_SUCCESS)
    return result;
  handled_by_file(file, "MPI_File_call_errhandler", errorcode);
  return MPI_SUCCESS;
}
WEFT_FILE_HANDLED(File_call_errhandler, file, (MPI_File file, int errorcode), file, errorcode)

} // extern "C"
// NOLINTEND(readability-identifier-naming)
