// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/fortran/handles.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/smpi/handles.hpp"
#include "binding/datatypes/fortran_types.hpp"

namespace weft::fortran {
namespace {

/** Registers the negative numbers of datatypes in SMPI too, which passes numbers to operations of Fortran programs. */
[[gnu::constructor]] void number_types()
{
  constexpr int LAST = -1000; // beyond the table's numbers
  make_fortran_types();
  for (int number = NULL_NUMBER - 1; number > LAST; --number) {
    const auto type = predefined<MPI_Datatype>(number);
    auto* const its = reinterpret_cast<simgrid::smpi::HandleLayout*>(type);
    if (type != MPI_DATATYPE_NULL && its->f2c_id == simgrid::smpi::UNNUMBERED)
      its->f2c_id = number;
  }
}

} // namespace

void* numbered_object(int number)
{
  return simgrid::smpi::F2C::f2c(number);
}

int number_of_object(void* object)
{
  return static_cast<simgrid::smpi::F2C*>(object)->c2f();
}

} // namespace weft::fortran

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED MPI_Datatype PMPI_Type_f2c(MPI_Fint number)
{
  return weft::fortran::object_of<MPI_Datatype>(number);
}

WEFT_INTERPOSED MPI_Fint PMPI_Type_c2f(MPI_Datatype type)
{
  return weft::fortran::number_of(type);
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
