// SPDX-License-Identifier: LGPL-2.1-only
/* Large-count forms of packing, of operations, and of functions that create windows. */
#include "binding/abi/status_bytes.hpp"
#include "binding/data/elements.hpp"
#include "binding/entries/added/basic_runs.hpp"
#include "binding/entries/added/large_counts.hpp"
#include "binding/entries/frame/own_function.hpp"
#include "binding/ranks/current.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

int refuse_large(const char* what)
{
  return wrong(MPI_ERR_COUNT, std::string(what) + " exceeds 2^31 - 1");
}

/** Sets the data of a status to a number of basic elements, which SMPI interprets as bytes. */
int set_elements(MPI_Status* status, MPI_Datatype type, MPI_Count count)
{
  if (const int result = first_error([&] { return check_present(status, "status"); }, [&] { return check_type(type); });
      result != MPI_SUCCESS)
    return result;
  std::size_t elements = 0;
  for (const BasicRun& run : basic_runs(type))
    elements += run.count;
  const auto size = elements > 0 ? static_cast<MPI_Count>(element_size(type) / elements) : MPI_Count{0};
  if (count < 0 || (size > 0 && count > std::numeric_limits<MPI_Count>::max() / size))
    return wrong(MPI_ERR_COUNT, "the data of a status is at most 2^63 - 1 bytes");
  set_status_bytes(*status, size * count);
  return MPI_SUCCESS;
}

using LargeOperation                  = void(void*, void*, MPI_Count*, MPI_Datatype*);
constexpr std::size_t MOST_OPERATIONS = 64;

/** Functions of operations with large counts, by rank. */
std::vector<LargeOperation*>& large_operations()
{
  static auto& all = *new std::map<aid_t, std::vector<LargeOperation*>>; // leaked, since ranks may end late
  return all[current_actor()];
}

template <std::size_t Number> void combine(void* in, void* inout, int* count, MPI_Datatype* type)
{
  MPI_Count large = *count;
  large_operations()[Number](in, inout, &large, type);
}

template <std::size_t... Numbers>
constexpr std::array<MPI_User_function*, MOST_OPERATIONS> combiners(std::index_sequence<Numbers...> /*numbers*/)
{
  return {&combine<Numbers>...};
}

int create_operation(LargeOperation* function, int commutes, MPI_Op* made)
{
  static constexpr auto FUNCTIONS   = combiners(std::make_index_sequence<MOST_OPERATIONS>());
  std::vector<LargeOperation*>& all = large_operations();
  auto place                        = std::ranges::find(all, function);
  if (place == all.end()) {
    if (all.size() == MOST_OPERATIONS)
      return wrong(MPI_ERR_NO_MEM, "a rank can have 64 functions of operations with large counts");
    place = all.insert(place, function);
  }
  return PMPI_Op_create(FUNCTIONS.at(static_cast<std::size_t>(place - all.begin())), commutes, made);
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Pack_c(const void* inbuf, MPI_Count incount, MPI_Datatype type, void* outbuf,
                                MPI_Count outsize, MPI_Count* position, MPI_Comm comm)
{
  if (const int result = check_present(position, "position"); result != MPI_SUCCESS)
    return result;
  constexpr MPI_Count MOST = std::numeric_limits<int>::max();
  if (not fits(incount) || not fits(*position))
    return refuse_large("what is packed");
  int small        = static_cast<int>(*position);
  const int result = PMPI_Pack(inbuf, static_cast<int>(incount), type, outbuf,
                               static_cast<int>(std::min(outsize, MOST)), &small, comm);
  *position        = small;
  return result;
}

WEFT_INTERPOSED int PMPI_Unpack_c(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
                                  MPI_Count outcount, MPI_Datatype type, MPI_Comm comm)
{
  if (const int result = check_present(position, "position"); result != MPI_SUCCESS)
    return result;
  constexpr MPI_Count MOST = std::numeric_limits<int>::max();
  if (not fits(outcount) || not fits(*position))
    return refuse_large("what is unpacked");
  int small        = static_cast<int>(*position);
  const int result = PMPI_Unpack(inbuf, static_cast<int>(std::min(insize, MOST)), &small, outbuf,
                                 static_cast<int>(outcount), type, comm);
  *position        = small;
  return result;
}

WEFT_INTERPOSED int PMPI_Pack_size_c(MPI_Count incount, MPI_Datatype type, MPI_Comm comm, MPI_Count* size)
{
  return first_error([&] { return check_comm(comm); }, [&] { return check_type(type); },
                     [&] { return check_present(size, "size"); },
                     [&] {
                       if (incount < 0)
                         return wrong_number(MPI_ERR_COUNT, "a count", incount, "from 0 on");
                       const int result = PMPI_Type_size_x(type, size);
                       *size *= incount;
                       return result;
                     });
}

WEFT_INTERPOSED int PMPI_Status_set_elements(MPI_Status* status, MPI_Datatype type, int count)
{
  return set_elements(status, type, count);
}

WEFT_INTERPOSED int PMPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype type, MPI_Count count)
{
  return set_elements(status, type, count);
}

WEFT_INTERPOSED int PMPI_Status_set_elements_c(MPI_Status* status, MPI_Datatype type, MPI_Count count)
{
  return set_elements(status, type, count);
}

WEFT_INTERPOSED int PMPI_Op_create_c(LargeOperation* function, int commute, MPI_Op* op)
{
  return first_error([&] { return check_present(function ? op : nullptr, "an argument"); },
                     [&] { return create_operation(function, commute, op); });
}

WEFT_INTERPOSED int PMPI_Win_create_c(void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm,
                                      MPI_Win* win)
{
  return fits(unit) ? PMPI_Win_create(base, size, static_cast<int>(unit), info, comm, win)
                    : refuse_large("the displacement unit");
}

WEFT_INTERPOSED int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base,
                                        MPI_Win* win)
{
  return fits(unit) ? PMPI_Win_allocate(size, static_cast<int>(unit), info, comm, base, win)
                    : refuse_large("the displacement unit");
}

WEFT_INTERPOSED int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, void* base,
                                               MPI_Win* win)
{
  return fits(unit) ? PMPI_Win_allocate_shared(size, static_cast<int>(unit), info, comm, base, win)
                    : refuse_large("the displacement unit");
}

WEFT_INTERPOSED int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* unit, void* base)
{
  int small        = 0;
  const int result = PMPI_Win_shared_query(win, rank, size, &small, base);
  *unit            = small;
  return result;
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
