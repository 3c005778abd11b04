// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/requests/replaced_data.hpp"

#include "binding/data/elements.hpp"
#include "binding/data/exchange.hpp"
#include "binding/entries/frame/mpi_errors.hpp"
#include "binding/entries/requests/persistent.hpp"

#include <memory>

namespace weft {
namespace {

bool can_be_copied(const void* buffer, int count, MPI_Datatype type)
{
  return count == 0 || (count > 0 && buffer && check_type(type) == MPI_SUCCESS);
}

} // namespace

// NOLINTBEGIN(readability-identifier-naming): MPI's names

int copied_Sendrecv_replace(decltype(&PMPI_Sendrecv_replace) next_definition, void* buffer, int count,
                            MPI_Datatype type, int to, int send_tag, int from, int receive_tag, MPI_Comm comm,
                            MPI_Status* status)
{
  if (not can_be_copied(buffer, count, type))
    return next_definition(buffer, count, type, to, send_tag, from, receive_tag, comm, status);
  const Values sent(address(buffer), count, type);
  return PMPI_Sendrecv(sent.data(), count, type, to, send_tag, buffer, count, type, from, receive_tag, comm, status);
}

int copied_Isendrecv_replace(decltype(&PMPI_Isendrecv_replace) next_definition, void* buffer, int count,
                             MPI_Datatype type, int to, int send_tag, int from, int receive_tag, MPI_Comm comm,
                             MPI_Request* request)
{
  if (not request || not can_be_copied(buffer, count, type))
    return next_definition(buffer, count, type, to, send_tag, from, receive_tag, comm, request);
  const auto sent = std::make_shared<const Values>(address(buffer), count, type);
  const int result =
      PMPI_Isendrecv(sent->data(), count, type, to, send_tag, buffer, count, type, from, receive_tag, comm, request);
  if (result == MPI_SUCCESS && *request != MPI_REQUEST_NULL)
    on_completion(*request, [sent] {});
  return result;
}

// NOLINTEND(readability-identifier-naming)

} // namespace weft
