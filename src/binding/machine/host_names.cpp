// SPDX-License-Identifier: LGPL-2.1-only
/* Names of the machine: the name of the simulated host, which MPI_Get_processor_name also returns. */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/machine/host_of_caller.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <simgrid/s4u/Host.hpp>
#include <string_view>
#include <sys/utsname.h>
#include <unistd.h>

namespace weft {
namespace {

/** Copies the name, truncated to @p size bytes. On truncation returns -1 with ENAMETOOLONG, like glibc's
 * gethostname(). */
int write_name(std::string_view name, char* into, std::size_t size)
{
  const std::size_t fitting = std::min(name.size(), size);
  std::copy_n(name.begin(), fitting, into);
  if (fitting < size) {
    into[fitting] = '\0';
    return 0;
  }
  errno = ENAMETOOLONG;
  return -1;
}

int write_host_name(char* name, std::size_t size, const void* caller)
{
  static const auto THEIRS = next_definition<int (*)(char*, std::size_t)>("gethostname");
  const auto* const host   = host_of_caller(caller);
  return host ? write_name(host->get_cname(), name, size) : THEIRS(name, size);
}

} // namespace
} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" {

int weft_gethostname(char* name, std::size_t size) WEFT_REPLACES("gethostname");
int weft_gethostname_chk(char* name, std::size_t size, std::size_t room) WEFT_REPLACES("__gethostname_chk");
int weft_uname(utsname* machine) WEFT_REPLACES("uname");
long weft_gethostid() WEFT_REPLACES("gethostid");

int weft_gethostname(char* name, std::size_t size)
{
  return weft::write_host_name(name, size, __builtin_return_address(0));
}

int weft_gethostname_chk(char* name, std::size_t size, std::size_t room)
{
  return weft::write_host_name(name, std::min(size, room), __builtin_return_address(0));
}

int weft_uname(utsname* machine)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_uname)>("uname");
  const int failed         = THEIRS(machine);
  const auto* const host   = failed == 0 ? weft::host_of_caller(__builtin_return_address(0)) : nullptr;
  if (host) {
    weft::write_name(host->get_cname(), machine->nodename, sizeof machine->nodename - 1);
    machine->nodename[sizeof machine->nodename - 1] = '\0';
  }
  return failed;
}

long weft_gethostid()
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_gethostid)>("gethostid");
  const auto* const host   = weft::host_of_caller(__builtin_return_address(0));
  if (not host)
    return THEIRS();
  constexpr std::size_t POSITIVE = 0x7fffffff;
  return static_cast<long>(std::hash<std::string_view>()(host->get_cname()) & POSITIVE);
}

} // extern "C"
