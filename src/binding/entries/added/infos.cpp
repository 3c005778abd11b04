// SPDX-License-Identifier: LGPL-2.1-only
/* Info objects about the environment, and strings of info objects (MPI 4.1, sections 9.1.2 and 10.1), which SMPI
 * lacks. */
#include "binding/abi/original.hpp"
#include "binding/entries/frame/own_function.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace weft {
namespace {

int make_info(MPI_Info* info, const std::vector<std::pair<std::string, std::string>>& entries)
{
  const int result = PMPI_Info_create(info);
  for (const auto& [key, value] : entries)
    PMPI_Info_set(*info, key.c_str(), value.c_str());
  return result;
}

std::string joined(int count, char** words)
{
  std::string all;
  for (int word = 0; word < count; ++word)
    all += (word > 0 ? " " : "") + std::string(words[word]);
  return all;
}

/** Copies a value, cut to *@p length characters with the zero, and sets *@p length to what it needs. */
int get_string(MPI_Info info, const char* key, int* length, char* value, int* flag)
{
  int needed = 0;
  if (const int result = PMPI_Info_get_valuelen(info, key, &needed, flag); result != MPI_SUCCESS || *flag == 0)
    return result;
  std::vector<char> whole(static_cast<std::size_t>(needed) + 1);
  const int result = PMPI_Info_get(info, key, needed + 1, whole.data(), flag);
  if (*length > 0) {
    const std::size_t copied = static_cast<std::size_t>(std::min(needed, *length - 1));
    std::memcpy(value, whole.data(), copied);
    value[copied] = '\0';
  }
  *length = needed + 1;
  return result;
}

} // namespace
} // namespace weft

using namespace weft; // NOLINT(google-build-using-namespace): what these do is all weft's

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {

WEFT_INTERPOSED int PMPI_Info_create_env(int argc, char** argv, MPI_Info* info)
{
  if (const int result = check_present(info, "info"); result != MPI_SUCCESS)
    return result;
  if (argc < 1 || not argv)
    return make_info(info, {});
  return make_info(info, {{"command", argv[0]}, {"argv", joined(argc - 1, argv + 1)}});
}

WEFT_INTERPOSED int PMPI_Info_get_string(MPI_Info info, const char* key, int* buflen, char* value, int* flag)
{
  return first_error(
      [&] { return info == MPI_INFO_NULL ? wrong(MPI_ERR_INFO, "the info is MPI_INFO_NULL") : MPI_SUCCESS; },
      [&] { return key ? static_cast<int>(MPI_SUCCESS) : wrong(MPI_ERR_INFO_KEY, "the key is NULL"); },
      [&] { return check_present(buflen, "buflen"); }, [&] { return check_present(flag, "flag"); },
      [&] { return *buflen > 0 ? check_present(value, "value") : static_cast<int>(MPI_SUCCESS); },
      [&] { return get_string(info, key, buflen, value, flag); });
}

WEFT_INTERPOSED int PMPI_Get_hw_resource_info(MPI_Info* info)
{
  return first_error([&] { return check_present(info, "hw_info"); },
                     [&] { return make_info(info, {{"mpi://node", "true"}}); });
}

WEFT_MPI_FUNCTION(Info_create_env, MPI_COMM_WORLD, (int argc, char** argv, MPI_Info* info), argc, argv, info)
WEFT_MPI_FUNCTION(Info_get_string, MPI_COMM_WORLD,
                  (MPI_Info info, const char* key, int* buflen, char* value, int* flag), info, key, buflen, value, flag)
WEFT_MPI_FUNCTION(Get_hw_resource_info, MPI_COMM_WORLD, (MPI_Info * info), info)

} // extern "C"
// NOLINTEND(readability-identifier-naming)
