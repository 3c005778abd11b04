// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/requests/null_peers.hpp"

#include "binding/entries/requests/persistent.hpp"

#include <memory>

namespace weft {
namespace {

/** Persistent message to or from MPI_PROC_NULL. Its active request is SMPI's receive from MPI_PROC_NULL, whose status
 * names no other rank. */
class NullMessage : public PersistentOperation {
public:
  int start(MPI_Request* active) override
  {
    return PMPI_Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, active);
  }
};

} // namespace

int add_null_message(int result, int peer, const MPI_Request* request)
{
  if (result == MPI_SUCCESS && peer == MPI_PROC_NULL && not persistent_operation(*request))
    add_persistent(std::make_unique<NullMessage>(), *request);
  return result;
}

// NOLINTBEGIN(readability-identifier-naming): MPI's names

int null_peer_Recv_init(decltype(&PMPI_Recv_init) next_definition, void* buffer, int count, MPI_Datatype type, int peer,
                        int tag, MPI_Comm comm, MPI_Request* request)
{
  return add_null_message(next_definition(buffer, count, type, peer, tag, comm, request), peer, request);
}

int null_peer_Send_init(decltype(&PMPI_Send_init) next_definition, const void* buffer, int count, MPI_Datatype type,
                        int peer, int tag, MPI_Comm comm, MPI_Request* request)
{
  return add_null_message(next_definition(buffer, count, type, peer, tag, comm, request), peer, request);
}

int null_peer_Rsend_init(decltype(&PMPI_Send_init) next_definition, const void* buffer, int count, MPI_Datatype type,
                         int peer, int tag, MPI_Comm comm, MPI_Request* request)
{
  return null_peer_Send_init(next_definition, buffer, count, type, peer, tag, comm, request);
}

int null_peer_Ssend_init(decltype(&PMPI_Send_init) next_definition, const void* buffer, int count, MPI_Datatype type,
                         int peer, int tag, MPI_Comm comm, MPI_Request* request)
{
  return null_peer_Send_init(next_definition, buffer, count, type, peer, tag, comm, request);
}

// NOLINTEND(readability-identifier-naming)

} // namespace weft
