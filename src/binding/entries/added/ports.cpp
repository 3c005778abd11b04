// SPDX-License-Identifier: LGPL-2.1-only
/* Names of ports and services (MPI 4.1, sections 11.9.2 and 11.9.4), which SMPI lacks. Names are published among the
 * ranks of a run; nothing connects to a port. */
#include "binding/entries/frame/own_function.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace weft {
namespace {

/** Ports and services of all ranks. */
struct PublishedNames {
  std::set<std::string, std::less<>> ports;
  std::map<std::string, std::string, std::less<>> services; ///< port by service
  int opened = 0;

  static PublishedNames& get()
  {
    static auto& all = *new PublishedNames; // leaked: ranks may end during static destruction
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
  PublishedNames& names = PublishedNames::get();
  return give_port(*names.ports.insert("weft:" + std::to_string(++names.opened)).first, text);
}

int close_port(const char* port)
{
  return PublishedNames::get().ports.erase(std::string(port)) > 0
             ? static_cast<int>(MPI_SUCCESS)
             : wrong(MPI_ERR_PORT, "the port " + std::string(port) + " is not open");
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

WEFT_MPI_FUNCTION(Open_port, MPI_COMM_WORLD, (MPI_Info info, char* port_name), info, port_name)
WEFT_MPI_FUNCTION(Close_port, MPI_COMM_WORLD, (const char* port_name), port_name)
WEFT_MPI_FUNCTION(Publish_name, MPI_COMM_WORLD, (char* service_name, MPI_Info info, char* port_name), service_name,
                  info, port_name)
WEFT_MPI_FUNCTION(Unpublish_name, MPI_COMM_WORLD, (char* service_name, MPI_Info info, char* port_name), service_name,
                  info, port_name)
WEFT_MPI_FUNCTION(Lookup_name, MPI_COMM_WORLD, (char* service_name, MPI_Info info, char* port_name), service_name, info,
                  port_name)

} // extern "C"
// NOLINTEND(readability-identifier-naming)
