// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/datatypes/type_contents.hpp"

#include "binding/abi/smpi/datatypes.hpp"

#include <unordered_map>
#include <utility>

using simgrid::smpi::DatatypeContents;
using simgrid::smpi::DatatypeLayout;

namespace weft {
namespace {

/** Contents and handles of a derived type. */
struct MadeType {
  TypeContents contents;
  int further_handles = 0; ///< handles that the program holds in addition to the first
};

std::unordered_map<MPI_Datatype, MadeType>& made_types()
{
  static auto& all = *new std::unordered_map<MPI_Datatype, MadeType>; // leaked, since ranks may end late
  return all;
}

/** Frees SMPI's copy of the arguments. Its datatypes stay, since SMPI counts some of its references by them. */
void drop_smpi_copy(MPI_Datatype made)
{
  auto* const copy = static_cast<DatatypeContents*>(reinterpret_cast<DatatypeLayout*>(made)->contents);
  if (not copy)
    return;
  copy->integers  = {};
  copy->addresses = {};
}

void release(const std::vector<MPI_Datatype>& types)
{
  for (const MPI_Datatype type : types)
    simgrid::smpi::Datatype::unref(type);
}

} // namespace

void set_type_contents(MPI_Datatype made, TypeContents contents)
{
  for (const MPI_Datatype type : contents.types)
    type->ref();
  drop_smpi_copy(made);
  // Released last, since the simpler call's types may be parts of these.
  const TypeContents simpler = std::exchange(made_types()[made].contents, std::move(contents));
  release(simpler.types);
}

const TypeContents* type_contents_of(MPI_Datatype type)
{
  const auto found = made_types().find(type);
  return found == made_types().end() ? nullptr : &found->second.contents;
}

void forget_type_contents(MPI_Datatype type)
{
  if (const auto found = made_types().extract(type))
    release(found.mapped().contents.types);
}

MPI_Datatype new_type_handle(MPI_Datatype type)
{
  const auto found = made_types().find(type);
  if (found == made_types().end())
    return type;
  bool& freed = reinterpret_cast<DatatypeLayout*>(type)->handle.deleted;
  if (not std::exchange(freed, false))
    ++found->second.further_handles;
  type->ref();
  return type;
}

bool give_back_handle(MPI_Datatype type)
{
  const auto found = made_types().find(type);
  if (found == made_types().end() || found->second.further_handles == 0)
    return false;
  --found->second.further_handles;
  simgrid::smpi::Datatype::unref(type);
  return true;
}

} // namespace weft
