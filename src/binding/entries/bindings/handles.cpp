// SPDX-License-Identifier: LGPL-2.1-only
/* Integers of handles (MPI 5.0, section 19.3), which are Fortran's. Sessions are in added/sessions.cpp. */
#include "binding/abi/smpi/handles.hpp"
#include "binding/abi/original.hpp"

#include <smpi/smpi.h>

namespace weft {
namespace {

constexpr int NO_FILE = -1; ///< number of MPI_FILE_NULL

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

/** Defines the conversions of MPI_@p type by those of Fortran's handles, which begin with MPI_@p name. */
#define WEFT_INTEGERS_OF(type, name)                                                                                   \
  WEFT_INTERPOSED int PMPI_##name##_toint(MPI_##type handle)                                                           \
  {                                                                                                                    \
    return PMPI_##name##_c2f(handle);                                                                                  \
  }                                                                                                                    \
  WEFT_INTERPOSED MPI_##type PMPI_##name##_fromint(int number)                                                         \
  {                                                                                                                    \
    return PMPI_##name##_f2c(number);                                                                                  \
  }                                                                                                                    \
  WEFT_INTERPOSED int MPI_##name##_toint(MPI_##type handle) __attribute__((alias("PMPI_" #name "_toint")));            \
  WEFT_INTERPOSED MPI_##type MPI_##name##_fromint(int number) __attribute__((alias("PMPI_" #name "_fromint")));

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTEGERS_OF(Comm, Comm)
WEFT_INTEGERS_OF(Errhandler, Errhandler)
WEFT_INTEGERS_OF(Group, Group)
WEFT_INTEGERS_OF(Info, Info)
WEFT_INTEGERS_OF(Message, Message)
WEFT_INTEGERS_OF(Op, Op)
WEFT_INTEGERS_OF(Request, Request)
WEFT_INTEGERS_OF(Datatype, Type)
WEFT_INTEGERS_OF(Win, Win)

/** SMPI's MPI_File_c2f and its inverse abort the run. */
WEFT_INTERPOSED int PMPI_File_c2f(MPI_File file)
{
  return file == MPI_FILE_NULL ? NO_FILE : reinterpret_cast<simgrid::smpi::F2C*>(file)->c2f();
}
WEFT_INTERPOSED MPI_File PMPI_File_f2c(int number)
{
  return number == NO_FILE ? MPI_FILE_NULL : reinterpret_cast<MPI_File>(simgrid::smpi::F2C::f2c(number));
}
WEFT_INTERPOSED int MPI_File_c2f(MPI_File file) __attribute__((alias("PMPI_File_c2f")));
WEFT_INTERPOSED MPI_File MPI_File_f2c(int number) __attribute__((alias("PMPI_File_f2c")));
WEFT_INTEGERS_OF(File, File)

} // extern "C"
// NOLINTEND(readability-identifier-naming)
