# SPDX-License-Identifier: LGPL-2.1-only
"""SimGrid's numbers of the predefined datatypes (its src/smpi/mpi/smpi_datatype.cpp), by index.

Entries without a name contain no data; C++ datatypes are mapped to C datatypes, since programs
cannot name them in SimGrid 4.1.
"""

DATATYPES = (
    *("MPI_DOUBLE", "MPI_INT", "MPI_CHAR", "MPI_SHORT", "MPI_LONG", "MPI_FLOAT", "MPI_BYTE"),
    *("MPI_LONG_LONG", "MPI_SIGNED_CHAR", "MPI_UNSIGNED_CHAR", "MPI_UNSIGNED_SHORT"),
    *("MPI_UNSIGNED", "MPI_UNSIGNED_LONG", "MPI_UNSIGNED_LONG_LONG", "MPI_LONG_DOUBLE"),
    *("MPI_WCHAR", "MPI_C_BOOL", "MPI_INT8_T", "MPI_INT16_T", "MPI_INT32_T", "MPI_INT64_T"),
    *("MPI_UINT8_T", "MPI_UINT16_T", "MPI_UINT32_T", "MPI_UINT64_T", "MPI_C_FLOAT_COMPLEX"),
    *("MPI_C_DOUBLE_COMPLEX", "MPI_C_LONG_DOUBLE_COMPLEX", "MPI_AINT", "MPI_OFFSET"),
    *("MPI_FLOAT_INT", "MPI_LONG_INT", "MPI_DOUBLE_INT", "MPI_SHORT_INT", "MPI_2INT"),
    *("MPI_2FLOAT", "MPI_2DOUBLE", "MPI_2LONG", "MPI_REAL", "MPI_REAL4", "MPI_REAL8"),
    *("MPI_REAL16", "MPI_COMPLEX8", "MPI_COMPLEX16", "MPI_COMPLEX32", "MPI_INTEGER1"),
    *("MPI_INTEGER2", "MPI_INTEGER4", "MPI_INTEGER8", "MPI_INTEGER16", "MPI_LONG_DOUBLE_INT"),
    *("MPI_CXX_BOOL", "MPI_C_FLOAT_COMPLEX", "MPI_C_DOUBLE_COMPLEX"),
    *("MPI_C_LONG_DOUBLE_COMPLEX", "", "", "MPI_PACKED", "", "MPI_COUNT"),
)

OPERATIONS = (
    *("MPI_SUM", "MPI_PROD", "MPI_MAX", "MPI_MIN", "MPI_LAND", "MPI_LOR", "MPI_LXOR", "MPI_BAND"),
    *("MPI_BOR", "MPI_BXOR", "MPI_MAXLOC", "MPI_MINLOC", "MPI_REPLACE", "MPI_NO_OP"),
)
"""Datatypes defined by MPI, as in src/mpi/names.cpp."""
