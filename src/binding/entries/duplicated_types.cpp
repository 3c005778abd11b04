// SPDX-License-Identifier: LGPL-2.1-only
/* MPI_Type_dup of vectors and indexed types: SMPI takes the stride in bytes of the original for one
 * in elements, and its displacements of 8 bytes for ones of 4 (Type_Vector::clone and
 * Type_Indexed::clone in src/smpi/mpi/smpi_datatype_derived.cpp). Here the copy is made from the
 * contents of the original. */
#include "binding/abi/original.hpp"
#include "binding/abi/private_abi.hpp"

#include <smpi/smpi.h>

#include <cstddef>
#include <vector>

namespace weft {
namespace {

using Clone = int (*)(MPI_Datatype type, MPI_Datatype* made);

/** Arguments that a type was made with. */
class TypeContents {
  std::vector<int> integers_;
  MPI_Datatype element_ = MPI_DATATYPE_NULL;
  int combiner_         = MPI_COMBINER_NAMED;

public:
  explicit TypeContents(MPI_Datatype type)
  {
    int integers  = 0;
    int addresses = 0;
    int types     = 0;
    PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner_);
    integers_.resize(static_cast<std::size_t>(integers));
    PMPI_Type_get_contents(type, integers, 0, 1, integers_.data(), nullptr, &element_);
  }
  TypeContents(const TypeContents&)            = delete;
  TypeContents& operator=(const TypeContents&) = delete;
  ~TypeContents() { simgrid::smpi::Datatype::unref(element_); }

  const int* integers() const { return integers_.data(); }
  MPI_Datatype element() const { return element_; }
  bool is_copy() const { return combiner_ == MPI_COMBINER_DUP; }
};

/** Makes a copy of @p type by @p make, which gets its contents. */
template <class Make> int clone_type(MPI_Datatype type, MPI_Datatype* made, Clone clone, Make&& make)
{
  using CopyAttributes     = int (*)(MPI_Datatype to, MPI_Datatype from);
  static const auto THEIRS = original<CopyAttributes>("_ZN7simgrid4smpi8Datatype10copy_attrsEPS1_");
  const TypeContents its(type);
  const int result = its.is_copy() ? clone(its.element(), made) : make(its);
  if (result == MPI_SUCCESS && type->is_valid())
    PMPI_Type_commit(made);
  return result == MPI_SUCCESS ? THEIRS(*made, type) : result;
}

} // namespace
} // namespace weft

int weft_clone_vector(MPI_Datatype type, MPI_Datatype* made)
    WEFT_REPLACES("_ZN7simgrid4smpi11Type_Vector5cloneEPPNS0_8DatatypeE");
int weft_clone_vector(MPI_Datatype type, MPI_Datatype* made)
{
  return weft::clone_type(type, made, weft_clone_vector, [made](const weft::TypeContents& its) {
    const int* const integers = its.integers();
    return PMPI_Type_vector(integers[0], integers[1], integers[2], its.element(), made);
  });
}

int weft_clone_indexed(MPI_Datatype type, MPI_Datatype* made)
    WEFT_REPLACES("_ZN7simgrid4smpi12Type_Indexed5cloneEPPNS0_8DatatypeE");
int weft_clone_indexed(MPI_Datatype type, MPI_Datatype* made)
{
  return weft::clone_type(type, made, weft_clone_indexed, [made](const weft::TypeContents& its) {
    const int count          = its.integers()[0];
    const int* const lengths = its.integers() + 1;
    return PMPI_Type_indexed(count, lengths, lengths + count, its.element(), made);
  });
}
