// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/entries/added/basic_runs.hpp"

#include "binding/abi/private_abi.hpp"
#include "binding/data/elements.hpp"

#include <array>
#include <utility>

namespace weft {
namespace {

/** Contents of a derived type, as MPI_Type_get_contents tells them. */
class TypeContents {
  std::vector<MPI_Datatype> types_;
  std::vector<int> integers_;

public:
  TypeContents(MPI_Datatype type, int integers, int addresses, int types)
      : types_(static_cast<std::size_t>(types)), integers_(static_cast<std::size_t>(integers))
  {
    std::vector<MPI_Aint> displacements(static_cast<std::size_t>(addresses));
    PMPI_Type_get_contents(type, integers, addresses, types, integers_.data(), displacements.data(), types_.data());
  }
  TypeContents(const TypeContents&)            = delete;
  TypeContents& operator=(const TypeContents&) = delete;
  ~TypeContents()
  {
    for (MPI_Datatype type : types_)
      simgrid::smpi::Datatype::unref(type);
  }

  const std::vector<MPI_Datatype>& types() const { return types_; }
  /** Returns how many elements of its member @p place a structure has. */
  std::size_t length(std::size_t place) const { return static_cast<std::size_t>(integers_[1 + place]); }
};

/** Types of values and indices, and their pairs. */
struct Pair {
  MPI_Datatype value;
  MPI_Datatype index;
  MPI_Datatype pair;
};
const std::array<Pair, 9>& pairs()
{
  static const std::array<Pair, 9> ALL{{{MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
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

void append(std::vector<BasicRun>& runs, const std::vector<BasicRun>& more, std::size_t times)
{
  if (more.empty() || times == 0)
    return;
  if (more.size() == 1) {
    const BasicRun whole{more[0].type, more[0].size, more[0].count * times};
    if (not runs.empty() && runs.back().type == whole.type)
      runs.back().count += whole.count;
    else
      runs.push_back(whole);
    return;
  }
  for (std::size_t time = 0; time < times; ++time)
    runs.insert(runs.end(), more.begin(), more.end());
}

} // namespace

std::vector<BasicRun> basic_runs(MPI_Datatype type)
{
  int integers  = 0;
  int addresses = 0;
  int types     = 0;
  int combiner  = MPI_COMBINER_NAMED;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (types == 0)
    return runs_of_named(type);
  const TypeContents contents(type, integers, addresses, types);
  std::vector<BasicRun> runs;
  if (types == 1) { // elements of one type
    const std::size_t size = element_size(contents.types()[0]);
    append(runs, basic_runs(contents.types()[0]), size > 0 ? element_size(type) / size : 0);
    return runs;
  }
  for (std::size_t place = 0; place < contents.types().size(); ++place) // of a structure, which SMPI calls indexed
    append(runs, basic_runs(contents.types()[place]), contents.length(place));
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
