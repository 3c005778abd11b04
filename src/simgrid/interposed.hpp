/* SMPI's functions that are not in its registry of algorithms: the non-blocking collectives, and those of which SMPI
 * has one algorithm only. weft defines them under the same names, and where its library is loaded before SimGrid's (as
 * `weft run` does, with LD_PRELOAD), SMPI calls weft's. */
#pragma once

#include <smpi/smpi.h>

namespace weft {

using IbcastFunction = int (*)(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Request*, int);
/** SMPI's own. */
IbcastFunction original_ibcast();

} // namespace weft
