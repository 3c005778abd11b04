// SPDX-License-Identifier: LGPL-2.1-only
/* Puts the memory block that all ranks share (SMPI_SHARED_MALLOC) in memory instead of a file on disk.
 *
 * SMPI creates it by mkstemp in /tmp (src/smpi/internals/smpi_shared.cpp) and maps it repeatedly. If /tmp is on a disk,
 * Linux writes the block back every few seconds, and each of millions of mapped pages waits for that at its next write:
 * NAS DT with 448 ranks computed during only 2 of 30 minutes.
 */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/settings/tunings.hpp"

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
  if (weft::is_on(weft::TuningId::shared_memory) && std::string_view(name).starts_with(weft::SHARED_BLOCK))
    return memfd_create("simgrid-shmalloc", MFD_CLOEXEC);
  return weft::next_definition<int (*)(char*)>("mkstemp")(name);
}
