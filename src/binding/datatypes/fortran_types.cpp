// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/datatypes/fortran_types.hpp"

#include "binding/abi/smpi/datatypes.hpp"
#include "mpi/names.hpp"

#include <array>
#include <cstddef>
#include <new>
#include <string>

using simgrid::smpi::DatatypeLayout;

namespace weft {
namespace {

/** Storage of a Datatype, whose fields after those of DatatypeLayout are unknown to weft. */
constexpr std::size_t ROOM = 2 * sizeof(DatatypeLayout);

struct alignas(DatatypeLayout) Room {
  std::array<std::byte, ROOM> bytes;
};

/** Creates an object that SMPI's operations and matching treat like a duplicate of @p base. */
void make_type(MPI_Datatype made, const char* name, MPI_Datatype base)
{
  const auto& its = *reinterpret_cast<const DatatypeLayout*>(base);
  // Reuse the base's id: SimGrid's traces write it, and SMPI resolves an id to the first datatype registered with it.
  new (made) simgrid::smpi::Datatype(name, std::stoi(its.id), static_cast<int>(its.size), its.low, its.high,
                                     static_cast<int>(its.flags));
  reinterpret_cast<DatatypeLayout*>(made)->original = base;
  name_like(made, base);
}

/** Creates the objects before programs are loaded, whose static initializers may use them. */
[[gnu::constructor]] void make_at_start()
{
  make_fortran_types();
}

} // namespace

void make_fortran_types()
{
  static const bool ONCE = [] {
#define WEFT_MAKE(name, symbol, base) make_type(&(symbol), #name, &(base));
    WEFT_FORTRAN_TYPES(WEFT_MAKE)
#undef WEFT_MAKE
    return true;
  }();
  static_cast<void>(ONCE);
}

MPI_Datatype equal_of_smpi(MPI_Datatype type)
{
#define WEFT_COMPARE(name, symbol, base)                                                                               \
  if (type == &(symbol))                                                                                               \
    return &(base);
  WEFT_FORTRAN_TYPES(WEFT_COMPARE)
#undef WEFT_COMPARE
  return type;
}

} // namespace weft

extern "C" {
#define WEFT_ROOM(name, symbol, base)                                                                                  \
  __attribute__((visibility("default"))) weft::Room room_of_##symbol __asm__(#symbol); // NOLINT
WEFT_FORTRAN_TYPES(WEFT_ROOM)
#undef WEFT_ROOM
}
