#include "simgrid/mpi_names.hpp"

#include <unordered_map>

namespace weft {
namespace {

template <class Handle> using Names = std::unordered_map<Handle, std::string>;

} // namespace

#define WEFT_NAMED(handle) {handle, #handle}

namespace {

const Names<MPI_Datatype>& datatype_names()
{
  static const Names<MPI_Datatype> NAMES = {WEFT_NAMED(MPI_CHAR),
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
  return NAMES;
}

} // namespace

const std::string& datatype_name(MPI_Datatype datatype)
{
  static const std::string NONE;
  static const std::string OTHER = "derived";
  if (datatype == MPI_DATATYPE_NULL)
    return NONE;
  const auto found = datatype_names().find(datatype);
  return found == datatype_names().end() ? OTHER : found->second;
}

bool is_predefined(MPI_Datatype datatype)
{
  return datatype != MPI_DATATYPE_NULL && datatype_names().contains(datatype);
}

const std::string& operation_name(MPI_Op operation)
{
  static const std::string OTHER   = "user-defined";
  static const Names<MPI_Op> NAMES = {{MPI_OP_NULL, ""},      WEFT_NAMED(MPI_SUM),     WEFT_NAMED(MPI_PROD),
                                      WEFT_NAMED(MPI_MAX),    WEFT_NAMED(MPI_MIN),     WEFT_NAMED(MPI_LAND),
                                      WEFT_NAMED(MPI_LOR),    WEFT_NAMED(MPI_LXOR),    WEFT_NAMED(MPI_BAND),
                                      WEFT_NAMED(MPI_BOR),    WEFT_NAMED(MPI_BXOR),    WEFT_NAMED(MPI_MAXLOC),
                                      WEFT_NAMED(MPI_MINLOC), WEFT_NAMED(MPI_REPLACE), WEFT_NAMED(MPI_NO_OP)};
  const auto found                 = NAMES.find(operation);
  return found == NAMES.end() ? OTHER : found->second;
}

} // namespace weft
