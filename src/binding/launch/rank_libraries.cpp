// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/launch/rank_libraries.hpp"

#include "binding/abi/interposed_symbol.hpp"
#include "binding/launch/binary.hpp"
#include "binding/process/own_state.hpp"
#include "binding/process/process.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <elf.h>
#include <exception>
#include <filesystem>
#include <link.h>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>
#include <xbt/config.hpp>

namespace fs = std::filesystem;

namespace weft {
namespace {

using LibraryFile = std::pair<dev_t, ino_t>;

/** Copy of a library for a rank. */
struct LibraryCopy {
  std::string name;         ///< name in the loader
  std::string file;         ///< original
  void* group    = nullptr; ///< handle of the library that keeps it loaded; null if another library needs it
  void* handle   = nullptr;
  int opened     = 0; ///< times that the rank has opened it without closing
  bool is_global = false;
};

/** Libraries of a rank. */
struct RankLibraries {
  std::shared_ptr<const LoadedProgram> program;
  std::map<std::string, std::string> names; ///< names of copies, by the names in DT_NEEDED
  std::map<LibraryFile, LibraryCopy> copies;
  std::vector<LibraryFile> global; ///< opened with RTLD_GLOBAL, in order
  std::optional<std::string> error;
  std::string told_error;
};

std::shared_ptr<const LoadedProgram>& shared_program()
{
  static auto* const PROGRAM =
      new std::shared_ptr<const LoadedProgram>; // leaked, since ranks may outlive static objects
  return *PROGRAM;
}

/** Returns the programs that ranks share, by their handles. */
std::map<void*, std::shared_ptr<const LoadedProgram>>& programs_of_jobs()
{
  static auto* const ALL = new std::map<void*, std::shared_ptr<const LoadedProgram>>;
  return *ALL;
}

std::map<std::string, std::string, std::less<>>& originals()
{
  static auto* const ALL = new std::map<std::string, std::string, std::less<>>;
  return *ALL;
}

RankLibraries* libraries_here()
{
  RankLibraries* const own = OwnState<RankLibraries>::get().here();
  if (own && not own->program && shared_program())
    own->program = shared_program();
  return own;
}

void* system_dlopen(const char* path, int flags)
{
  static const auto THEIRS = next_definition<void* (*)(const char*, int)>("dlopen");
  return THEIRS(path, flags);
}

int system_dlclose(void* handle)
{
  static const auto THEIRS = next_definition<int (*)(void*)>("dlclose");
  return THEIRS(handle);
}

std::string system_dlerror()
{
  static const auto THEIRS = next_definition<char* (*)()>("dlerror");
  const char* const text   = THEIRS();
  return text ? text : "unknown error";
}

std::optional<LibraryFile> identity_of(const std::string& path)
{
  static const auto STAT = next_definition<int (*)(const char*, struct stat*)>("stat");
  struct stat file{};
  return STAT(path.c_str(), &file) == 0 ? std::optional(LibraryFile(file.st_dev, file.st_ino)) : std::nullopt;
}

fs::path temporary_folder()
{
  return fs::absolute(simgrid::config::get_value<std::string>("smpi/tmpdir"));
}

// ---- Which libraries are the process's ------------------------------------------------------------------------------

/** Returns whether a library belongs to the system, by the rules of python/weft/runs/privatization/libraries.py for
 * libraries with which a program is linked. */
bool is_systems(const fs::path& file)
{
  static constexpr std::array FOLDERS{"/lib/", "/lib32/", "/lib64/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/"};
  std::error_code none;
  const std::string path = fs::absolute(file, none).lexically_normal().string();
  return std::ranges::any_of(FOLDERS, [&](const char* folder) { return path.starts_with(folder); });
}

/** Returns whether a library serves the process as a whole. */
bool is_runtime(const std::string& path)
{
  static constexpr std::array NAMES{"ld-linux",     "libsimgrid.", "libweft.", "libgfortran.",
                                    "libquadmath.", "libgomp.",    "libomp.",  "libiomp5."};
  const std::string name = fs::path(path).filename().string();
  return std::ranges::any_of(NAMES, [&](const char* one) { return name.starts_with(one); });
}

/** Returns whether the loader has a library of this name or path. */
bool is_loaded(const std::string& name)
{
  constexpr int LOOK = RTLD_LAZY | RTLD_NOLOAD; // NOLINT(bugprone-signed-bitwise)
  void* const handle = system_dlopen(name.c_str(), LOOK);
  if (handle)
    system_dlclose(handle);
  return handle != nullptr;
}

std::string name_of_handle(void* handle)
{
  link_map* map = nullptr;
  return handle && dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 ? map->l_name : "";
}

// ---- Where libraries are found ------------------------------------------------------------------------------------

/** Returns the folders of LD_LIBRARY_PATH as the loader has read it, and the folders where administrators install
 * unpackaged libraries. */
std::vector<std::string> folders_of_environment()
{
  std::vector<std::string> folders;
  void* const libc = system_dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD); // NOLINT(bugprone-signed-bitwise)
  Dl_serinfo size{};
  if (libc && dlinfo(libc, RTLD_DI_SERINFOSIZE, &size) == 0) {
    std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
    auto* const paths = reinterpret_cast<Dl_serinfo*>(memory.data());
    *paths            = size;
    dlinfo(libc, RTLD_DI_SERINFOSIZE, paths);
    if (dlinfo(libc, RTLD_DI_SERINFO, paths) == 0)
      for (unsigned i = 0; i < paths->dls_cnt; ++i)
        if (const std::string one = (&paths->dls_serpath[0])[i].dls_name; not is_systems(one + "/"))
          folders.push_back(one);
  }
  if (libc)
    system_dlclose(libc);
  folders.emplace_back("/usr/local/lib");
  return folders;
}

/** Returns a copy of @p text in which the loader's $ORIGIN is replaced by the folder of @p file. */
std::string with_origin(std::string text, const std::string& file)
{
  const std::string origin = fs::absolute(file).parent_path().string();
  for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"})
    for (auto at = text.find(word); at != std::string::npos; at = text.find(word))
      text.replace(at, word.size(), origin);
  return text;
}

/** Returns the folders in which a library's dependencies are searched. */
std::vector<std::string> folders_in(const std::string& file, ElfW(Sxword) tag)
{
  std::vector<std::string> folders;
  for (const std::string& list : Binary(file).texts(tag)) {
    std::istringstream words(with_origin(list, file));
    for (std::string one; std::getline(words, one, ':');)
      folders.push_back(one);
  }
  return folders;
}

/** Returns the file to which @p name refers in the binary @p user of a rank; empty if the loader must decide. */
std::string locate(const std::string& name, const std::string& user, const std::string& program)
{
  if (name.find('/') != std::string::npos)
    return with_origin(name, user);
  std::vector<std::string> folders = folders_in(user, DT_RUNPATH);
  const bool has_new               = not folders.empty();
  const auto environment           = folders_of_environment();
  folders.insert(folders.begin(), environment.begin(), environment.end());
  for (const std::string& one : {user, program})
    if (not has_new && not one.empty()) {
      const auto old = folders_in(one, DT_RPATH);
      folders.insert(folders.begin(), old.begin(), old.end());
    }
  for (const std::string& folder : folders)
    if (const fs::path file = fs::path(folder) / name; identity_of(file))
      return file;
  return "";
}

// ---- Loading --------------------------------------------------------------------------------------------------------

/** Load of a library and its dependencies for a rank. */
class LibraryLoad {
  RankLibraries& rank_;
  fs::path folder_ = temporary_folder();
  std::set<LibraryFile> begun_;

  /** Returns the name by which the rank's binaries refer to the dependency @p name of @p user, of the same length: the
   * name of a copy, or @p name if the process has loaded it. */
  std::string resolve(const std::string& name, const std::string& user)
  {
    if (const auto known = rank_.names.find(name); known != rank_.names.end() && is_up(known->second))
      return known->second;
    if (const auto& linked = rank_.program->names; linked.contains(name))
      return linked.at(name);
    if (is_runtime(name) || is_loaded(name))
      return name;
    const std::string file = locate(name, user, rank_.program->file);
    const auto identity    = file.empty() || is_systems(file) ? std::nullopt : identity_of(file);
    if (not identity)
      return name;
    if (const auto known = rank_.copies.find(*identity);
        known != rank_.copies.end() && is_up(known->second.name) && known->second.name.size() == name.size())
      return known->second.name;
    return rank_.names[name] = copy(file, *identity, name);
  }

  bool is_up(const std::string& name) const { return std::ranges::find(names, name) != names.end() || is_loaded(name); }

public:
  std::vector<std::string> names; ///< of the copies, in the order of DT_NEEDED

  explicit LibraryLoad(RankLibraries& rank) : rank_(rank) {}
  LibraryLoad(const LibraryLoad&)            = delete;
  LibraryLoad& operator=(const LibraryLoad&) = delete;
  ~LibraryLoad()
  {
    std::error_code none;
    if (not simgrid::config::get_value<bool>("smpi/keep-temps"))
      for (const std::string& name : names)
        fs::remove(folder_ / name, none);
  }

  /** Copies a library and its dependencies. Returns the copy's name, as long as @p name. */
  std::string copy(const std::string& file, const LibraryFile& identity, const std::string& name)
  {
    Binary binary(file);
    const std::string fresh = fresh_name(name);
    names.push_back(fresh);
    rank_.copies[identity]                  = LibraryCopy{.name = fresh, .file = fs::absolute(file)};
    originals()[(folder_ / fresh).string()] = file;
    for (const std::string& own : binary.texts(DT_SONAME)) {
      rank_.names[own] = own == name ? fresh : fresh_name(own);
      binary.rename(own, rank_.names[own]);
    }
    for (const std::string& needed : binary.texts(DT_NEEDED))
      if (const std::string with = resolve(needed, file); with != needed)
        binary.rename(needed, with);
    binary.write(folder_ / fresh);
    return fresh;
  }

  /** Loads the copies behind the rank's program and global libraries. Returns null if the loader refuses. */
  void* run(int flags)
  {
    std::vector<std::string> all{rank_.program->name};
    for (const LibraryFile& one : rank_.global)
      all.push_back(rank_.copies.at(one).name);
    const bool own_first = (flags & RTLD_DEEPBIND) != 0; // NOLINT(bugprone-signed-bitwise)
    all.insert(own_first ? all.begin() : all.end(), names.begin(), names.end());
    const std::string group = fresh_name("00000_group.so");
    write_group(folder_ / group, all);
    void* const handle = system_dlopen((folder_ / group).c_str(), flags);
    std::error_code none;
    fs::remove(folder_ / group, none);
    return handle;
  }
};

[[noreturn]] void refuse(const std::string& path, const std::string& why)
{
  std::fprintf(stderr, "weft: rank %d's own copy of the library %s, which it loads by dlopen: %s\n",
               rank_here().value_or(0), path.c_str(), why.c_str());
  std::_Exit(2);
}

/** Returns the loader's error about copies, with the names of the originals. */
std::string about_originals(std::string text)
{
  const std::string folder = temporary_folder().string() + "/";
  for (auto at = text.find(folder); at != std::string::npos; at = text.find(folder, at + 1)) {
    const auto end = text.find_first_of(": )", at);
    if (const char* const file = original_of(text.substr(at, end - at).c_str()))
      text.replace(at, end - at, file);
  }
  return text;
}

/** Returns the handle of a copy that is loaded. */
void* open_copy(RankLibraries& rank, const LibraryFile& identity, int flags)
{
  // NOLINTNEXTLINE(bugprone-signed-bitwise): the system's
  const int own_flags = (flags & ~RTLD_GLOBAL) | RTLD_NOLOAD;
  LibraryCopy& copy   = rank.copies.at(identity);
  void* const handle  = system_dlopen(copy.name.c_str(), own_flags);
  if (not handle)
    return nullptr;
  copy.handle = handle;
  ++copy.opened;
  if ((flags & RTLD_GLOBAL) != 0 && not std::exchange(copy.is_global, true)) // NOLINT(bugprone-signed-bitwise)
    rank.global.push_back(identity);
  return handle;
}

void* load_for_rank(RankLibraries& rank, const std::string& path, const std::string& file, const LibraryFile& identity,
                    int flags)
{
  system_dlerror(); // so that the lookup does not clear the error later
  LibraryLoad load(rank);
  try {
    load.copy(file, identity, fs::path(file).filename().string());
    void* const group = load.run(flags & ~RTLD_GLOBAL); // NOLINT(bugprone-signed-bitwise)
    if (group) {
      void* const handle             = open_copy(rank, identity, flags);
      rank.copies.at(identity).group = group;
      return handle;
    }
  } catch (const std::exception& error) {
    refuse(path, error.what());
  }
  const std::string message = about_originals(system_dlerror());
  if (message.find("failed to map") != std::string::npos)
    refuse(path, message + ": each rank's copy takes about ten memory mappings; use fewer ranks, or let the system "
                           "allow more (sysctl vm.max_map_count)");
  if (message.find("static TLS") != std::string::npos)
    refuse(path, message +
                     "; let the run begin with a larger block (GLIBC_TUNABLES=glibc.rtld.optional_static_tls=…), or "
                     "compile the library without -ftls-model=initial-exec");
  rank.error = message;
  rank.copies.erase(identity);
  return nullptr;
}

/** Returns the original of the binary that contains the code at @p address; the program's file if it is not one of the
 * rank's. */
std::string user_at(const RankLibraries& rank, const void* address)
{
  static const auto FIND = next_definition<int (*)(const void*, Dl_info*)>("dladdr");
  Dl_info info{};
  const char* const file = FIND(address, &info) != 0 && info.dli_fname ? original_of(info.dli_fname) : nullptr;
  return file ? file : rank.program->file;
}

} // namespace

void note_program(void* handle, LoadedProgram program)
{
  program.name              = name_of_handle(handle);
  originals()[program.name] = program.file;
  const auto noted          = std::make_shared<const LoadedProgram>(std::move(program));
  for (const auto& [name, file] : noted->files)
    originals()[(temporary_folder() / name).string()] = file;
  RankLibraries* const own = OwnState<RankLibraries>::get().here();
  if (not own) {
    shared_program() = programs_of_jobs()[handle] = noted;
    return;
  }
  own->program = noted;
  for (const auto& [name, file] : noted->files)
    if (const auto identity = identity_of(file))
      own->copies[*identity] = {.name = name, .file = file};
}

void use_program(void* handle)
{
  const auto found = programs_of_jobs().find(handle);
  if (found != programs_of_jobs().end())
    OwnState<RankLibraries>::get().here()->program = found->second;
}

bool opens_for_rank()
{
  const RankLibraries* const own = libraries_here();
  return own && own->program && not own->program->name.empty();
}

void* open_for_rank(const char* path, int flags, const void* caller, bool& pass)
{
  RankLibraries& rank = *libraries_here();
  rank.error.reset();
  // NOLINTBEGIN(bugprone-signed-bitwise): the system's
  if (not path || not *path)
    return system_dlopen(rank.program->name.c_str(), (flags & ~RTLD_GLOBAL) | RTLD_NOLOAD);
  const std::string name = path;
  if (const auto known = rank.names.find(name); known != rank.names.end())
    for (const auto& [identity, copy] : rank.copies)
      if (copy.name == known->second && is_loaded(copy.name))
        return open_copy(rank, identity, flags);
  pass                   = is_runtime(name) || (name.find('/') == std::string::npos && is_loaded(name));
  const std::string file = pass ? "" : locate(name, user_at(rank, caller), rank.program->file);
  const auto identity    = file.empty() ? std::nullopt : identity_of(file);
  if (pass || not identity || is_systems(file) || fs::is_directory(file)) {
    pass = true;
    return nullptr;
  }
  if (const auto known = rank.copies.find(*identity); known != rank.copies.end() && is_loaded(known->second.name))
    return open_copy(rank, *identity, flags);
  pass = is_loaded(fs::absolute(file)); // a library without variables with which the program is linked
  if (pass || (flags & RTLD_NOLOAD) != 0)
    return nullptr;
  // NOLINTEND(bugprone-signed-bitwise)
  return load_for_rank(rank, name, file, *identity, flags);
}

int close_for_rank(void* handle)
{
  RankLibraries* const rank = libraries_here();
  const auto of_handle = [handle](const auto& one) { return one.second.handle == handle && one.second.opened > 0; };
  const auto found     = rank ? std::ranges::find_if(rank->copies, of_handle) : decltype(rank->copies.begin()){};
  if (not rank || found == rank->copies.end())
    return system_dlclose(handle);
  const int status = system_dlclose(handle);
  if (--found->second.opened > 0 || not found->second.group)
    return status;
  system_dlclose(std::exchange(found->second.group, nullptr));
  if (is_loaded(found->second.name)) // RTLD_NODELETE, or another library uses it
    return status;
  std::erase(rank->global, found->first);
  rank->copies.erase(found);
  return status;
}

const char* take_loader_error()
{
  RankLibraries* const rank = libraries_here();
  if (not rank || not rank->error)
    return nullptr;
  rank->told_error = *std::exchange(rank->error, std::nullopt);
  return rank->told_error.c_str();
}

const char* original_of(const char* copy)
{
  const auto found = originals().find(std::string_view(copy));
  return found == originals().end() ? nullptr : found->second.c_str();
}

} // namespace weft
