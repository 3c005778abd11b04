// SPDX-License-Identifier: LGPL-2.1-only
/* MPI_Type_create_darray (MPI 4.1, section 5.1.4), which SMPI lacks: a rank's part of an array that is distributed over
 * a grid of ranks. */
#include "binding/abi/original.hpp"
#include "binding/data/elements.hpp"
#include "binding/datatypes/type_contents.hpp"
#include "binding/entries/frame/own_function.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

/** MPI_DISTRIBUTE_DFLT_DARG in weft's mpi.h; SimGrid's is a valid size of a block. */
constexpr int DEFAULT_SIZE = -3;

/** Consecutive indices. */
struct IndexRun {
  MPI_Count first;
  MPI_Count count;
};

/** One dimension of the array, and the rank's coordinate in that dimension of the grid. */
struct Dimension {
  MPI_Count size;
  int distribution;
  int argument;
  int ranks;
  int place = 0;

  MPI_Count block() const
  {
    if (distribution == MPI_DISTRIBUTE_NONE)
      return size;
    if (argument != DEFAULT_SIZE)
      return argument;
    return distribution == MPI_DISTRIBUTE_BLOCK ? (size + ranks - 1) / ranks : 1;
  }
  /** Returns the rank's indices. */
  std::vector<IndexRun> part() const
  {
    std::vector<IndexRun> runs;
    for (MPI_Count first = place * block(); first < size; first += ranks * block())
      runs.push_back({first, std::min(block(), size - first)});
    return runs;
  }
};

int check_dimension(const Dimension& dimension)
{
  if (dimension.size < 1)
    return wrong(MPI_ERR_ARG, "the array's size is " + std::to_string(dimension.size));
  if (dimension.ranks < 1)
    return wrong(MPI_ERR_ARG, "the grid's size is " + std::to_string(dimension.ranks));
  if (dimension.distribution != MPI_DISTRIBUTE_BLOCK && dimension.distribution != MPI_DISTRIBUTE_CYCLIC &&
      dimension.distribution != MPI_DISTRIBUTE_NONE)
    return wrong(MPI_ERR_ARG, "the distribution is " + std::to_string(dimension.distribution));
  if (dimension.distribution == MPI_DISTRIBUTE_NONE)
    return dimension.ranks == 1 ? static_cast<int>(MPI_SUCCESS)
                                : wrong(MPI_ERR_ARG, "a dimension that is not distributed has several ranks");
  if (dimension.block() < 1)
    return wrong(MPI_ERR_ARG, "the distribution's argument is " + std::to_string(dimension.argument));
  return dimension.distribution == MPI_DISTRIBUTE_BLOCK && dimension.block() * dimension.ranks < dimension.size
             ? wrong(MPI_ERR_ARG, "the blocks do not cover the array")
             : static_cast<int>(MPI_SUCCESS);
}

int check_dimensions(int ranks, int rank, std::span<const Dimension> dimensions, int order, MPI_Datatype type)
{
  if (rank < 0 || rank >= ranks)
    return wrong(MPI_ERR_RANK, "the rank is " + std::to_string(rank) + " of " + std::to_string(ranks));
  if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
    return wrong(MPI_ERR_ARG, "the order is " + std::to_string(order));
  MPI_Count places = 1;
  for (const Dimension& dimension : dimensions) {
    if (const int result = check_dimension(dimension); result != MPI_SUCCESS)
      return result;
    places *= dimension.ranks;
  }
  if (places != ranks)
    return wrong(MPI_ERR_ARG,
                 "the grid has " + std::to_string(places) + " places for " + std::to_string(ranks) + " ranks");
  return type == MPI_DATATYPE_NULL ? wrong(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL")
                                   : static_cast<int>(MPI_SUCCESS);
}

/** Sets the coordinates of a rank in the grid, whose last dimension varies fastest. */
void set_places(int rank, std::span<Dimension> dimensions)
{
  for (Dimension& dimension : std::views::reverse(dimensions)) {
    dimension.place = rank % dimension.ranks;
    rank /= dimension.ranks;
  }
}

/** Returns the part's elements as runs of consecutive ones, in memory order. @p dimensions: the last one varies
 * fastest. */
std::vector<IndexRun> runs_of_part(std::span<const Dimension> dimensions)
{
  std::vector<IndexRun> all{{0, 1}};
  for (const Dimension& dimension : dimensions) {
    const auto part = dimension.part();
    std::vector<IndexRun> finer;
    for (const IndexRun& outer : all) {
      for (MPI_Count index = outer.first; index < outer.first + outer.count; ++index) {
        for (const IndexRun& inner : part) {
          const MPI_Count first = index * dimension.size + inner.first;
          if (not finer.empty() && finer.back().first + finer.back().count == first)
            finer.back().count += inner.count;
          else
            finer.push_back({first, inner.count});
        }
      }
    }
    all = std::move(finer);
  }
  return all;
}

int make_part(std::span<const Dimension> dimensions, MPI_Datatype element, MPI_Datatype* made)
{
  const MPI_Aint extent = extent_of(element);
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  for (const IndexRun& run : runs_of_part(dimensions)) {
    if (run.count > std::numeric_limits<int>::max())
      return wrong(MPI_ERR_COUNT, "a part has " + std::to_string(run.count) + " consecutive elements");
    lengths.push_back(static_cast<int>(run.count));
    displacements.push_back(run.first * extent);
  }
  if (lengths.empty()) { // SMPI's indexed types need at least one block
    lengths.push_back(0);
    displacements.push_back(0);
  }
  const MPI_Count elements =
      std::transform_reduce(dimensions.begin(), dimensions.end(), MPI_Count{1}, std::multiplies<>(),
                            [](const Dimension& dimension) { return dimension.size; });
  MPI_Datatype part = MPI_DATATYPE_NULL;
  if (const int result = PMPI_Type_create_hindexed(static_cast<int>(lengths.size()), lengths.data(),
                                                   displacements.data(), element, &part);
      result != MPI_SUCCESS)
    return result;
  const int result = PMPI_Type_create_resized(part, 0, elements * extent, made);
  PMPI_Type_free(&part);
  return result;
}

/** Returns the contents of an array with int sizes. */
TypeContents contents_of_array(std::vector<int> first, std::span<const int> sizes, std::span<const int> more)
{
  first.insert(first.end(), sizes.begin(), sizes.end());
  first.insert(first.end(), more.begin(), more.end());
  return {.combiner = MPI_COMBINER_DARRAY, .integers = std::move(first)};
}

/** Returns the contents of an array with large sizes. */
TypeContents contents_of_array(std::vector<int> first, std::span<const MPI_Count> sizes, std::span<const int> more)
{
  first.insert(first.end(), more.begin(), more.end());
  return {.combiner = MPI_COMBINER_DARRAY, .integers = std::move(first), .counts = {sizes.begin(), sizes.end()}};
}

template <class Count>
int create_darray(int ranks, int rank, int number, const Count* sizes, const int* distributions, const int* arguments,
                  const int* grid, int order, MPI_Datatype element, MPI_Datatype* made)
{
  if (number < 1)
    return wrong(MPI_ERR_DIMS, "the number of dimensions is " + std::to_string(number));
  if (not sizes || not distributions || not arguments || not grid || not made)
    return wrong(MPI_ERR_ARG, "an argument is NULL");
  std::vector<Dimension> dimensions;
  dimensions.reserve(static_cast<std::size_t>(number));
  for (int each = 0; each < number; ++each)
    dimensions.push_back({sizes[each], distributions[each], arguments[each], grid[each]});
  if (const int result = check_dimensions(ranks, rank, dimensions, order, element); result != MPI_SUCCESS)
    return result;
  set_places(rank, dimensions);
  if (order == MPI_ORDER_FORTRAN)
    std::ranges::reverse(dimensions);
  if (const int result = make_part(dimensions, element, made); result != MPI_SUCCESS)
    return result;
  std::vector<int> more;
  for (const auto* list : {distributions, arguments, grid})
    more.insert(more.end(), list, list + number);
  more.push_back(order);
  const auto dims       = static_cast<std::size_t>(number);
  TypeContents contents = contents_of_array({ranks, rank, number}, std::span<const Count>(sizes, dims), more);
  contents.types        = {element};
  set_type_contents(*made, std::move(contents));
  return MPI_SUCCESS;
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Type_create_darray(int size, int rank, int ndims, int* gsizes, int* distribs, int* dargs,
                                            int* psizes, int order, MPI_Datatype oldtype, MPI_Datatype* newtype)
{
  return create_darray(size, rank, ndims, gsizes, distribs, dargs, psizes, order, oldtype, newtype);
}

WEFT_INTERPOSED int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count* gsizes,
                                              const int* distribs, const int* dargs, const int* psizes, int order,
                                              MPI_Datatype oldtype, MPI_Datatype* newtype)
{
  return create_darray(size, rank, ndims, gsizes, distribs, dargs, psizes, order, oldtype, newtype);
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
