// SPDX-License-Identifier: LGPL-2.1-only
/* Fortran numbers for requests, assigned on demand.
 *
 * SMPI numbers each request at creation, in a table of all handles: some 50 bytes per message, and
 * two look-ups in a table of all requests in flight in the whole run. Only Fortran and MPI_Request_c2f need the number
 * (F2C::c2f in src/smpi/mpi/smpi_f2c.cpp), so here a request
 * gets its number on first use; releasing it is unchanged.
 *
 * Two other features read that table, and leave SMPI's behaviour as it is: SimGrid's list of
 * handles that the program has not freed, if the run asks for it, and the source locations where handles were created,
 * if the program was compiled to report them.
 */
#include "binding/tuning/request_numbers.hpp"

#include "binding/abi/original.hpp"
#include "binding/abi/smpi/handles.hpp"
#include "binding/settings/settings.hpp"
#include "binding/settings/tunings.hpp"

namespace weft {
namespace {

/** True if the program reports the locations of its calls (SMPI's -trace-call-location). */
bool places_are_known = false; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
/** True once any request has been numbered. */
bool are_numbered = false; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

simgrid::smpi::HandleLayout& layout_of(simgrid::smpi::F2C* handle)
{
  return *reinterpret_cast<simgrid::smpi::HandleLayout*>(handle);
}

/** The address point of a vtable is preceded by two words, offset and type (Itanium C++ ABI, 2.5.2). */
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
  if (not weft::is_on(weft::TuningId::request_numbers) || weft::places_are_known || weft::handles_are_listed() ||
      not weft::is_a_request(this))
    return weft::number(this);
  return simgrid::smpi::UNNUMBERED;
}

WEFT_INTERPOSED int F2C::c2f()
{
  const int number = weft::layout_of(this).f2c_id;
  return number == simgrid::smpi::UNNUMBERED ? weft::number(this) : number;
}

} // namespace simgrid::smpi

// Called by Fortran programs.
extern "C" WEFT_INTERPOSED void smpi_trace_set_call_location(const char* file, int line, const char* call)
{
  static const auto THEIRS = weft::original(&smpi_trace_set_call_location);
  weft::places_are_known   = true;
  THEIRS(file, line, call);
}
