// SPDX-License-Identifier: LGPL-2.1-only
/* SMPI's datatypes (src/smpi/include/smpi_datatype.hpp). */
#pragma once

#include "binding/abi/smpi/handles.hpp"

#include <smpi/smpi.h>

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace simgrid::smpi {

class Datatype {
public:
  static int keyval_id_; // NOLINT(readability-identifier-naming): SMPI's name; the next keyval
  /** Constructs a predefined datatype in the storage of a DatatypeLayout. */
  Datatype(const char* name, int number, int size, MPI_Aint low, MPI_Aint high, int flags);
  bool is_valid() const; ///< true if it has been committed
  void ref();
  static void unref(MPI_Datatype datatype);
  /** Copies data and leaves the gaps of the receiving type untouched. Either type may be MPI_BYTE: packed. */
  static int copy(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                  MPI_Datatype to_type);
};

/** Fields of a Datatype, in SimGrid 4.0 and 4.1; the attributes are those of Keyval
 * (src/smpi/include/smpi_keyvals.hpp). */
struct DatatypeLayout {
  HandleLayout handle;
  std::string call_location;
  std::unordered_map<int, void*> attributes;
  std::string name;
  std::string id;
  std::size_t size;
  MPI_Aint low;
  MPI_Aint high;
  unsigned flags;
  int references;
  void* contents;
  MPI_Datatype original; ///< of a duplicate, which matches the same types as the original
};
/** Results of MPI_Type_get_contents (Datatype_contents). */
struct DatatypeContents {
  int combiner;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
};
/** Datatype flag: committed (DT_FLAG_COMMITED). */
constexpr unsigned COMMITTED_FLAG = 0x2;
/** Datatype flag: cannot be freed (DT_FLAG_PREDEFINED). */
constexpr unsigned PREDEFINED_FLAG = 0x40;
/** Datatype flag: SMPI packs and unpacks the data (DT_FLAG_DERIVED). */
constexpr unsigned DERIVED_FLAG = 0x800;

} // namespace simgrid::smpi
