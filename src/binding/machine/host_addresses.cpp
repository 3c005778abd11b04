// SPDX-License-Identifier: LGPL-2.1-only
/* Internet addresses of simulated hosts. Each host has one from the block 127.0.0.0/8, all of which is this machine
 * (RFC 1122, section 3.2.1.3): a rank may listen there, and other ranks may connect. All other names are resolved by
 * this machine. */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/abi/simulator_code.hpp"
#include "binding/process/own_state.hpp"
#include "binding/process/process.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <optional>
#include <simgrid/s4u.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft {
namespace {

/** 127.1.0.0: programs keep 127.0.0.1 for this machine. */
constexpr std::uint32_t FIRST_ADDRESS = 0x7f010000;
constexpr std::uint32_t LAST_ADDRESS  = 0x7ffffffe;

/** Names of the hosts in the order of their addresses. */
struct HostAddresses {
  std::vector<std::string> names;
  std::unordered_map<std::string_view, std::uint32_t> numbers;

  HostAddresses()
  {
    for (const auto* host : simgrid::s4u::Engine::get_instance()->get_all_hosts())
      names.push_back(host->get_name());
    for (std::uint32_t number = 0; number < names.size(); ++number)
      numbers.emplace(names[number], FIRST_ADDRESS + number);
  }

  static const HostAddresses& get()
  {
    static const auto* const ALL = new HostAddresses;
    return *ALL;
  }
};

/** Returns whether a call from @p caller is answered by the simulation. */
bool is_ranks_question(const void* caller)
{
  return is_simulating() && not is_in_simulator(caller) && not is_forked_child();
}

/** Returns the address of a simulated host; nothing for other names. */
std::optional<in_addr> address_of(const char* name, const void* caller)
{
  if (not name || not is_ranks_question(caller))
    return std::nullopt;
  const HostAddresses& all = HostAddresses::get();
  const auto found         = all.numbers.find(name);
  if (found == all.numbers.end() || found->second > LAST_ADDRESS)
    return std::nullopt;
  return in_addr{htonl(found->second)};
}

/** Returns the name of the simulated host at an address; null if there is none. */
const char* host_at(const void* address, std::size_t size, int family, const void* caller)
{
  in_addr internet{};
  if (not address || family != AF_INET || size < sizeof internet || not is_ranks_question(caller))
    return nullptr;
  std::memcpy(&internet, address, sizeof internet);
  const std::uint32_t number = ntohl(internet.s_addr);
  const auto& names          = HostAddresses::get().names;
  return number >= FIRST_ADDRESS && number - FIRST_ADDRESS < names.size() ? names[number - FIRST_ADDRESS].c_str()
                                                                          : nullptr;
}

/** Host entry (`hostent`) that owns its memory. */
struct HostEntry {
  std::string name;
  in_addr address{};
  std::array<char*, 2> addresses{};
  std::array<char*, 1> aliases{};
  hostent entry{};

  hostent* fill(const char* new_name, in_addr new_address)
  {
    name      = new_name;
    address   = new_address;
    addresses = {reinterpret_cast<char*>(&address), nullptr};
    entry     = {name.data(), aliases.data(), AF_INET, sizeof address, addresses.data()};
    return &entry;
  }
};

/** Returns the current rank's description of a host; the process's if the caller is not a rank. */
hostent* own_entry(const char* name, in_addr address)
{
  static thread_local HostEntry of_thread;
  auto* const own = OwnState<HostEntry>::get().here();
  return (own ? *own : of_thread).fill(name, address);
}

/** Fills a description of a host in the caller's buffer; returns an error number. */
int fill_entry(const char* name, in_addr address, hostent* entry, char* buffer, std::size_t size, hostent** result)
{
  struct Layout {
    std::array<char*, 2> addresses;
    std::array<char*, 1> aliases;
    in_addr address;
  };
  void* place       = buffer;
  std::size_t space = size;
  const auto length = std::strlen(name) + 1;
  *result           = nullptr;
  if (not std::align(alignof(Layout), sizeof(Layout) + length, place, space))
    return ERANGE;
  auto* const layout = new (place) Layout{};
  layout->address    = address;
  layout->addresses  = {reinterpret_cast<char*>(&layout->address), nullptr};
  char* const text   = static_cast<char*>(place) + sizeof(Layout);
  std::memcpy(text, name, length);
  *entry  = {text, layout->aliases.data(), AF_INET, sizeof address, layout->addresses.data()};
  *result = entry;
  return 0;
}

/** Replaces the name that getaddrinfo() has returned for an address; freeaddrinfo() frees it. */
void set_canonical_name(addrinfo* found, const char* name)
{
  if (not found || not found->ai_canonname)
    return;
  std::free(found->ai_canonname); // NOLINT(cppcoreguidelines-no-malloc,hicpp-no-malloc): as glibc does
  found->ai_canonname = strdup(name);
}

} // namespace
} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" {

hostent* weft_gethostbyname(const char* name) WEFT_REPLACES("gethostbyname");
hostent* weft_gethostbyname2(const char* name, int family) WEFT_REPLACES("gethostbyname2");
int weft_gethostbyname_r(const char* name, hostent* entry, char* buffer, std::size_t size, hostent** result, int* error)
    WEFT_REPLACES("gethostbyname_r");
hostent* weft_gethostbyaddr(const void* address, socklen_t size, int family) WEFT_REPLACES("gethostbyaddr");
int weft_getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** result)
    WEFT_REPLACES("getaddrinfo");
int weft_getnameinfo(const sockaddr* address, socklen_t size, char* host, socklen_t host_size, char* service,
                     socklen_t service_size, int flags) WEFT_REPLACES("getnameinfo");

hostent* weft_gethostbyname(const char* name)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_gethostbyname)>("gethostbyname");
  const auto address       = weft::address_of(name, __builtin_return_address(0));
  return address ? weft::own_entry(name, *address) : THEIRS(name);
}

hostent* weft_gethostbyname2(const char* name, int family)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_gethostbyname2)>("gethostbyname2");
  const auto address       = family == AF_INET ? weft::address_of(name, __builtin_return_address(0)) : std::nullopt;
  return address ? weft::own_entry(name, *address) : THEIRS(name, family);
}

int weft_gethostbyname_r(const char* name, hostent* entry, char* buffer, std::size_t size, hostent** result, int* error)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_gethostbyname_r)>("gethostbyname_r");
  const auto address       = weft::address_of(name, __builtin_return_address(0));
  return address ? weft::fill_entry(name, *address, entry, buffer, size, result)
                 : THEIRS(name, entry, buffer, size, result, error);
}

hostent* weft_gethostbyaddr(const void* address, socklen_t size, int family)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_gethostbyaddr)>("gethostbyaddr");
  const char* const name   = weft::host_at(address, size, family, __builtin_return_address(0));
  in_addr internet{};
  if (not name)
    return THEIRS(address, size, family);
  std::memcpy(&internet, address, sizeof internet);
  return weft::own_entry(name, internet);
}

int weft_getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** result)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_getaddrinfo)>("getaddrinfo");
  const auto address       = weft::address_of(name, __builtin_return_address(0));
  if (not address)
    return THEIRS(name, service, hints, result);
  std::array<char, INET_ADDRSTRLEN> number{};
  inet_ntop(AF_INET, &*address, number.data(), number.size());
  const int failed = THEIRS(number.data(), service, hints, result);
  if (failed == 0)
    weft::set_canonical_name(*result, name);
  return failed;
}

int weft_getnameinfo(const sockaddr* address, socklen_t size, char* host, socklen_t host_size, char* service,
                     socklen_t service_size, int flags)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_getnameinfo)>("getnameinfo");
  const bool is_internet   = address && address->sa_family == AF_INET && size >= sizeof(sockaddr_in);
  const auto* const own    = reinterpret_cast<const sockaddr_in*>(address);
  const char* const name =
      is_internet && host && host_size > 0 && (static_cast<unsigned>(flags) & unsigned{NI_NUMERICHOST}) == 0
          ? weft::host_at(&own->sin_addr, sizeof own->sin_addr, AF_INET, __builtin_return_address(0))
          : nullptr;
  if (not name)
    return THEIRS(address, size, host, host_size, service, service_size, flags);
  const std::size_t length = std::strlen(name) + 1;
  if (length > host_size)
    return EAI_OVERFLOW;
  std::memcpy(host, name, length);
  return service && service_size > 0 ? THEIRS(address, size, nullptr, 0, service, service_size, flags) : 0;
}

} // extern "C"
