// SPDX-License-Identifier: LGPL-2.1-only
/* The block of memory that all ranks share (SMPI_SHARED_MALLOC) is in memory, not in a file on a disk.
 *
 * SMPI makes it by mkstemp in /tmp (src/smpi/internals/smpi_shared.cpp) and maps it again and again. Where /tmp is on a
 * disk, Linux writes it there every few seconds, and each of millions of mapped pages waits for that when it is next
 * written to: NAS DT of 448 ranks computed for 2 minutes in 30.
 */
#include "binding/abi/interposed_symbol.hpp"

#include <string_view>
#include <sys/mman.h>

namespace weft {
namespace {

constexpr std::string_view SHARED_BLOCK = "/tmp/simgrid-shmalloc-";

} // namespace
} // namespace weft

extern "C" int weft_mkstemp(char* name) WEFT_REPLACES("mkstemp");
int weft_mkstemp(char* name)
{
  if (std::string_view(name).starts_with(weft::SHARED_BLOCK))
    return memfd_create("simgrid-shmalloc", MFD_CLOEXEC);
  return weft::next_definition<int (*)(char*)>("mkstemp")(name);
}
