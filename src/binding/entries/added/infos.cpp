// SPDX-License-Identifier: LGPL-2.1-only
/* Info objects about the environment, and strings of info objects (MPI 4.1, sections 9.1.2 and 10.1), which SMPI lacks.
 * Also hints of communicators, which SMPI copies with the communicator and replaces when new ones are set; and the
 * alignment of memory, which SMPI ignores. */
#include "binding/abi/original.hpp"
#include "binding/entries/frame/hints.hpp"
#include "binding/entries/frame/own_function.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdlib>
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

/** Copies a value, truncated to *@p length characters including the NUL, and sets *@p length to the required length. */
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

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): MPI's prototype
int free_hints(MPI_Comm /*comm*/, int /*keyval*/, void* hints, void* /*state*/)
{
  auto its = static_cast<MPI_Info>(hints);
  return PMPI_Info_free(&its);
}

/** Returns the keyval of a communicator's hints, an info object. Copies of the communicator have none (MPI 4.1, section
 * 7.4.2). */
int hints_keyval()
{
  static const int KEYVAL = [] {
    int keyval = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_hints, &keyval, nullptr);
    return keyval;
  }();
  return KEYVAL;
}

/** Adds the hints that have been set to @p target. */
void add_hints_of(MPI_Comm comm, MPI_Info target)
{
  void* hints = nullptr;
  int flag    = 0;
  PMPI_Comm_get_attr(comm, hints_keyval(), static_cast<void*>(&hints), &flag);
  if (flag != 0)
    add_hints(static_cast<MPI_Info>(hints), target);
}

/** Returns the alignment that the hints request, a power of two; 1 if there is none or it is no power of two. */
std::size_t alignment_of(MPI_Info info)
{
  if (not asks_for_alignment(info))
    return 1;
  std::array<char, MPI_MAX_INFO_VAL + 1> text{};
  int flag = 0;
  PMPI_Info_get(info, ALIGNMENT_KEY, MPI_MAX_INFO_VAL, text.data(), &flag);
  std::size_t alignment = 0;
  std::from_chars(text.data(), text.data() + std::strlen(text.data()), alignment);
  return std::has_single_bit(alignment) ? alignment : 1;
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

WEFT_INTERPOSED int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info* info)
{
  return first_error([&] { return check_comm(comm); }, [&] { return check_present(info, "info_used"); },
                     [&] {
                       const int result = PMPI_Info_create(info);
                       add_hints_of(comm, *info);
                       PMPI_Info_set(*info, MEMORY_KINDS_KEY, MEMORY_KINDS);
                       return result;
                     });
}

WEFT_INTERPOSED int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
  return first_error(
      [&] { return check_comm(comm); },
      [&] { return info == MPI_INFO_NULL ? wrong(MPI_ERR_INFO, "the info is MPI_INFO_NULL") : MPI_SUCCESS; },
      [&] {
        MPI_Info all = MPI_INFO_NULL;
        PMPI_Info_create(&all);
        add_hints_of(comm, all);
        add_hints(info, all);
        return PMPI_Comm_set_attr(comm, hints_keyval(), all);
      });
}

WEFT_INTERPOSED int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr)
{
  static const auto THEIRS    = original<decltype(&PMPI_Alloc_mem)>(__func__);
  const std::size_t alignment = alignment_of(info);
  if (alignment <= alignof(std::max_align_t) || size < 0 || not baseptr)
    return THEIRS(size, info, baseptr);
  // MPI_Free_mem and SMPI's windows call free(), which is correct for memory of aligned_alloc.
  const std::size_t whole = (static_cast<std::size_t>(size) + alignment - 1) / alignment * alignment;
  void* const memory      = std::aligned_alloc(alignment, std::max(whole, alignment));
  if (not memory)
    return wrong(MPI_ERR_NO_MEM, "there is not enough memory");
  *static_cast<void**>(baseptr) = memory;
  return MPI_SUCCESS;
}

WEFT_INTERPOSED int PMPI_Get_hw_resource_info(MPI_Info* info)
{
  return first_error([&] { return check_present(info, "hw_info"); },
                     [&] { return make_info(info, {{"mpi://node", "true"}}); });
}

} // extern "C"
// NOLINTEND(readability-identifier-naming)
