// SPDX-License-Identifier: LGPL-2.1-only
/* Ports, published service names, and connections between groups (MPI 4.1, section 11.9), which SMPI lacks. All jobs of
 * a run share them. */
#include "binding/calls/call.hpp"
#include "binding/dynamic/functions.hpp"
#include "binding/dynamic/leaders_meeting.hpp"
#include "binding/dynamic/told.hpp"
#include "binding/ranks/communicator_numbers.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace weft {
namespace {

/** Ports and services of all ranks. */
struct PublishedNames {
  std::map<std::string, std::shared_ptr<LeadersMeeting>, std::less<>> ports;
  std::map<std::string, std::string, std::less<>> services; ///< port by service
  int opened = 0;

  static PublishedNames& get()
  {
    static auto& all = *new PublishedNames; // leaked, since ranks may end during static destruction
    return all;
  }
};

int give_port(std::string_view port, char* text)
{
  text[port.copy(text, MPI_MAX_PORT_NAME - 1)] = '\0';
  return MPI_SUCCESS;
}

int open_port(char* text)
{
  PublishedNames& names  = PublishedNames::get();
  const std::string name = "weft:" + std::to_string(++names.opened);
  names.ports.emplace(name, std::make_shared<LeadersMeeting>());
  return give_port(name, text);
}

int close_port(const char* port)
{
  return PublishedNames::get().ports.erase(std::string(port)) > 0
             ? static_cast<int>(MPI_SUCCESS)
             : wrong(MPI_ERR_PORT, "the port " + std::string(port) + " is not open");
}

/** Port as seen by the root of a call; null if it is not open. */
struct OpenPort {
  std::string name;
  std::shared_ptr<LeadersMeeting> meeting;
};

OpenPort find_port(const char* port)
{
  if (not port)
    return {"NULL", nullptr};
  const auto& ports = PublishedNames::get().ports;
  const auto found  = ports.find(std::string_view(port));
  return {port, found == ports.end() ? nullptr : found->second};
}

/** Connects the group of @p comm with a group that calls the opposite function (accept or connect) on the same port. */
int connect_at(const char* port, int root, MPI_Comm comm, LeadersMeeting::Kind kind, MPI_Comm* made)
{
  const CollectiveScope inside;
  *made                                       = MPI_COMM_NULL;
  const std::shared_ptr<const OpenPort> found = told_by<OpenPort>(comm, root, [port] { return find_port(port); });
  if (not found->meeting)
    return wrong(MPI_ERR_PORT, "the port " + found->name + " is not open");
  share_communicator_numbers();
  const bool accepts = kind == LeadersMeeting::Kind::accepts;
  return connect_groups(
      comm, root, found->meeting.get(), kind,
      [name = found->name, accepts] {
        return std::string(accepts ? "waits in MPI_Comm_accept" : "waits in MPI_Comm_connect") + " at the port " +
               name + " for another group to call " + (accepts ? "MPI_Comm_connect" : "MPI_Comm_accept");
      },
      made);
}

int publish(const char* service, const char* port)
{
  return PublishedNames::get().services.emplace(service, port).second
             ? static_cast<int>(MPI_SUCCESS)
             : wrong(MPI_ERR_SERVICE, "the service " + std::string(service) + " is published already");
}

int unpublish(const char* service)
{
  return PublishedNames::get().services.erase(std::string(service)) > 0
             ? static_cast<int>(MPI_SUCCESS)
             : wrong(MPI_ERR_SERVICE, "the service " + std::string(service) + " is not published");
}

int look_up(const char* service, char* port)
{
  const auto& services = PublishedNames::get().services;
  const auto found     = services.find(std::string_view(service));
  *port                = '\0';
  return found == services.end() ? wrong(MPI_ERR_NAME, "the service " + std::string(service) + " is not published")
                                 : give_port(found->second, port);
}

/** Returns the first error of a call with a name and a port. */
int check_names(const char* service, const char* port)
{
  return first_error([&] { return check_comm(MPI_COMM_WORLD); }, [&] { return check_present(service, "service_name"); },
                     [&] { return check_present(port, "port_name"); });
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Open_port(MPI_Info /*info*/, char* port_name)
{
  return first_error([&] { return check_names("", port_name); }, [&] { return open_port(port_name); });
}

WEFT_INTERPOSED int PMPI_Close_port(const char* port_name)
{
  return first_error([&] { return check_names("", port_name); }, [&] { return close_port(port_name); });
}

WEFT_INTERPOSED int PMPI_Publish_name(char* service_name, MPI_Info /*info*/, char* port_name)
{
  return first_error([&] { return check_names(service_name, port_name); },
                     [&] { return publish(service_name, port_name); });
}

WEFT_INTERPOSED int PMPI_Unpublish_name(char* service_name, MPI_Info /*info*/, char* port_name)
{
  return first_error([&] { return check_names(service_name, port_name); }, [&] { return unpublish(service_name); });
}

WEFT_INTERPOSED int PMPI_Lookup_name(char* service_name, MPI_Info /*info*/, char* port_name)
{
  return first_error([&] { return check_names(service_name, port_name); },
                     [&] { return look_up(service_name, port_name); });
}

WEFT_INTERPOSED int PMPI_Comm_accept(const char* port_name, MPI_Info /*info*/, int root, MPI_Comm comm, MPI_Comm* made)
{
  static auto function = connects_groups("MPI_Comm_accept");
  return dynamic_function(function, comm, root, made,
                          [&] { return connect_at(port_name, root, comm, LeadersMeeting::Kind::accepts, made); });
}

WEFT_INTERPOSED int PMPI_Comm_connect(const char* port_name, MPI_Info /*info*/, int root, MPI_Comm comm, MPI_Comm* made)
{
  static auto function = connects_groups("MPI_Comm_connect");
  return dynamic_function(function, comm, root, made,
                          [&] { return connect_at(port_name, root, comm, LeadersMeeting::Kind::connects, made); });
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
