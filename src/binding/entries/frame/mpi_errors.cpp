// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/frame/mpi_errors.hpp"

#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/datatypes.hpp"
#include "binding/abi/smpi/error_handlers.hpp"
#include "binding/abi/smpi/handles.hpp"
#include "binding/entries/frame/current_run.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/intercommunicators.hpp"
#include "binding/ranks/places.hpp"
#include "binding/ranks/world_placeholder.hpp"

#include <array>
#include <utility>

namespace weft {
namespace {

std::string& reason_of_error()
{
  static std::string reason;
  return reason;
}

std::string error_name(int code)
{
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  PMPI_Error_string(code, text.data(), &length);
  const std::string all(text.data(), static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(" :"));
}

} // namespace

int wrong(int code, std::string reason)
{
  reason_of_error() = std::move(reason);
  return code;
}

std::string take_reason()
{
  return std::exchange(reason_of_error(), "");
}

int wrong_number(int code, const std::string& name, std::int64_t found, const std::string& allowed)
{
  return wrong(code, name + " is " + std::to_string(found) + "; allowed: " + allowed);
}

int wrong_rank(int code, const std::string& name, int found, MPI_Comm comm)
{
  return wrong_number(code, name, found, "0 to " + std::to_string(place_in(comm).size - 1));
}

int handled_by(MPI_Errhandler handler, MPI_Comm object, const char* function, int result)
{
  const std::string reason = take_reason();
  if (result == MPI_SUCCESS)
    return result;
  if (handler == MPI_ERRORS_ARE_FATAL) {
    const auto rank = rank_here();
    current_run().abort("error", (rank ? "rank " + std::to_string(*rank) : std::string("a thread of the program")) +
                                     " called " + function + ", which failed with " + error_name(result) +
                                     (reason.empty() ? "" : " (" + reason + ")") +
                                     "; the error handler MPI_ERRORS_ARE_FATAL ends the program");
  }
  if (handler != MPI_ERRHANDLER_NULL && handler != MPI_ERRORS_RETURN)
    handler->call(object, result);
  return result;
}

int handled(MPI_Comm comm, const char* function, int result)
{
  if (result == MPI_SUCCESS) {
    reason_of_error().clear();
    return result;
  }
  if (comm == MPI_COMM_NULL || comm == MPI_COMM_WORLD || is_freed(comm))
    comm = own_world();
  const MPI_Errhandler handler = comm->errhandler();
  handled_by(handler, comm, function, result);
  if (handler != MPI_ERRHANDLER_NULL)
    simgrid::smpi::Errhandler::unref(handler);
  return result;
}

int check_comm(MPI_Comm comm)
{
  if (not is_in_mpi())
    return wrong(MPI_ERR_OTHER, "MPI is not initialized, or finalized");
  if (comm == MPI_COMM_NULL)
    return wrong(MPI_ERR_COMM, "the communicator is MPI_COMM_NULL");
  return is_freed(comm) ? wrong(MPI_ERR_COMM, "the communicator has been freed") : MPI_SUCCESS;
}

int check_intracommunicator(MPI_Comm comm)
{
  return intercommunicator_of(comm) ? wrong(MPI_ERR_COMM, "the communicator is an intercommunicator")
                                    : static_cast<int>(MPI_SUCCESS);
}

bool is_freed(const void* object)
{
  return static_cast<const simgrid::smpi::HandleLayout*>(object)->deleted;
}

int check_type(MPI_Datatype type)
{
  if (type == MPI_DATATYPE_NULL)
    return wrong(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
  if (is_freed(type))
    return wrong(MPI_ERR_TYPE, "the datatype has been freed");
  return type->is_valid() ? MPI_SUCCESS : wrong(MPI_ERR_TYPE, "the datatype has not been committed by MPI_Type_commit");
}

int check_buffer(const void* buffer, int count, MPI_Datatype type)
{
  if (count < 0)
    return wrong_number(MPI_ERR_COUNT, "a count", count, "from 0 on");
  if (buffer == MPI_IN_PLACE)
    return wrong(MPI_ERR_BUFFER, "a buffer is MPI_IN_PLACE, which this call does not allow");
  if (const int result = check_type(type); result != MPI_SUCCESS)
    return result;
  return not buffer && count > 0 ? wrong(MPI_ERR_BUFFER, "a buffer is NULL") : MPI_SUCCESS;
}

int check_uneven_blocks(const void* buffer, const int* counts, const void* displacements, MPI_Datatype type, int blocks)
{
  if (blocks == 0)
    return MPI_SUCCESS;
  if (not counts || not displacements)
    return wrong(MPI_ERR_ARG, "counts or displacements are NULL");
  for (int block = 0; block < blocks; ++block)
    if (const int result = check_buffer(buffer, counts[block], type); result != MPI_SUCCESS)
      return result;
  return MPI_SUCCESS;
}

int check_uneven_blocks(const void* buffer, const int* counts, const void* displacements, const MPI_Datatype* types,
                        int blocks)
{
  if (blocks == 0)
    return MPI_SUCCESS;
  if (not counts || not displacements || not types)
    return wrong(MPI_ERR_ARG, "counts, displacements or datatypes are NULL");
  for (int block = 0; block < blocks; ++block)
    if (const int result = check_buffer(buffer, counts[block], types[block]); result != MPI_SUCCESS)
      return result;
  return MPI_SUCCESS;
}

int refuse_null(const char* name)
{
  return wrong(MPI_ERR_ARG, std::string(name) + " is NULL");
}

} // namespace weft
