// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/requests/send_buffers.hpp"

#include "binding/entries/frame/mpi_errors.hpp"
#include "binding/entries/requests/null_peers.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/current.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace weft {
namespace {

using SendBuffers = std::map<BufferOwner, SendBuffer>;

/** Buffers of each rank that has any. */
std::map<aid_t, SendBuffers>& send_buffers()
{
  static auto& all = *new std::map<aid_t, SendBuffers>; // leaked, since ranks may end during static destruction
  return all;
}

/** Returns the buffer for a send; null if the process's buffer applies. */
const SendBuffer* buffer_for(MPI_Comm comm)
{
  if (send_buffers().empty() || comm == MPI_COMM_NULL)
    return nullptr;
  const auto rank = send_buffers().find(current_actor());
  if (rank == send_buffers().end())
    return nullptr;
  const SendBuffers& its = rank->second;
  if (const auto found = its.find({.communicator = number_of(comm)}); found != its.end())
    return &found->second;
  const auto found = std::ranges::find_if(its, [](const auto& entry) { return entry.first.session != nullptr; });
  return found == its.end() ? nullptr : &found->second;
}

/** Scope in which the process's buffer is replaced. */
class OtherBuffer {
  bool other_;
  void* address_ = nullptr;
  int size_      = 0;

public:
  explicit OtherBuffer(const SendBuffer* buffer) : other_(buffer != nullptr)
  {
    if (not other_)
      return;
    PMPI_Buffer_detach(static_cast<void*>(&address_), &size_);
    constexpr MPI_Count MOST = std::numeric_limits<int>::max();
    const MPI_Count size     = buffer->address == AUTOMATIC_BUFFER ? MOST : std::min(buffer->size, MOST);
    PMPI_Buffer_attach(buffer->address, static_cast<int>(size));
  }
  OtherBuffer(const OtherBuffer&)            = delete;
  OtherBuffer& operator=(const OtherBuffer&) = delete;
  ~OtherBuffer()
  {
    if (not other_)
      return;
    void* address = nullptr;
    int size      = 0;
    PMPI_Buffer_detach(static_cast<void*>(&address), &size);
    if (address_)
      PMPI_Buffer_attach(address_, size_);
  }
};

} // namespace

int attach_buffer(const BufferOwner& owner, const SendBuffer& buffer)
{
  if (not buffer.address)
    return wrong(MPI_ERR_BUFFER, "the buffer is NULL");
  if (buffer.size < 0)
    return wrong_number(MPI_ERR_ARG, "the buffer's size", buffer.size, "from 0 on");
  return send_buffers()[current_actor()].emplace(owner, buffer).second
             ? static_cast<int>(MPI_SUCCESS)
             : wrong(MPI_ERR_BUFFER, "a buffer is attached already");
}

int detach_buffer(const BufferOwner& owner, SendBuffer& buffer)
{
  const auto rank  = send_buffers().find(current_actor());
  const auto found = rank == send_buffers().end() ? SendBuffers::iterator() : rank->second.find(owner);
  if (rank == send_buffers().end() || found == rank->second.end())
    return wrong(MPI_ERR_BUFFER, "no buffer is attached");
  buffer = found->second;
  rank->second.erase(found);
  if (rank->second.empty())
    send_buffers().erase(rank);
  return MPI_SUCCESS;
}

// NOLINTBEGIN(readability-identifier-naming): MPI's names
int buffered_Bsend(decltype(&PMPI_Bsend) next_definition, const void* data, int count, MPI_Datatype type, int to,
                   int tag, MPI_Comm comm)
{
  const OtherBuffer scope(buffer_for(comm));
  return next_definition(data, count, type, to, tag, comm);
}

int buffered_Ibsend(decltype(&PMPI_Ibsend) next_definition, const void* data, int count, MPI_Datatype type, int to,
                    int tag, MPI_Comm comm, MPI_Request* request)
{
  const OtherBuffer scope(buffer_for(comm));
  return next_definition(data, count, type, to, tag, comm, request);
}

int buffered_Bsend_init(decltype(&PMPI_Bsend_init) next_definition, const void* data, int count, MPI_Datatype type,
                        int to, int tag, MPI_Comm comm, MPI_Request* request)
{
  const OtherBuffer scope(buffer_for(comm));
  return add_null_message(next_definition(data, count, type, to, tag, comm, request), to, request);
}
// NOLINTEND(readability-identifier-naming)

} // namespace weft
