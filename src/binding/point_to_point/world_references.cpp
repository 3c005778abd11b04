// SPDX-License-Identifier: LGPL-2.1-only
/* References to MPI_COMM_WORLD in a run of several programs, where SMPI's variable is a placeholder: SMPI takes it for
 * the world of the current rank (src/smpi/mpi/smpi_comm.cpp). SimGrid's kernel, in which the last reference to a
 * request may be dropped, has no world, and SMPI would crash. The world then keeps the reference: it lives as long as
 * its program's ranks anyway. */
#include "binding/abi/original.hpp"
#include "binding/abi/private_abi.hpp"

#include <simgrid/s4u/Actor.hpp>

namespace simgrid::smpi {

WEFT_INTERPOSED void Comm::unref(MPI_Comm comm)
{
  static const auto THEIRS      = weft::original<void (*)(MPI_Comm)>("_ZN7simgrid4smpi4Comm5unrefEPS1_");
  static const auto PLACEHOLDER = weft::original<MPI_Comm>("smpi_MPI_COMM_UNINITIALIZED");
  if (comm != PLACEHOLDER || not s4u::this_actor::is_maestro())
    THEIRS(comm);
}

} // namespace simgrid::smpi
