// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/fortran/handles.hpp"

#include "binding/abi/private_abi.hpp"

namespace weft::fortran {

void* numbered_object(int number)
{
  return simgrid::smpi::F2C::f2c(number);
}

int number_of_object(void* object)
{
  return static_cast<simgrid::smpi::F2C*>(object)->c2f();
}

} // namespace weft::fortran
