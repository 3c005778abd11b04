// SPDX-License-Identifier: LGPL-2.1-only
/* The numbers that Fortran has for requests.
 *
 * SMPI gives each request a number as it makes it, in a table of all handles: some 50 bytes a message, and two look-ups
 * in a table that has what is on its way in the whole run. Only Fortran and MPI_Request_c2f ask for it (F2C::c2f in
 * src/smpi/mpi/smpi_f2c.cpp), so here a request gets its number when it is asked for it; it gives it back as ever.
 *
 * Two things else are in that table's hands, and then all is as in SMPI: SimGrid's list of handles that a program has
 * not freed, where a run asks for it, and where in the program each was made, where that was compiled to say so.
 */
#include "binding/tuning/request_numbers.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/private_abi.hpp"
#include "binding/settings/settings.hpp"

namespace weft {
namespace {

/** Whether the program says where its calls stand (SMPI's -trace-call-location). */
bool places_are_known = false; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
/** Whether some request has been given a number. */
bool are_numbered = false; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

simgrid::smpi::HandleLayout& layout_of(simgrid::smpi::F2C* handle)
{
  return *reinterpret_cast<simgrid::smpi::HandleLayout*>(handle);
}

/** Two words before its functions a table has its offset and its type (the Itanium C++ ABI, 2.5.2). */
bool is_a_request(simgrid::smpi::F2C* handle)
{
  static const void* const REQUESTS = original<const char*>("_ZTVN7simgrid4smpi7RequestE") + (2 * sizeof(void*));
  return layout_of(handle).virtual_table == REQUESTS;
}

int number(simgrid::smpi::F2C* handle)
{
  are_numbered |= is_a_request(handle);
  static const auto THEIRS = original<int (*)(simgrid::smpi::F2C*)>("_ZN7simgrid4smpi3F2C5add_fEv");
  return THEIRS(handle);
}

} // namespace

bool has_number(MPI_Request request)
{
  return are_numbered &&
         reinterpret_cast<const simgrid::smpi::HandleLayout*>(request)->f2c_id != simgrid::smpi::UNNUMBERED;
}

} // namespace weft

namespace simgrid::smpi {

WEFT_INTERPOSED int F2C::add_f()
{
  if (weft::places_are_known || weft::handles_are_listed() || not weft::is_a_request(this))
    return weft::number(this);
  return simgrid::smpi::UNNUMBERED;
}

WEFT_INTERPOSED int F2C::c2f()
{
  const int number = weft::layout_of(this).f2c_id;
  return number == simgrid::smpi::UNNUMBERED ? weft::number(this) : number;
}

} // namespace simgrid::smpi

// Fortran's call it.
extern "C" WEFT_INTERPOSED void smpi_trace_set_call_location(const char* file, int line, const char* call)
{
  static const auto THEIRS = weft::original(&smpi_trace_set_call_location);
  weft::places_are_known   = true;
  THEIRS(file, line, call);
}
