// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/point_to_point/direct_messages.hpp"

#include "binding/abi/smpi/groups.hpp"
#include "binding/abi/smpi/handles.hpp"
#include "binding/abi/smpi/requests.hpp"
#include "binding/observe/call_trace.hpp"
#include "binding/point_to_point/own_messages.hpp"
#include "binding/point_to_point/pooled_requests.hpp"
#include "binding/point_to_point/waits.hpp"
#include "binding/ranks/current.hpp"
#include "binding/ranks/places.hpp"
#include "binding/requests/kept_error.hpp"
#include "binding/settings/tunings.hpp"
#include "mpi/names.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace weft {
namespace {

struct KnownType {
  MPI_Datatype type;
  std::size_t size;
};

/** Predefined datatypes of messages that SMPI has accepted. */
std::vector<KnownType>& known_types()
{
  static std::vector<KnownType> types;
  return types;
}

const KnownType* known_type(MPI_Datatype type)
{
  const std::vector<KnownType>& types = known_types();
  const auto found                    = std::ranges::find(types, type, &KnownType::type);
  return found == types.end() ? nullptr : &*found;
}

/** Returns @p result of a call through SMPI, and records the datatype on success. */
int learn_type(int result, MPI_Datatype type)
{
  if (result != MPI_SUCCESS || known_type(type) || not is_predefined(type))
    return result;
  int size     = 0;
  MPI_Aint low = 0;
  MPI_Aint all = 0;
  PMPI_Type_size(type, &size);
  PMPI_Type_get_extent(type, &low, &all);
  if (low == 0 && all == size) // otherwise SMPI packs the data
    known_types().push_back({type, static_cast<std::size_t>(size)});
  return result;
}

/** Returns a buffer that SMPI accepts: it refuses NULL for elements without data. */
const void* accepted(const void* buffer, MPI_Datatype type)
{
  int size = 1;
  return not buffer && PMPI_Type_size(type, &size) == MPI_SUCCESS && size == 0 ? MPI_BOTTOM : buffer;
}

void* accepted(void* buffer, MPI_Datatype type)
{
  return const_cast<void*>(
      accepted(static_cast<const void*>(buffer), type)); // NOLINT(cppcoreguidelines-pro-type-const-cast): as it came
}

/** One side of a message, as given by the program. */
struct MessageArguments {
  const void* buffer;
  int count;
  MPI_Datatype type;
  int peer;
  int tag;
};

struct DirectMessage {
  const KnownType* type;
  aid_t peer; ///< actor, or MPI_ANY_SOURCE
};

/** Returns the data needed for a direct call; nothing if SMPI must make the call. */
std::optional<DirectMessage> check_direct(const MessageArguments& side, MPI_Comm comm, bool receives)
{
  if (not OwnMessages::get() || not calls_are_direct() || not side.buffer || side.buffer == MPI_IN_PLACE ||
      side.count < 0 || not is_in_mpi() || comm == MPI_COMM_NULL ||
      reinterpret_cast<const simgrid::smpi::HandleLayout*>(comm)->deleted)
    return std::nullopt;
  if (side.tag < 0 && not(receives && side.tag == MPI_ANY_TAG))
    return std::nullopt;
  const KnownType* const type = known_type(side.type);
  if (not type)
    return std::nullopt;
  if (receives && side.peer == MPI_ANY_SOURCE)
    return DirectMessage{type, MPI_ANY_SOURCE};
  const aid_t peer = group_of(comm)->actor(side.peer);
  if (peer < 0)
    return std::nullopt;
  return DirectMessage{type, peer};
}

MPI_Request start_direct(const MessageArguments& side, const DirectMessage& message, MPI_Comm comm, unsigned flags)
{
  const aid_t self    = current_actor();
  const bool receives = (flags & simgrid::smpi::RECEIVE_FLAG) != 0;
  const aid_t from    = receives ? message.peer : self;
  const RequestArguments arguments{
      .buffer      = const_cast<void*>(side.buffer), // NOLINT(cppcoreguidelines-pro-type-const-cast): as in SMPI
      .type        = side.type,
      .size        = static_cast<std::size_t>(side.count) * message.type->size,
      .source      = from,
      .destination = receives ? self : message.peer,
      .source_host = from == MPI_ANY_SOURCE ? nullptr : OwnMessages::get()->host_of(from),
      .tag         = side.tag,
      .comm        = comm,
      .flags       = flags};
  // A trace must name each request, so sends cannot share one.
  const bool shares         = (flags & simgrid::smpi::NONBLOCKING_SEND_FLAG) != 0 &&
                              OwnMessages::get()->detaches(arguments.size) && not CallTrace::get();
  MPI_Request const request = shares ? request_of_sends(arguments) : pooled_request(arguments);
  request->start();
  if (shares)
    share_sends(request);
  return request;
}

} // namespace

// NOLINTBEGIN(readability-identifier-naming): MPI's names

int direct_Isend(decltype(&PMPI_Isend) next_definition, const void* buffer, int count, MPI_Datatype type, int to,
                 int tag, MPI_Comm comm, MPI_Request* request)
{
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  const MessageArguments side{buffer, count, type, to, tag};
  const std::optional<DirectMessage> message = request ? check_direct(side, comm, false) : std::nullopt;
  if (not request || not message)
    return learn_type(next_definition(accepted(buffer, type), count, type, to, tag, comm, request), type);
  *request = start_direct(side, *message, comm, SEND_FLAG | NONBLOCKING_SEND_FLAG);
  return MPI_SUCCESS;
}

int direct_Irecv(decltype(&PMPI_Irecv) next_definition, void* buffer, int count, MPI_Datatype type, int from, int tag,
                 MPI_Comm comm, MPI_Request* request)
{
  const MessageArguments side{buffer, count, type, from, tag};
  const std::optional<DirectMessage> message = request ? check_direct(side, comm, true) : std::nullopt;
  if (not request || not message)
    return learn_type(next_definition(accepted(buffer, type), count, type, from, tag, comm, request), type);
  *request = start_direct(side, *message, comm, simgrid::smpi::RECEIVE_FLAG);
  return MPI_SUCCESS;
}

int direct_Send(decltype(&PMPI_Send) next_definition, const void* buffer, int count, MPI_Datatype type, int to, int tag,
                MPI_Comm comm)
{
  const MessageArguments side{buffer, count, type, to, tag};
  const std::optional<DirectMessage> message = check_direct(side, comm, false);
  if (not message)
    return learn_type(next_definition(accepted(buffer, type), count, type, to, tag, comm), type);
  MPI_Request request = start_direct(side, *message, comm, simgrid::smpi::SEND_FLAG);
  return wait_for_pooled(&request, MPI_STATUS_IGNORE);
}

int direct_Recv(decltype(&PMPI_Recv) next_definition, void* buffer, int count, MPI_Datatype type, int from, int tag,
                MPI_Comm comm, MPI_Status* status)
{
  const KeptError kept(status);
  const MessageArguments side{buffer, count, type, from, tag};
  const std::optional<DirectMessage> message = check_direct(side, comm, true);
  if (not message)
    return learn_type(next_definition(accepted(buffer, type), count, type, from, tag, comm, status), type);
  MPI_Request request = start_direct(side, *message, comm, simgrid::smpi::RECEIVE_FLAG);
  return wait_for_pooled(&request, status);
}

int direct_Sendrecv(decltype(&PMPI_Sendrecv) next_definition, const void* sent, int send_count, MPI_Datatype send_type,
                    int to, int send_tag, void* received, int receive_count, MPI_Datatype receive_type, int from,
                    int receive_tag, MPI_Comm comm, MPI_Status* status)
{
  const KeptError kept(status);
  using namespace simgrid::smpi; // NOLINT(google-build-using-namespace): what requests are made of
  const MessageArguments out{sent, send_count, send_type, to, send_tag};
  const MessageArguments in{received, receive_count, receive_type, from, receive_tag};
  const std::optional<DirectMessage> sends    = sent == received ? std::nullopt : check_direct(out, comm, false);
  const std::optional<DirectMessage> receives = sends ? check_direct(in, comm, true) : std::nullopt;
  if (not receives || sends->peer == current_actor()) { // SMPI copies messages of a rank to itself
    const int result = next_definition(sent, send_count, send_type, to, send_tag, received, receive_count, receive_type,
                                       from, receive_tag, comm, status);
    return learn_type(learn_type(result, send_type), receive_type);
  }
  std::array<MPI_Request, 2> requests{start_direct(out, *sends, comm, SEND_FLAG | NONBLOCKING_SEND_FLAG),
                                      start_direct(in, *receives, comm, RECEIVE_FLAG)};
  std::array<MPI_Status, 2> statuses;
  const int result = wait_for_plain(requests, statuses.data());
  if (status != MPI_STATUS_IGNORE)
    *status = statuses[1];
  return result == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

// NOLINTEND(readability-identifier-naming)

} // namespace weft
