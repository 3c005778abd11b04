// SPDX-License-Identifier: LGPL-2.1-only
/* Matched probes and receives (MPI 4.1, section 3.8.2), which SMPI lacks. A matched probe removes the message from
 * weft's unexpected message queue. SMPI's transport (--messages smpi) has no such queue: there the probe begins to
 * receive the message into its own memory, so a rendezvous message already leaves then. */
#include "binding/abi/original.hpp"
#include "binding/abi/smpi/communicators.hpp"
#include "binding/abi/smpi/groups.hpp"
#include "binding/abi/smpi/statuses.hpp"
#include "binding/data/elements.hpp"
#include "binding/data/exchange.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/entries/requests/persistent.hpp"
#include "binding/point_to_point/own_messages.hpp"
#include "binding/ranks/places.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace weft {
namespace {

/** Object behind an MPI_Message. */
struct MatchedMessage {
  std::uint64_t message;
  int source; ///< rank
  int tag;
  MPI_Comm comm;
  MPI_Request early           = MPI_REQUEST_NULL; ///< SMPI's transport: receive of the packed data
  std::vector<std::byte> data = {};               ///< data of that receive
};

/** Messages that have been probed but not received. */
std::unordered_set<const void*>& matched_messages()
{
  static std::unordered_set<const void*> all;
  return all;
}

/** MPI_MESSAGE_NO_PROC in weft's mpi.h: the message of a probe of MPI_PROC_NULL. */
MPI_Message no_message()
{
  constexpr std::uintptr_t NO_PROCESS = 1;
  return reinterpret_cast<MPI_Message>(NO_PROCESS); // NOLINT(performance-no-int-to-ptr): a value, not an address
}

/** Sets a status except its error, which only functions with several statuses set (MPI 4.1, 3.2.5). */
void set_status(MPI_Status* status, const MPI_Status& seen)
{
  if (status == MPI_STATUS_IGNORE)
    return;
  const int error   = status->MPI_ERROR;
  *status           = seen;
  status->MPI_ERROR = error;
}

void set_empty_status(MPI_Status* status)
{
  if (status == MPI_STATUS_IGNORE)
    return;
  MPI_Status none;
  simgrid::smpi::Status::empty(&none);
  none.MPI_SOURCE = MPI_PROC_NULL;
  none.MPI_TAG    = MPI_ANY_TAG;
  set_status(status, none);
}

int check_probe(int source, int tag, MPI_Comm comm)
{
  if (const int result = check_comm(comm); result != MPI_SUCCESS)
    return result;
  if (source != MPI_ANY_SOURCE && source != MPI_PROC_NULL && (source < 0 || source >= place_in(comm).size))
    return wrong_rank(MPI_ERR_RANK, "the source", source, comm);
  return tag < 0 && tag != MPI_ANY_TAG ? wrong_number(MPI_ERR_TAG, "the tag", tag, "from 0 on") : MPI_SUCCESS;
}

/** Removes the message that a probe has seen from the queue. */
MPI_Message take_seen(const MPI_Status& seen, MPI_Comm comm)
{
  auto message = std::make_unique<MatchedMessage>(MatchedMessage{0, seen.MPI_SOURCE, seen.MPI_TAG, comm});
  if (OwnMessages* const messages = OwnMessages::get()) {
    message->message = messages->extract(comm->group()->actor(seen.MPI_SOURCE), seen.MPI_TAG, comm).value().message;
  } else {
    message->data.resize(static_cast<std::size_t>(seen.count));
    PMPI_Irecv(message->data.data(), seen.count, MPI_BYTE, seen.MPI_SOURCE, seen.MPI_TAG, comm, &message->early);
  }
  matched_messages().insert(message.get());
  return message.release();
}

int check_message(const MPI_Message* message)
{
  if (not message)
    return wrong(MPI_ERR_ARG, "message is NULL");
  if (*message == no_message() || matched_messages().contains(*message))
    return MPI_SUCCESS;
  return wrong(MPI_ERR_REQUEST, "the message is MPI_MESSAGE_NULL or has been received");
}

constexpr MPI_Message NO_MESSAGE = MPI_MESSAGE_NULL;

/** Messages by their Fortran numbers, starting at 0; NO_MESSAGE for free numbers. */
std::vector<MPI_Message>& numbered_messages()
{
  static std::vector<MPI_Message> all;
  return all;
}

constexpr int NUMBER_OF_NULL       = -1;
constexpr int NUMBER_OF_NO_PROCESS = -2;

MPI_Message message_of(int number)
{
  if (number == NUMBER_OF_NO_PROCESS)
    return no_message();
  const auto& all = numbered_messages();
  return number >= 0 && std::cmp_less(number, all.size()) ? all[static_cast<std::size_t>(number)] : NO_MESSAGE;
}

int number_of_message(MPI_Message message)
{
  if (message == NO_MESSAGE)
    return NUMBER_OF_NULL;
  if (message == no_message())
    return NUMBER_OF_NO_PROCESS;
  auto& all  = numbered_messages();
  auto place = std::ranges::find(all, message);
  if (place == all.end())
    place = std::ranges::find(all, NO_MESSAGE);
  if (place == all.end())
    place = all.insert(place, message);
  *place = message;
  return static_cast<int>(place - all.begin());
}

/** Ends the use of a message. */
std::unique_ptr<MatchedMessage> release_message(MPI_Message* message)
{
  matched_messages().erase(*message);
  std::ranges::replace(numbered_messages(), *message, NO_MESSAGE);
  return std::unique_ptr<MatchedMessage>(static_cast<MatchedMessage*>(std::exchange(*message, nullptr)));
}

/** Receives a message by @p receive, which posts a receive of (source, tag, communicator), or by @p receive_early,
 * which completes the receive that the probe has posted. */
template <class Receive, class ReceiveEarly>
int receive_matched(MPI_Message* message, Receive&& receive, ReceiveEarly&& receive_early)
{
  if (*message == no_message()) {
    *message = MPI_MESSAGE_NULL;
    return receive(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_SELF);
  }
  const auto& its             = *static_cast<const MatchedMessage*>(*message);
  OwnMessages* const messages = OwnMessages::get();
  if (not messages)
    return receive_early(release_message(message));
  messages->receive_next(its.message);
  const int result = receive(its.source, its.tag, its.comm);
  if (not messages->forget_next()) // otherwise the arguments were wrong
    release_message(message);
  return result;
}

/** Copies data that was received early. */
void deliver_early(const MatchedMessage& message, void* buffer, int count, MPI_Datatype type)
{
  if (element_size(type) > 0)
    unpack(message.data.data(), address(buffer),
           static_cast<int>(std::min(static_cast<std::size_t>(count), message.data.size() / element_size(type))), type);
}

int check_early(const MatchedMessage& message, int count, MPI_Datatype type)
{
  return message.data.size() > static_cast<std::size_t>(count) * element_size(type)
             ? wrong(MPI_ERR_TRUNCATE,
                     "the message has " + std::to_string(message.data.size()) + " bytes, more than the buffer")
             : static_cast<int>(MPI_SUCCESS);
}

MpiFunction is_point_to_point(const char* name, CallKind kind = CallKind::point_to_point)
{
  return {name, kind, false};
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status)
{
  static MpiFunction function = is_point_to_point("MPI_Mprobe", CallKind::waits);
  return own_function<trace::calls::Mprobe>(
      function,
      [&] {
        return first_error([&] { return check_probe(source, tag, comm); },
                           [&] { return check_present(message, "message"); });
      },
      [&] {
        MPI_Status seen;
        *message = no_message();
        if (source == MPI_PROC_NULL) {
          set_empty_status(status);
          return static_cast<int>(MPI_SUCCESS);
        }
        const int result = PMPI_Probe(source, tag, comm, &seen);
        *message         = result == MPI_SUCCESS ? take_seen(seen, comm) : MPI_MESSAGE_NULL;
        set_status(status, seen);
        return result;
      },
      source, tag, comm, message, status);
}

WEFT_INTERPOSED int PMPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                                 MPI_Status* status)
{
  static MpiFunction function = is_point_to_point("MPI_Improbe", CallKind::polls);
  return own_function<trace::calls::Improbe>(
      function,
      [&] {
        return first_error([&] { return check_probe(source, tag, comm); }, [&] { return check_present(flag, "flag"); },
                           [&] { return check_present(message, "message"); });
      },
      [&] {
        MPI_Status seen;
        *message = MPI_MESSAGE_NULL;
        if (source == MPI_PROC_NULL) {
          *flag    = 1;
          *message = no_message();
          set_empty_status(status);
          return static_cast<int>(MPI_SUCCESS);
        }
        const int result = PMPI_Iprobe(source, tag, comm, flag, &seen);
        if (result != MPI_SUCCESS || *flag == 0)
          return result;
        *message = take_seen(seen, comm);
        set_status(status, seen);
        return result;
      },
      source, tag, comm, flag, message, status);
}

WEFT_INTERPOSED int PMPI_Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status)
{
  static MpiFunction function = is_point_to_point("MPI_Mrecv");
  return own_function<trace::calls::Mrecv>(
      function,
      [&] {
        return first_error([&] { return check_message(message); }, [&] { return check_buffer(buffer, count, type); });
      },
      [&] {
        return receive_matched(
            message,
            [&](int source, int tag, MPI_Comm comm) {
              MPI_Status received;
              const int result = PMPI_Recv(buffer, count, type, source, tag, comm, &received);
              set_status(status, received);
              return result;
            },
            [&](std::unique_ptr<MatchedMessage> its) {
              MPI_Status received;
              PMPI_Wait(&its->early, &received);
              set_status(status, received);
              deliver_early(*its, buffer, count, type);
              return check_early(*its, count, type);
            });
      },
      buffer, count, type, message, status);
}

WEFT_INTERPOSED int PMPI_Imrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request)
{
  static MpiFunction function = is_point_to_point("MPI_Imrecv");
  return own_function<trace::calls::Imrecv>(
      function,
      [&] {
        return first_error([&] { return check_message(message); }, [&] { return check_buffer(buffer, count, type); },
                           [&] { return check_present(request, "request"); });
      },
      [&] {
        return receive_matched(
            message,
            [&](int source, int tag, MPI_Comm comm) {
              return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
            },
            [&](std::unique_ptr<MatchedMessage> released) {
              const std::shared_ptr<const MatchedMessage> its = std::move(released);
              const auto held                                 = std::make_shared<const HeldType>(type);
              *request                                        = its->early;
              on_completion(*request, [its, buffer, count, held] { deliver_early(*its, buffer, count, held->get()); });
              return check_early(*its, count, type);
            });
      },
      buffer, count, type, message, request);
}

WEFT_INTERPOSED MPI_Message PMPI_Message_f2c(MPI_Fint number)
{
  return message_of(number);
}

WEFT_INTERPOSED MPI_Fint PMPI_Message_c2f(MPI_Message message)
{
  return number_of_message(message);
}

WEFT_INTERPOSED MPI_Message MPI_Message_f2c(MPI_Fint number)
{
  return PMPI_Message_f2c(number);
}

WEFT_INTERPOSED MPI_Fint MPI_Message_c2f(MPI_Message message)
{
  return PMPI_Message_c2f(message);
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
