// SPDX-License-Identifier: LGPL-2.1-only
/* MPI_Comm_join (MPI 4.1, section 11.10.5): connects two ranks at the ends of a socket. Each writes the number of its
 * actor into the socket and reads the peer's; then they meet as at a port. The system transfers a few bytes within this
 * machine immediately, but the peer may write them at a later simulated time: until then, a rank sleeps. */
#include "binding/abi/kernel_scope.hpp"
#include "binding/calls/call.hpp"
#include "binding/dynamic/functions.hpp"
#include "binding/dynamic/leaders_meeting.hpp"
#include "binding/ranks/communicator_numbers.hpp"
#include "binding/ranks/current.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <simgrid/s4u/Semaphore.hpp>
#include <string>
#include <sys/socket.h>
#include <utility>

namespace weft {
namespace {

/** Bytes that a rank writes into the socket. */
struct JoinGreeting {
  std::uint64_t magic = 0x7765'6674'206a'6f69;
  std::int64_t actor  = 0;

  bool is_right() const { return magic == JoinGreeting().magic; }
};

/** Ranks that wait for the peer's greeting. */
std::list<simgrid::s4u::SemaphorePtr>& waiting_for_greetings()
{
  static auto* const ALL = new std::list<simgrid::s4u::SemaphorePtr>; // leaked, since ranks may end during destruction
  return *ALL;
}

void greet(int socket)
{
  {
    const JoinGreeting own{.actor = current_actor()};
    const KernelScope as_process;
    ::send(socket, &own, sizeof own, MSG_NOSIGNAL);
  }
  for (const simgrid::s4u::SemaphorePtr& waiting : std::exchange(waiting_for_greetings(), {}))
    waiting->release();
}

/** Returns the peer's greeting, if it has been written; an invalid greeting if the descriptor is no socket, or
 * closed. */
std::optional<JoinGreeting> read_greeting(int socket)
{
  JoinGreeting greeting;
  const KernelScope as_process;
  const ssize_t there = ::recv(socket, &greeting, sizeof greeting, MSG_DONTWAIT | MSG_PEEK);
  if (there < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return std::nullopt;
  if (there > 0 && std::cmp_less(there, sizeof greeting))
    return std::nullopt;
  if (there <= 0)
    return JoinGreeting{.magic = 0};
  ::recv(socket, &greeting, sizeof greeting, MSG_DONTWAIT);
  return greeting;
}

JoinGreeting wait_for_greeting(int socket)
{
  const MeetingWaits::Scope wait([] { return std::string("waits in MPI_Comm_join for the rank at the other end"); });
  for (;;) {
    if (const std::optional<JoinGreeting> greeting = read_greeting(socket))
      return *greeting;
    const auto awake = simgrid::s4u::Semaphore::create(0);
    waiting_for_greetings().push_back(awake);
    awake->acquire();
  }
}

int join_over(int socket, MPI_Comm* made)
{
  static auto& meetings = *new std::map<std::pair<aid_t, aid_t>, LeadersMeeting>;
  *made                 = MPI_COMM_NULL;
  greet(socket);
  const JoinGreeting other = wait_for_greeting(socket);
  if (not other.is_right())
    return wrong(MPI_ERR_OTHER, "the file descriptor " + std::to_string(socket) +
                                    " is no socket that another rank of the run has joined");
  share_communicator_numbers();
  const CollectiveScope inside;
  const aid_t own    = current_actor();
  const bool accepts = own < other.actor;
  return connect_groups(
      MPI_COMM_SELF, 0, &meetings[std::minmax(own, static_cast<aid_t>(other.actor))],
      accepts ? LeadersMeeting::Kind::accepts : LeadersMeeting::Kind::connects,
      [] { return std::string("waits in MPI_Comm_join for the rank at the other end"); }, made);
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Comm_join(int fd, MPI_Comm* made)
{
  static auto function = connects_groups("MPI_Comm_join");
  return dynamic_function(function, MPI_COMM_SELF, 0, made, [&] { return join_over(fd, made); });
}

WEFT_MPI_FUNCTION(Comm_join, MPI_COMM_SELF, (int fd, MPI_Comm* made), fd, made)

} // extern "C"
// NOLINTEND(readability-identifier-naming)
