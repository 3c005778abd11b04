// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/added/basic_runs.hpp"

#include "binding/data/elements.hpp"
#include "binding/datatypes/fortran_types.hpp"
#include "binding/datatypes/type_maps.hpp"

#include <array>
#include <utility>

namespace weft {
namespace {

/** Types of values and indices, and the pair types made of them. */
struct Pair {
  MPI_Datatype value;
  MPI_Datatype index;
  MPI_Datatype pair;
};
const std::array<Pair, 12>& pairs()
{
  static const std::array<Pair, 12> ALL{{{&weft_integer, &weft_integer, &weft_2integer},
                                         {MPI_REAL, MPI_REAL, &weft_2real},
                                         {&weft_double_precision, &weft_double_precision, &weft_2double_precision},
                                         {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
                                         {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
                                         {MPI_LONG, MPI_INT, MPI_LONG_INT},
                                         {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
                                         {MPI_INT, MPI_INT, MPI_2INT},
                                         {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
                                         {MPI_FLOAT, MPI_FLOAT, MPI_2FLOAT},
                                         {MPI_DOUBLE, MPI_DOUBLE, MPI_2DOUBLE},
                                         {MPI_LONG, MPI_LONG, MPI_2LONG}}};
  return ALL;
}

std::vector<BasicRun> runs_of_named(MPI_Datatype type)
{
  const std::size_t size = element_size(type);
  if (size == 0)
    return {};
  for (const Pair& pair : pairs()) {
    if (pair.pair == type)
      return {{pair.value, size / 2, 1}, {pair.index, size / 2, 1}};
  }
  return {{type, size, 1}};
}

void append(std::vector<BasicRun>& runs, const BasicRun& more)
{
  if (not runs.empty() && runs.back().type == more.type)
    runs.back().count += more.count;
  else
    runs.push_back(more);
}

} // namespace

std::vector<BasicRun> basic_runs(MPI_Datatype type)
{
  std::vector<BasicRun> runs;
  type_map_of(type)->for_numbers(1, [&runs](MPI_Aint /*offset*/, MPI_Datatype basic, std::int64_t number) {
    const std::vector<BasicRun> each = runs_of_named(basic);
    if (each.size() == 1) {
      append(runs, {basic, each.front().size, static_cast<std::size_t>(number)});
      return;
    }
    for (std::int64_t one = 0; one < number; ++one)
      for (const BasicRun& run : each)
        append(runs, run);
  });
  return runs;
}

MPI_Datatype pair_of(MPI_Datatype value, MPI_Datatype index)
{
  for (const Pair& pair : pairs()) {
    if (pair.value == value && pair.index == index)
      return pair.pair;
  }
  return MPI_DATATYPE_NULL;
}

} // namespace weft
