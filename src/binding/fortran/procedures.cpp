// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/fortran/procedures.hpp"

#include "binding/abi/interposed_symbol.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

// NOLINTBEGIN(readability-identifier-naming): MPI's names
extern "C" {
int MPI_Info_create_env(int argc, char** argv, MPI_Info* info);
int MPI_Comm_detach_buffer(MPI_Comm comm, void* buffer, int* size);
int MPI_Session_detach_buffer(MPI_Session session, void* buffer, int* size);
int MPI_Buffer_detach_c(void* buffer, MPI_Count* size);
int MPI_Comm_detach_buffer_c(MPI_Comm comm, void* buffer, MPI_Count* size);
int MPI_Session_detach_buffer_c(MPI_Session session, void* buffer, MPI_Count* size);
int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session* session);
int MPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int* pset_len, char* pset_name);
}
// NOLINTEND(readability-identifier-naming)

namespace weft::fortran::by_hand {
namespace {

std::vector<MPI_Aint> widened(const int* values, int count)
{
  return count > 0 ? std::vector<MPI_Aint>(values, values + count) : std::vector<MPI_Aint>();
}

/** Returns the location of a buffer's address; the module mpi passes none. */
void* place_or(void** place, void*& own)
{
  return place ? static_cast<void*>(place) : static_cast<void*>(&own);
}

} // namespace

/* SMPI's function registers the numbers of Fortran's datatypes and operations first. */
int init()
{
  static const auto THEIRS = next_definition<void (*)(int*)>("mpi_init_");
  int error                = MPI_SUCCESS;
  THEIRS(&error);
  return error;
}

int init_thread(const int* required, int* provided)
{
  static const auto THEIRS = next_definition<void (*)(const int*, int*, int*)>("mpi_init_thread_");
  int error                = MPI_SUCCESS;
  THEIRS(required, provided, &error);
  return error;
}

int info_create_env(int* info)
{
  MPI_Info made    = MPI_INFO_NULL;
  const int result = MPI_Info_create_env(0, nullptr, &made);
  *info            = PMPI_Info_c2f(made);
  return result;
}

int finalize()
{
  return MPI_Finalize();
}

/* SMPI's function aborts the run. */
void pcontrol(const int* /*level*/) {}

// ---- Sessions -------------------------------------------------------------------------------------------------------

/* Registers the numbers of Fortran's datatypes and operations first, as SMPI's MPI_Init does. */
int session_init(const int* info, const int* handler, int* session)
{
  static const auto REGISTER = next_definition<void (*)()>("smpi_init_fortran_types");
  REGISTER();
  return MPI_Session_init(object_of<MPI_Info>(info), object_of<MPI_Errhandler>(handler), Result<MPI_Session>(session));
}

/* Fortran string lengths exclude the terminating NUL that MPI's C binding counts. */
int session_get_nth_pset(const int* session, const int* info, const int* number, int* length, char* name,
                         std::size_t most)
{
  constexpr int LONGEST = 64; // MPI_MAX_PSET_NAME_LEN
  std::array<char, LONGEST> text{};
  int needed       = LONGEST;
  const int result = MPI_Session_get_nth_pset(object_of<MPI_Session>(session), object_of<MPI_Info>(info), *number,
                                              &needed, text.data());
  if (result != MPI_SUCCESS)
    return result;
  if (*length > 0) {
    const std::string_view found = std::string_view(text.data()).substr(0, static_cast<std::size_t>(*length));
    std::fill_n(name, most, ' ');
    found.copy(name, most);
  }
  *length = needed - 1;
  return MPI_SUCCESS;
}

// ---- Dynamic processes ----------------------------------------------------------------------------------------------

namespace {

/** Words in Fortran's memory, each @p length long and @p step words after the previous one, up to a blank one;
 * converted to C strings. */
class WordList {
  std::vector<Text> words_;
  std::vector<char*> pointers_;

public:
  WordList(const char* first, std::size_t length, std::size_t step)
  {
    if (not is_argv_null(first))
      for (const char* word = first; std::string_view(word, length).find_first_not_of(' ') != std::string_view::npos;
           word += length * step)
        words_.emplace_back(word, length);
    for (Text& word : words_)
      pointers_.push_back(word);
    pointers_.push_back(nullptr);
  }
  char** get() { return pointers_.data(); }
};

/** Returns whether the current rank is the root of a call, where the commands are significant. */
bool is_root(MPI_Comm comm, int root)
{
  int rank = 0;
  return comm != MPI_COMM_NULL && MPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

int* codes_or_none(int* codes)
{
  return is_errcodes_ignore(codes) ? MPI_ERRCODES_IGNORE : codes;
}

} // namespace

int comm_spawn(const char* command, std::size_t command_length, const char* argv, std::size_t argv_length,
               const int* most, const int* info, const int* root, const int* comm, int* made, int* codes)
{
  const auto spawning = object_of<MPI_Comm>(comm);
  if (not is_root(spawning, *root))
    return MPI_Comm_spawn(nullptr, MPI_ARGV_NULL, 0, MPI_INFO_NULL, *root, spawning, Result<MPI_Comm>(made),
                          codes_or_none(codes));
  return MPI_Comm_spawn(Text(command, command_length), WordList(argv, argv_length, 1).get(), *most,
                        object_of<MPI_Info>(info), *root, spawning, Result<MPI_Comm>(made), codes_or_none(codes));
}

int comm_spawn_multiple(const int* count, const char* commands, std::size_t command_length, const char* argvs,
                        std::size_t argv_length, int* most, const int* infos, const int* root, const int* comm,
                        int* made, int* codes)
{
  const auto spawning = object_of<MPI_Comm>(comm);
  const int all       = is_root(spawning, *root) ? *count : 0;
  std::vector<Text> all_commands;
  std::vector<WordList> all_argvs;
  std::vector<char*> command_pointers;
  std::vector<char**> argv_pointers;
  std::vector<MPI_Info> all_infos;
  for (std::size_t one = 0; std::cmp_less(one, all); ++one) {
    all_commands.emplace_back(commands + one * command_length, command_length);
    all_argvs.emplace_back(is_argv_null(argvs) ? argvs : argvs + one * argv_length, argv_length,
                           static_cast<std::size_t>(all));
    all_infos.push_back(object_of<MPI_Info>(infos[one]));
  }
  command_pointers.reserve(all_commands.size());
  argv_pointers.reserve(all_argvs.size());
  for (Text& one : all_commands)
    command_pointers.push_back(one);
  for (WordList& one : all_argvs)
    argv_pointers.push_back(one.get());
  return MPI_Comm_spawn_multiple(*count, command_pointers.data(), argv_pointers.data(), most, all_infos.data(), *root,
                                 spawning, Result<MPI_Comm>(made), codes_or_none(codes));
}

// ---- Memory ---------------------------------------------------------------------------------------------------------

int buffer_detach(void** buffer, int* size)
{
  void* ignored = nullptr;
  return MPI_Buffer_detach(place_or(buffer, ignored), size);
}

int buffer_detach_c(void** buffer, std::int64_t* size)
{
  return MPI_Buffer_detach_c(static_cast<void*>(buffer), reinterpret_cast<MPI_Count*>(size));
}

int comm_detach_buffer(const int* comm, void** buffer, int* size)
{
  void* ignored = nullptr;
  return MPI_Comm_detach_buffer(object_of<MPI_Comm>(comm), place_or(buffer, ignored), size);
}

int comm_detach_buffer_c(const int* comm, void** buffer, std::int64_t* size)
{
  return MPI_Comm_detach_buffer_c(object_of<MPI_Comm>(comm), static_cast<void*>(buffer),
                                  reinterpret_cast<MPI_Count*>(size));
}

int session_detach_buffer(const int* session, void** buffer, int* size)
{
  void* ignored = nullptr;
  return MPI_Session_detach_buffer(object_of<MPI_Session>(session), place_or(buffer, ignored), size);
}

int session_detach_buffer_c(const int* session, void** buffer, std::int64_t* size)
{
  return MPI_Session_detach_buffer_c(object_of<MPI_Session>(session), static_cast<void*>(buffer),
                                     reinterpret_cast<MPI_Count*>(size));
}

int get_address(void* location, std::int64_t* address)
{
  return MPI_Get_address(location, reinterpret_cast<MPI_Aint*>(address));
}

int free_mem(void* base)
{
  return MPI_Free_mem(base);
}

int sizeof_(const CDescriptor* variable, int* size)
{
  *size = static_cast<int>(variable->element);
  return MPI_SUCCESS;
}

void f_sync_reg(void* /*buffer*/) {}

// ---- Statuses -------------------------------------------------------------------------------------------------------

int status_get_error(const MPI_Status* status, int* error)
{
  *error = status->MPI_ERROR;
  return MPI_SUCCESS;
}

int status_get_source(const MPI_Status* status, int* source)
{
  *source = status->MPI_SOURCE;
  return MPI_SUCCESS;
}

int status_get_tag(const MPI_Status* status, int* tag)
{
  *tag = status->MPI_TAG;
  return MPI_SUCCESS;
}

int status_set_error(MPI_Status* status, const int* error)
{
  status->MPI_ERROR = *error;
  return MPI_SUCCESS;
}

int status_set_source(MPI_Status* status, const int* source)
{
  status->MPI_SOURCE = *source;
  return MPI_SUCCESS;
}

int status_set_tag(MPI_Status* status, const int* tag)
{
  status->MPI_TAG = *tag;
  return MPI_SUCCESS;
}

int status_f2f08(const int* from, MPI_Status* to)
{
  *to = *reinterpret_cast<const MPI_Status*>(from);
  return MPI_SUCCESS;
}

int status_f082f(const MPI_Status* from, int* to)
{
  *reinterpret_cast<MPI_Status*>(to) = *from;
  return MPI_SUCCESS;
}

// ---- Removed from MPI -----------------------------------------------------------------------------------------------

int address(void* location, int* result)
{
  MPI_Aint value  = 0;
  const int error = MPI_Get_address(location, &value);
  *result         = static_cast<int>(value);
  return error;
}

int type_extent(const int* type, int* extent)
{
  MPI_Aint lower  = 0;
  MPI_Aint value  = 0;
  const int error = MPI_Type_get_extent(object_of<MPI_Datatype>(type), &lower, &value);
  *extent         = static_cast<int>(value);
  return error;
}

int type_lb(const int* type, int* displacement)
{
  MPI_Aint lower  = 0;
  MPI_Aint extent = 0;
  const int error = MPI_Type_get_extent(object_of<MPI_Datatype>(type), &lower, &extent);
  *displacement   = static_cast<int>(lower);
  return error;
}

int type_ub(const int* type, int* displacement)
{
  MPI_Aint lower  = 0;
  MPI_Aint extent = 0;
  const int error = MPI_Type_get_extent(object_of<MPI_Datatype>(type), &lower, &extent);
  *displacement   = static_cast<int>(lower + extent);
  return error;
}

int type_hvector(const int* count, const int* length, const int* stride, const int* type, int* result)
{
  return MPI_Type_create_hvector(*count, *length, *stride, object_of<MPI_Datatype>(type), Result<MPI_Datatype>(result));
}

int type_hindexed(const int* count, const int* lengths, const int* displacements, const int* type, int* result)
{
  return MPI_Type_create_hindexed(*count, lengths, widened(displacements, *count).data(), object_of<MPI_Datatype>(type),
                                  Result<MPI_Datatype>(result));
}

int type_struct(const int* count, const int* lengths, const int* displacements, const int* types, int* result)
{
  return MPI_Type_create_struct(*count, lengths, widened(displacements, *count).data(),
                                Handles<MPI_Datatype>(types, *count), Result<MPI_Datatype>(result));
}

} // namespace weft::fortran::by_hand
