// SPDX-License-Identifier: LGPL-2.1-only
/* Fortran's predefined datatypes as separate objects: MPI_INTEGER and MPI_INT differ (MPI 4.1, section 3.2.2), and each
 * has its own name. In SMPI, a single object represents both. Programs use the addresses of these objects
 * (setup/mpi/header.py); Fortran's numbers for them are in src/binding/fortran/constants. */
#pragma once

#include <smpi/smpi.h>

/** X(name in MPI, symbol, SMPI datatype with the same representation). MPI_INTEGER1 of SMPI's mpi.h has four bytes, and
 * its MPI_COMPLEX8 to MPI_COMPLEX32 are pairs whose parts it multiplies separately. */
#define WEFT_FORTRAN_TYPES(X)                                                                                          \
  X(MPI_CHARACTER, weft_character, smpi_MPI_CHAR)                                                                      \
  X(MPI_LOGICAL, weft_logical, smpi_MPI_UINT32_T)                                                                      \
  X(MPI_LOGICAL1, weft_logical1, smpi_MPI_UINT8_T)                                                                     \
  X(MPI_LOGICAL2, weft_logical2, smpi_MPI_UINT16_T)                                                                    \
  X(MPI_LOGICAL4, weft_logical4, smpi_MPI_UINT32_T)                                                                    \
  X(MPI_LOGICAL8, weft_logical8, smpi_MPI_UINT64_T)                                                                    \
  X(MPI_INTEGER, weft_integer, smpi_MPI_INT)                                                                           \
  X(MPI_INTEGER1, weft_integer1, smpi_MPI_INT8_T)                                                                      \
  X(MPI_INTEGER2, weft_integer2, smpi_MPI_INT16_T)                                                                     \
  X(MPI_INTEGER4, weft_integer4, smpi_MPI_INT32_T)                                                                     \
  X(MPI_INTEGER8, weft_integer8, smpi_MPI_INT64_T)                                                                     \
  X(MPI_DOUBLE_PRECISION, weft_double_precision, smpi_MPI_DOUBLE)                                                      \
  X(MPI_COMPLEX, weft_complex, smpi_MPI_C_FLOAT_COMPLEX)                                                               \
  X(MPI_COMPLEX8, weft_complex8, smpi_MPI_C_FLOAT_COMPLEX)                                                             \
  X(MPI_COMPLEX16, weft_complex16, smpi_MPI_C_DOUBLE_COMPLEX)                                                          \
  X(MPI_COMPLEX32, weft_complex32, smpi_MPI_C_LONG_DOUBLE_COMPLEX)                                                     \
  X(MPI_DOUBLE_COMPLEX, weft_double_complex, smpi_MPI_C_DOUBLE_COMPLEX)                                                \
  X(MPI_2INTEGER, weft_2integer, smpi_MPI_2INT)                                                                        \
  X(MPI_2REAL, weft_2real, smpi_MPI_2FLOAT)                                                                            \
  X(MPI_2DOUBLE_PRECISION, weft_2double_precision, smpi_MPI_2DOUBLE)

extern "C" {
#define WEFT_DECLARE(name, symbol, base) extern SMPI_Datatype symbol; // NOLINT(readability-identifier-naming)
WEFT_FORTRAN_TYPES(WEFT_DECLARE)
#undef WEFT_DECLARE
}

namespace weft {

/** Creates the objects, unless they exist already. */
void make_fortran_types();

/** Returns the SMPI datatype that a predefined datatype of Fortran is based on; other datatypes unchanged. */
MPI_Datatype equal_of_smpi(MPI_Datatype type);

} // namespace weft
