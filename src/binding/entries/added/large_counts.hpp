// SPDX-License-Identifier: LGPL-2.1-only
/* Conversions of the large-count forms, which setup/mpi writes, to counts that fit an int. */
#pragma once

#include "binding/abi/original.hpp"
#include "binding/data/virtual_topology.hpp"
#include "binding/entries/frame/mpi_errors.hpp"
#include "binding/entries/requests/persistent.hpp"
#include "binding/ranks/intercommunicators.hpp"
#include "binding/ranks/places.hpp"

#include <smpi/smpi.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <tuple>
#include <type_traits>
#include <vector>

namespace weft {

inline bool fits(MPI_Count count)
{
  return count <= std::numeric_limits<int>::max() && count >= std::numeric_limits<int>::min();
}

/** A count and datatype whose count fits an int: a larger count becomes fewer elements of a datatype that contains
 * several each. */
class LargeElements {
  int count_;
  MPI_Datatype type_;
  std::shared_ptr<MPI_Datatype> made_; // null if the count fits
  bool fit_ = true;

  void divide(MPI_Count count);

public:
  /** @p use: how the call uses the datatype. Unsuitable datatypes are passed on to the call, which refuses them. */
  enum class Use { communicate, build };
  LargeElements(MPI_Count count, MPI_Datatype type, Use use = Use::communicate)
      : count_(static_cast<int>(std::max(MPI_Count{-1}, count))), type_(type)
  {
    if (not fits(count) && count > 0 && (use == Use::build || check_type(type) == MPI_SUCCESS))
      divide(count);
  }
  /** Returns whether this object created the datatype. */
  bool owns() const { return made_ != nullptr; }
  /** Returns false if the count has no suitable divisor. */
  bool fit() const { return fit_; }
  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }
};

/** Array of counts or displacements as ints. */
class SmallNumbers {
  std::shared_ptr<std::vector<int>> numbers_; // null if the array is
  bool fit_ = true;

public:
  template <class Number> SmallNumbers(const Number* numbers, int length)
  {
    if (not numbers)
      return;
    numbers_ = std::make_shared<std::vector<int>>();
    for (int i = 0; i < length; ++i) {
      fit_ &= fits(numbers[i]);
      numbers_->push_back(static_cast<int>(numbers[i]));
    }
    if (length == 0)
      numbers_->push_back(0); // so that the array is not null, though empty
  }
  bool owns() const { return numbers_ != nullptr; }
  bool fit() const { return fit_; }
  const int* data() const { return numbers_ ? numbers_->data() : nullptr; }
};

/** Number of an array's elements; 0 for a communicator that the call itself refuses. For an intercommunicator, the size
 * of the remote group. */
inline int ranks_of(MPI_Comm comm)
{
  return check_comm(comm) == MPI_SUCCESS ? place_in(comm).size : 0;
}
inline int ranks_of_own_group(MPI_Comm comm)
{
  const Intercommunicator* const its = intercommunicator_of(comm);
  return ranks_of(its ? its->local : comm);
}
inline int ranks_at_root(MPI_Comm comm, int root)
{
  if (check_comm(comm) != MPI_SUCCESS)
    return 0;
  const auto [rank, size] = place_in(comm);
  return root == (intercommunicator_of(comm) ? OWN_ROOT : rank) ? size : 0;
}
inline int degree_in(MPI_Comm comm)
{
  return check_comm(comm) == MPI_SUCCESS && topology_of(comm) ? degrees_in(comm).in : 0;
}
inline int degree_out(MPI_Comm comm)
{
  return check_comm(comm) == MPI_SUCCESS && topology_of(comm) ? degrees_in(comm).out : 0;
}

/** Refuses a count that no function can handle; @p handles: by the error handler too. */
inline int refuse_count(MPI_Comm comm, const char* function, bool handles)
{
  const int code =
      wrong(MPI_ERR_COUNT, "a count or displacement exceeds 2^31 - 1; this call allows that for counts of"
                           " one block that have a divisor of at most 2^20, and for blocking reductions of one vector");
  return handles ? handled(comm, function, code) : code;
}

/** Returns the address of a piece of a buffer; MPI_IN_PLACE, and null for a buffer that is not significant, are
 * unchanged. */
template <class Buffer> Buffer* at_byte(Buffer* buffer, MPI_Aint byte)
{
  using Character = std::conditional_t<std::is_const_v<Buffer>, const char, char>;
  return buffer == MPI_IN_PLACE || not buffer ? buffer : static_cast<Character*>(buffer) + byte;
}

/** Reduces more elements than an int can count in consecutive pieces. @p reduce gets a piece's offset in bytes and its
 * number of elements. */
template <class Reduce> int reduce_in_pieces(MPI_Count count, MPI_Datatype type, Reduce&& reduce)
{
  constexpr MPI_Count LARGEST = 1U << 30U;
  MPI_Aint lower              = 0;
  MPI_Aint extent             = 0;
  if (count < 0 || check_type(type) != MPI_SUCCESS)
    return reduce(0, -1); // makes it refuse the call
  PMPI_Type_get_extent(type, &lower, &extent);
  for (MPI_Count from = 0; from < count; from += LARGEST)
    if (const int result = reduce(from * extent, static_cast<int>(std::min(LARGEST, count - from)));
        result != MPI_SUCCESS)
      return result;
  return MPI_SUCCESS;
}

/** Keeps the arguments of a call until its request is complete, or until the end of the run. @return @p result */
template <class... Kept> int keep_until_complete(int result, const MPI_Request* request, const Kept&... kept)
{
  if ((... || kept.owns()) && result == MPI_SUCCESS && *request != MPI_REQUEST_NULL)
    on_completion(*request, [kept...] {});
  return result;
}
template <class... Kept> int keep_always(int result, const MPI_Request* /*request*/, const Kept&... kept)
{
  static auto& all = *new std::vector<std::tuple<Kept...>>;
  if ((... || kept.owns()) && result == MPI_SUCCESS)
    all.emplace_back(kept...);
  return result;
}

} // namespace weft
