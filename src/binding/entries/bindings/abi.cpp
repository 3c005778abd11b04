// SPDX-License-Identifier: LGPL-2.1-only
/* Queries of the application binary interface (MPI 5.0, chapter 20). Programs are compiled for SMPI's own interface, so
 * the version is -1; the sizes and Fortran's values are this library's. */
#include "binding/entries/frame/own_function.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace weft {
namespace {

constexpr int WRONG_ABI = 83; ///< MPI_ERR_ABI in weft's mpi.h

template <class Entries> int make_info(const Entries& entries, MPI_Info* info)
{
  if (const int result = check_present(info, "info"); result != MPI_SUCCESS)
    return result;
  PMPI_Info_create(info);
  for (const auto& [key, value] : entries)
    PMPI_Info_set(*info, key, value);
  return MPI_SUCCESS;
}

constexpr std::array<std::pair<const char*, const char*>, 3> ABI_SIZES{
    {{"mpi_aint_size", "8"}, {"mpi_count_size", "8"}, {"mpi_offset_size", "8"}}};
static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8);

/** Types of gfortran for which there is a datatype. */
constexpr std::array<std::pair<const char*, const char*>, 18> FORTRAN_TYPES{{
    {"mpi_logical_size", "4"},
    {"mpi_integer_size", "4"},
    {"mpi_real_size", "4"},
    {"mpi_double_precision_size", "8"},
    {"mpi_logical1_supported", "true"},
    {"mpi_logical2_supported", "true"},
    {"mpi_logical4_supported", "true"},
    {"mpi_logical8_supported", "true"},
    {"mpi_logical16_supported", "false"},
    {"mpi_integer1_supported", "true"},
    {"mpi_integer2_supported", "true"},
    {"mpi_integer4_supported", "true"},
    {"mpi_integer8_supported", "true"},
    {"mpi_integer16_supported", "false"},
    {"mpi_real2_supported", "false"},
    {"mpi_real4_supported", "true"},
    {"mpi_real8_supported", "true"},
    {"mpi_real16_supported", "true"},
}};

template <class Integer> int set_booleans(void* truth, void* untruth)
{
  constexpr Integer TRUE  = 1;
  constexpr Integer FALSE = 0;
  std::memcpy(truth, &TRUE, sizeof TRUE);
  std::memcpy(untruth, &FALSE, sizeof FALSE);
  return MPI_SUCCESS;
}

int give_booleans(int size, void* truth, void* untruth)
{
  switch (size) {
    case 1:
      return set_booleans<std::int8_t>(truth, untruth);
    case 2:
      return set_booleans<std::int16_t>(truth, untruth);
    case 4:
      return set_booleans<std::int32_t>(truth, untruth);
    case 8:
      return set_booleans<std::int64_t>(truth, untruth);
    default:
      return wrong_number(MPI_ERR_ARG, "the size of a logical", size, "1, 2, 4, 8");
  }
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Abi_get_version(int* abi_major, int* abi_minor)
{
  return first_error([&] { return check_present(abi_major, "abi_major"); },
                     [&] { return check_present(abi_minor, "abi_minor"); },
                     [&] {
                       *abi_major = *abi_minor = -1;
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Abi_get_info(MPI_Info* info)
{
  return make_info(ABI_SIZES, info);
}

WEFT_INTERPOSED int PMPI_Abi_get_fortran_info(MPI_Info* info)
{
  return make_info(FORTRAN_TYPES, info);
}

WEFT_INTERPOSED int PMPI_Abi_set_fortran_info(MPI_Info /*info*/)
{
  return wrong(WRONG_ABI, "Fortran's types are known");
}

WEFT_INTERPOSED int PMPI_Abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false,
                                                  int* is_set)
{
  return first_error([&] { return check_present(logical_true, "logical_true"); },
                     [&] { return check_present(logical_false, "logical_false"); },
                     [&] { return check_present(is_set, "is_set"); },
                     [&] {
                       *is_set = 1;
                       return give_booleans(logical_size, logical_true, logical_false);
                     });
}

WEFT_INTERPOSED int PMPI_Abi_set_fortran_booleans(int /*logical_size*/, void* /*logical_true*/, void* /*logical_false*/)
{
  return wrong(WRONG_ABI, "Fortran's truth values are known");
}

WEFT_MPI_FUNCTION(Abi_get_version, MPI_COMM_WORLD, (int* abi_major, int* abi_minor), abi_major, abi_minor)
WEFT_MPI_FUNCTION(Abi_get_info, MPI_COMM_WORLD, (MPI_Info * info), info)
WEFT_MPI_FUNCTION(Abi_get_fortran_info, MPI_COMM_WORLD, (MPI_Info * info), info)
WEFT_MPI_FUNCTION(Abi_set_fortran_info, MPI_COMM_WORLD, (MPI_Info info), info)
WEFT_MPI_FUNCTION(Abi_get_fortran_booleans, MPI_COMM_WORLD,
                  (int logical_size, void* logical_true, void* logical_false, int* is_set), logical_size, logical_true,
                  logical_false, is_set)
WEFT_MPI_FUNCTION(Abi_set_fortran_booleans, MPI_COMM_WORLD, (int logical_size, void* logical_true, void* logical_false),
                  logical_size, logical_true, logical_false)

} // extern "C"
// NOLINTEND(readability-identifier-naming)
