// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/tuning/waitall_notes.hpp"

#include "binding/abi/private_abi.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <stdexcept>

namespace weft {
namespace {

using Waitall = int (*)(int, MPI_Request*, MPI_Status*);

Waitall original_waitall()
{
  void* theirs = dlsym(RTLD_NEXT, "MPI_Waitall");
  if (not theirs)
    throw std::logic_error("SimGrid has no MPI_Waitall; use SimGrid 4.1");
  return reinterpret_cast<Waitall>(theirs);
}

} // namespace

void note_waitall(int count, const MPI_Request* requests)
{
  static const char* const PATH = std::getenv("WEFT_WAITALL_NOTES");
  if (not PATH)
    return;
  static std::ofstream notes(PATH);
  auto* world = MPI_COMM_WORLD->group();
  notes << MPI_COMM_WORLD->rank() << ' ' << count;
  for (int i = 0; i < count; i++) {
    if (requests[i] == MPI_REQUEST_NULL)
      continue;
    const auto& request = simgrid::smpi::layout_of(requests[i]);
    notes << ' ' << world->rank(request.source) << ' ' << world->rank(request.destination) << ' ' << request.tag;
  }
  notes << '\n';
}

} // namespace weft

// As interposed.hpp says; Fortran's calls it.
extern "C" __attribute__((visibility("default"))) int MPI_Waitall(int count, MPI_Request requests[],
                                                                  MPI_Status statuses[])
{
  static const auto THEIRS = weft::original_waitall();
  weft::note_waitall(count, requests);
  return THEIRS(count, requests, statuses);
}
