// SPDX-License-Identifier: LGPL-2.1-only
#include "mpi/names.hpp"

#include <initializer_list>
#include <unordered_map>
#include <utility>

namespace weft {
namespace {

/** Bidirectional map between handles and their names. */
template <class Handle> class HandleNames {
  std::unordered_map<Handle, std::string> name_of_;
  std::unordered_map<std::string, Handle> handle_of_;

public:
  HandleNames(std::initializer_list<std::pair<const char*, Handle>> all)
  {
    for (const auto& [name, handle] : all) {
      name_of_.emplace(handle, name);
      handle_of_.emplace(name, handle);
    }
  }
  void add_alias(Handle alias, Handle of) { name_of_.emplace(alias, *name_of(of)); }
  const std::string* name_of(Handle handle) const
  {
    const auto found = name_of_.find(handle);
    return found == name_of_.end() ? nullptr : &found->second;
  }
  std::optional<Handle> handle_of(const std::string& name) const
  {
    const auto found = handle_of_.find(name);
    return found == handle_of_.end() ? std::nullopt : std::optional(found->second);
  }
};

#define WEFT_NAMED(handle) {#handle, handle}

HandleNames<MPI_Datatype>& datatypes()
{
  static HandleNames<MPI_Datatype> names{WEFT_NAMED(MPI_CHAR),
                                         WEFT_NAMED(MPI_SHORT),
                                         WEFT_NAMED(MPI_INT),
                                         WEFT_NAMED(MPI_LONG),
                                         WEFT_NAMED(MPI_LONG_LONG),
                                         WEFT_NAMED(MPI_SIGNED_CHAR),
                                         WEFT_NAMED(MPI_UNSIGNED_CHAR),
                                         WEFT_NAMED(MPI_UNSIGNED_SHORT),
                                         WEFT_NAMED(MPI_UNSIGNED),
                                         WEFT_NAMED(MPI_UNSIGNED_LONG),
                                         WEFT_NAMED(MPI_UNSIGNED_LONG_LONG),
                                         WEFT_NAMED(MPI_FLOAT),
                                         WEFT_NAMED(MPI_DOUBLE),
                                         WEFT_NAMED(MPI_LONG_DOUBLE),
                                         WEFT_NAMED(MPI_WCHAR),
                                         WEFT_NAMED(MPI_C_BOOL),
                                         WEFT_NAMED(MPI_CXX_BOOL),
                                         WEFT_NAMED(MPI_INT8_T),
                                         WEFT_NAMED(MPI_INT16_T),
                                         WEFT_NAMED(MPI_INT32_T),
                                         WEFT_NAMED(MPI_INT64_T),
                                         WEFT_NAMED(MPI_UINT8_T),
                                         WEFT_NAMED(MPI_UINT16_T),
                                         WEFT_NAMED(MPI_UINT32_T),
                                         WEFT_NAMED(MPI_UINT64_T),
                                         WEFT_NAMED(MPI_BYTE),
                                         WEFT_NAMED(MPI_C_FLOAT_COMPLEX),
                                         WEFT_NAMED(MPI_C_DOUBLE_COMPLEX),
                                         WEFT_NAMED(MPI_C_LONG_DOUBLE_COMPLEX),
                                         WEFT_NAMED(MPI_AINT),
                                         WEFT_NAMED(MPI_OFFSET),
                                         WEFT_NAMED(MPI_COUNT),
                                         WEFT_NAMED(MPI_FLOAT_INT),
                                         WEFT_NAMED(MPI_LONG_INT),
                                         WEFT_NAMED(MPI_DOUBLE_INT),
                                         WEFT_NAMED(MPI_SHORT_INT),
                                         WEFT_NAMED(MPI_2INT),
                                         WEFT_NAMED(MPI_LONG_DOUBLE_INT),
                                         WEFT_NAMED(MPI_2FLOAT),
                                         WEFT_NAMED(MPI_2DOUBLE),
                                         WEFT_NAMED(MPI_2LONG),
                                         WEFT_NAMED(MPI_REAL),
                                         WEFT_NAMED(MPI_REAL4),
                                         WEFT_NAMED(MPI_REAL8),
                                         WEFT_NAMED(MPI_REAL16),
                                         WEFT_NAMED(MPI_COMPLEX8),
                                         WEFT_NAMED(MPI_COMPLEX16),
                                         WEFT_NAMED(MPI_COMPLEX32),
                                         WEFT_NAMED(MPI_INTEGER1),
                                         WEFT_NAMED(MPI_INTEGER2),
                                         WEFT_NAMED(MPI_INTEGER4),
                                         WEFT_NAMED(MPI_INTEGER8),
                                         WEFT_NAMED(MPI_INTEGER16),
                                         WEFT_NAMED(MPI_PACKED)};
  return names;
}

const HandleNames<MPI_Op>& operations()
{
  static const HandleNames<MPI_Op> NAMES{WEFT_NAMED(MPI_SUM),     WEFT_NAMED(MPI_PROD),   WEFT_NAMED(MPI_MAX),
                                         WEFT_NAMED(MPI_MIN),     WEFT_NAMED(MPI_LAND),   WEFT_NAMED(MPI_LOR),
                                         WEFT_NAMED(MPI_LXOR),    WEFT_NAMED(MPI_BAND),   WEFT_NAMED(MPI_BOR),
                                         WEFT_NAMED(MPI_BXOR),    WEFT_NAMED(MPI_MAXLOC), WEFT_NAMED(MPI_MINLOC),
                                         WEFT_NAMED(MPI_REPLACE), WEFT_NAMED(MPI_NO_OP)};
  return NAMES;
}

#undef WEFT_NAMED

} // namespace

const std::string& datatype_name(MPI_Datatype datatype)
{
  static const std::string NONE;
  static const std::string OTHER = "derived";
  if (datatype == MPI_DATATYPE_NULL)
    return NONE;
  const std::string* name = datatypes().name_of(datatype);
  return name ? *name : OTHER;
}

std::optional<MPI_Datatype> named_datatype(const std::string& name)
{
  return datatypes().handle_of(name);
}

void name_like(MPI_Datatype unnamed, MPI_Datatype named)
{
  datatypes().add_alias(unnamed, named);
}

bool is_predefined(MPI_Datatype datatype)
{
  return datatype != MPI_DATATYPE_NULL && datatypes().name_of(datatype);
}

const std::string& operation_name(MPI_Op operation)
{
  static const std::string NONE;
  static const std::string OTHER = "user-defined";
  if (operation == MPI_OP_NULL)
    return NONE;
  const std::string* name = operations().name_of(operation);
  return name ? *name : OTHER;
}

bool is_predefined(MPI_Op operation)
{
  return operation != MPI_OP_NULL && operations().name_of(operation);
}

std::optional<MPI_Op> named_operation(const std::string& name)
{
  return operations().handle_of(name);
}

} // namespace weft
