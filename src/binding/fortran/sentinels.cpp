// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/fortran/sentinels.hpp"

#include "binding/abi/smpi/fortran_constants.hpp"

// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
// Defined by mpif.h and the module mpi, but not by SMPI.
extern WEFT_FORTRAN const int mpi_unweighted_;
extern WEFT_FORTRAN const int mpi_weights_empty_;
extern WEFT_FORTRAN const int mpi_argv_null_;
extern WEFT_FORTRAN const int mpi_argvs_null_;
extern WEFT_FORTRAN const int mpi_errcodes_ignore_;
// Defined by mpi_f08.
extern WEFT_FORTRAN const int mpi_bottom_f08_;
extern WEFT_FORTRAN const int mpi_in_place_f08_;
extern WEFT_FORTRAN const int mpi_status_ignore_f08_;
extern WEFT_FORTRAN const int mpi_statuses_ignore_f08_;
extern WEFT_FORTRAN const int mpi_unweighted_f08_;
extern WEFT_FORTRAN const int mpi_weights_empty_f08_;
extern WEFT_FORTRAN const int mpi_argv_null_f08_;
extern WEFT_FORTRAN const int mpi_argvs_null_f08_;
extern WEFT_FORTRAN const int mpi_errcodes_ignore_f08_;
const int mpi_unweighted_          = 0;
const int mpi_weights_empty_       = 0;
const int mpi_bottom_f08_          = 0;
const int mpi_in_place_f08_        = 0;
const int mpi_status_ignore_f08_   = 0;
const int mpi_statuses_ignore_f08_ = 0;
const int mpi_unweighted_f08_      = 0;
const int mpi_weights_empty_f08_   = 0;
const int mpi_argv_null_           = 0;
const int mpi_argvs_null_          = 0;
const int mpi_errcodes_ignore_     = 0;
const int mpi_argv_null_f08_       = 0;
const int mpi_argvs_null_f08_      = 0;
const int mpi_errcodes_ignore_f08_ = 0;
}
// NOLINTEND(readability-identifier-naming)

namespace weft::fortran {

bool is_bottom(const void* address)
{
  return address == &mpi_bottom_ || address == &mpi_bottom_f08_;
}

bool is_in_place(const void* address)
{
  return address == &mpi_in_place_ || address == &mpi_in_place_f08_;
}

bool is_status_ignore(const void* address)
{
  return address == &mpi_status_ignore_ || address == &mpi_statuses_ignore_ || address == &mpi_status_ignore_f08_ ||
         address == &mpi_statuses_ignore_f08_;
}

bool is_unweighted(const void* address)
{
  return address == &mpi_unweighted_ || address == &mpi_unweighted_f08_;
}

bool is_argv_null(const void* address)
{
  return address == &mpi_argv_null_ || address == &mpi_argvs_null_ || address == &mpi_argv_null_f08_ ||
         address == &mpi_argvs_null_f08_;
}

bool is_errcodes_ignore(const void* address)
{
  return address == &mpi_errcodes_ignore_ || address == &mpi_errcodes_ignore_f08_;
}

bool is_weights_empty(const void* address)
{
  return address == &mpi_weights_empty_ || address == &mpi_weights_empty_f08_;
}

} // namespace weft::fortran
