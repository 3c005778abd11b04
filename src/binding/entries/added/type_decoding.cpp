// SPDX-License-Identifier: LGPL-2.1-only
/* Decoding of datatypes: MPI_Type_get_envelope and MPI_Type_get_contents (MPI 4.1, section 5.1.13). SMPI returns the
 * simpler constructors by which it creates types, and returns inner types whose handles the program has freed. */
#include "binding/abi/original.hpp"
#include "binding/datatypes/type_contents.hpp"
#include "binding/entries/frame/own_function.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

int check_decodable(MPI_Datatype type)
{
  return type == MPI_DATATYPE_NULL ? wrong(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL")
                                   : static_cast<int>(MPI_SUCCESS);
}

/** Refuses large counts, which the int form cannot return. */
int check_small(const TypeContents* contents, const char* form)
{
  return contents && not contents->counts.empty()
             ? wrong(MPI_ERR_TYPE, "the datatype was made with large counts; decode it with " + std::string(form))
             : static_cast<int>(MPI_SUCCESS);
}

/** Numbers of the arguments of each kind. */
struct Envelope {
  std::size_t integers  = 0;
  std::size_t addresses = 0;
  std::size_t counts    = 0;
  std::size_t types     = 0;
  int combiner          = MPI_COMBINER_NAMED;

  explicit Envelope(const TypeContents* contents)
  {
    if (contents)
      *this = Envelope(*contents);
  }
  explicit Envelope(const TypeContents& contents)
      : integers(contents.integers.size()), addresses(contents.addresses.size()), counts(contents.counts.size()),
        types(contents.types.size()), combiner(contents.combiner)
  {
  }
};

/** Copies a list into the program's array of @p space elements. */
template <class Element, class Space>
int fill(const char* name, const std::vector<Element>& list, Space space, Element* array)
{
  if (std::cmp_less(space, list.size()))
    return wrong(MPI_ERR_ARG, std::string(name) + " has space for " + std::to_string(space) + " of " +
                                  std::to_string(list.size()) + " (MPI_Type_get_envelope)");
  if (not list.empty() && not array)
    return wrong(MPI_ERR_ARG, std::string(name) + " is NULL");
  std::ranges::copy(list, array);
  return MPI_SUCCESS;
}

template <class Space> int fill_types(const TypeContents& contents, Space space, MPI_Datatype* array)
{
  const int result = fill("array_of_datatypes", contents.types, space, array);
  if (result == MPI_SUCCESS)
    std::ranges::for_each(contents.types, new_type_handle);
  return result;
}

int refuse_named()
{
  return wrong(MPI_ERR_TYPE, "the datatype is a named one, which no call has made");
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Type_get_envelope(MPI_Datatype type, int* integers, int* addresses, int* types, int* combiner)
{
  const TypeContents* const contents = type_contents_of(type);
  return first_error([&] { return check_decodable(type); }, [&] { return check_present(integers, "num_integers"); },
                     [&] { return check_present(addresses, "num_addresses"); },
                     [&] { return check_present(types, "num_datatypes"); },
                     [&] { return check_present(combiner, "combiner"); },
                     [&] { return check_small(contents, "MPI_Type_get_envelope_c"); },
                     [&] {
                       const Envelope envelope(contents);
                       *integers  = static_cast<int>(envelope.integers);
                       *addresses = static_cast<int>(envelope.addresses);
                       *types     = static_cast<int>(envelope.types);
                       *combiner  = envelope.combiner;
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count* integers, MPI_Count* addresses,
                                             MPI_Count* counts, MPI_Count* types, int* combiner)
{
  return first_error([&] { return check_decodable(type); }, [&] { return check_present(integers, "num_integers"); },
                     [&] { return check_present(addresses, "num_addresses"); },
                     [&] { return check_present(counts, "num_large_counts"); },
                     [&] { return check_present(types, "num_datatypes"); },
                     [&] { return check_present(combiner, "combiner"); },
                     [&] {
                       const Envelope envelope(type_contents_of(type));
                       *integers  = static_cast<MPI_Count>(envelope.integers);
                       *addresses = static_cast<MPI_Count>(envelope.addresses);
                       *counts    = static_cast<MPI_Count>(envelope.counts);
                       *types     = static_cast<MPI_Count>(envelope.types);
                       *combiner  = envelope.combiner;
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Type_get_contents(MPI_Datatype type, int max_integers, int max_addresses, int max_types,
                                           int* integers, MPI_Aint* addresses, MPI_Datatype* types)
{
  const TypeContents* const contents = type_contents_of(type);
  return first_error([&] { return check_decodable(type); },
                     [&] { return contents ? static_cast<int>(MPI_SUCCESS) : refuse_named(); },
                     [&] { return check_small(contents, "MPI_Type_get_contents_c"); },
                     [&] { return fill("array_of_integers", contents->integers, max_integers, integers); },
                     [&] { return fill("array_of_addresses", contents->addresses, max_addresses, addresses); },
                     [&] { return fill_types(*contents, max_types, types); });
}

WEFT_INTERPOSED int PMPI_Type_get_contents_c(MPI_Datatype type, MPI_Count max_integers, MPI_Count max_addresses,
                                             MPI_Count max_counts, MPI_Count max_types, int* integers,
                                             MPI_Aint* addresses, MPI_Count* counts, MPI_Datatype* types)
{
  const TypeContents* const contents = type_contents_of(type);
  return first_error([&] { return check_decodable(type); },
                     [&] { return contents ? static_cast<int>(MPI_SUCCESS) : refuse_named(); },
                     [&] { return fill("array_of_integers", contents->integers, max_integers, integers); },
                     [&] { return fill("array_of_addresses", contents->addresses, max_addresses, addresses); },
                     [&] { return fill("array_of_large_counts", contents->counts, max_counts, counts); },
                     [&] { return fill_types(*contents, max_types, types); });
}

/** A type has one handle for each time that MPI_Type_get_contents has returned it. */
WEFT_INTERPOSED int PMPI_Type_free(MPI_Datatype* type)
{
  static const auto THEIRS = original(&PMPI_Type_free);
  if (not type)
    return refuse_null("datatype");
  if (*type == MPI_DATATYPE_NULL || not give_back_handle(*type))
    return THEIRS(type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
