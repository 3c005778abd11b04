// SPDX-License-Identifier: LGPL-2.1-only
/* Names of objects (MPI 4.1, section 7.8), and the version of MPI whose names they are. SMPI leaves the buffer
 * unchanged for windows and datatypes without a name, copies names longer than MPI_MAX_OBJECT_NAME beyond the program's
 * buffer, and refuses null handles, whose names are those of their constants. */
#include "binding/abi/original.hpp"
#include "binding/entries/frame/own_function.hpp"

#include <array>
#include <cstring>
#include <smpi/smpi.h>
#include <string>
#include <string_view>

namespace weft {
namespace {

/** Version of MPI in weft_mpi.h. */
constexpr int VERSION    = 4;
constexpr int SUBVERSION = 1;

/** Writes a string and its length; either may be null after an invalid call. */
void write_name(std::string_view name, char* text, int* length)
{
  const std::string_view cut = name.substr(0, MPI_MAX_OBJECT_NAME - 1);
  if (text)
    text[cut.copy(text, cut.size())] = '\0';
  if (length)
    *length = static_cast<int>(cut.size());
}

/** Returns the name of an object: the name @p null for a null handle, otherwise the name from SMPI's function @p
 * theirs, or the empty string. */
template <class Handle, class Theirs>
int give_name(Handle object, Handle null_handle, const char* null_name, char* text, int* length, Theirs&& theirs)
{
  write_name("", text, length);
  const int present =
      first_error([&] { return check_present(text, "name"); }, [&] { return check_present(length, "resultlen"); });
  if (present != MPI_SUCCESS)
    return present;
  if (object == null_handle) {
    write_name(null_name, text, length);
    return MPI_SUCCESS;
  }
  std::array<char, 2 * MPI_MAX_OBJECT_NAME> name{}; // SMPI copies names in full length; they are truncated below
  int unused       = 0;
  const int result = theirs(name.data(), &unused);
  if (result == MPI_SUCCESS)
    write_name(name.data(), text, length);
  return result;
}

/** Returns a name truncated to the length that objects store. */
std::string cut(const char* name)
{
  return {name, strnlen(name, MPI_MAX_OBJECT_NAME - 1)};
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Get_version(int* version, int* subversion)
{
  return first_error([&] { return check_present(version, "version"); },
                     [&] { return check_present(subversion, "subversion"); },
                     [&] {
                       *version    = VERSION;
                       *subversion = SUBVERSION;
                       return MPI_SUCCESS;
                     });
}

WEFT_INTERPOSED int PMPI_Comm_get_name(MPI_Comm comm, char* name, int* length)
{
  static const auto THEIRS = original(&PMPI_Comm_get_name);
  const int result         = give_name(comm, MPI_COMM_NULL, "MPI_COMM_NULL", name, length,
                                       [&](char* text, int* its) { return THEIRS(comm, text, its); });
  if (result == MPI_SUCCESS && *length == 0 && comm == MPI_COMM_SELF)
    write_name("MPI_COMM_SELF", name, length);
  return result;
}

WEFT_INTERPOSED int PMPI_Type_get_name(MPI_Datatype type, char* name, int* length)
{
  static const auto THEIRS = original(&PMPI_Type_get_name);
  return give_name(type, MPI_DATATYPE_NULL, "MPI_DATATYPE_NULL", name, length,
                   [&](char* text, int* its) { return THEIRS(type, text, its); });
}

WEFT_INTERPOSED int PMPI_Win_get_name(MPI_Win win, char* name, int* length)
{
  static const auto THEIRS = original(&PMPI_Win_get_name);
  return give_name(win, MPI_WIN_NULL, "MPI_WIN_NULL", name, length,
                   [&](char* text, int* its) { return THEIRS(win, text, its); });
}

WEFT_INTERPOSED int PMPI_Comm_set_name(MPI_Comm comm, const char* name)
{
  static const auto THEIRS = original(&PMPI_Comm_set_name);
  return THEIRS(comm, name ? cut(name).c_str() : nullptr);
}

WEFT_INTERPOSED int PMPI_Type_set_name(MPI_Datatype type, const char* name)
{
  static const auto THEIRS = original(&PMPI_Type_set_name);
  return THEIRS(type, name ? cut(name).c_str() : nullptr);
}

WEFT_INTERPOSED int PMPI_Win_set_name(MPI_Win win, const char* name)
{
  static const auto THEIRS = original(&PMPI_Win_set_name);
  return THEIRS(win, name ? cut(name).c_str() : nullptr);
}

/** SMPI omits the NUL after a value truncated to @p length characters. */
WEFT_INTERPOSED int PMPI_Info_get(MPI_Info info, const char* key, int length, char* value, int* flag)
{
  static const auto THEIRS = original(&PMPI_Info_get);
  const int result         = THEIRS(info, key, length, value, flag);
  if (result == MPI_SUCCESS && *flag != 0 &&
      strnlen(value, static_cast<std::size_t>(length)) == static_cast<std::size_t>(length))
    value[length] = '\0';
  return result;
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
