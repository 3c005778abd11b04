// SPDX-License-Identifier: LGPL-2.1-only
/* Private copies of the program's own shared libraries, which give each rank its own global
 * variables.
 *
 * SMPI copies the program for each rank and loads the copy, but the loader would load a library
 * that the copies share only once. The loader identifies libraries by name, so each rank's copies get unique names of
 * equal length. These overwrite the old names (DT_NEEDED) in the copies of
 * the program and of the libraries. The loader finds them in SMPI's temporary directory, which
 * LD_LIBRARY_PATH must contain; they are unlinked once loaded.
 *
 * WEFT_PRIVATE_LIBRARIES lists the libraries, one per line, as NAME=PATH: the name in the program and the file. */
#include "binding/launch/libraries.hpp"

#include "binding/abi/interposed_symbol.hpp"
#include "binding/launch/binary.hpp"
#include "binding/launch/rank_libraries.hpp"
#include "binding/process/process.hpp"
#include "binding/ranks/current.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>
#include <xbt/config.hpp>

namespace fs = std::filesystem;

namespace weft {
namespace {

struct LoadedLibrary {
  std::string name;
  fs::path file;
};

std::vector<LoadedLibrary> libraries_of(const Lines& lines)
{
  std::vector<LoadedLibrary> libraries;
  for (const std::string& line : lines)
    if (const auto equals = line.find('='); equals != std::string::npos)
      libraries.push_back({line.substr(0, equals), line.substr(equals + 1)});
  return libraries;
}

/** Copies the libraries for a rank's copy of the program, and records their names and files in @p loaded. Returns the
 * files to unlink after loading. */
std::vector<fs::path> copy_libraries(const fs::path& program, const std::vector<LoadedLibrary>& libraries,
                                     LoadedProgram& loaded)
{
  for (const LoadedLibrary& library : libraries) {
    const std::string name     = fresh_name(library.name);
    loaded.names[library.name] = name;
    loaded.files[name]         = library.file;
  }
  const auto rename_all = [&](Binary& binary) {
    for (const auto& [from, to] : loaded.names)
      binary.rename(from, to);
  };
  std::vector<fs::path> copies;
  for (const auto& [name, file] : loaded.files) {
    Binary binary(file);
    rename_all(binary);
    copies.push_back(program.parent_path() / name);
    binary.write(copies.back());
  }
  Binary binary(program);
  rename_all(binary);
  binary.write(program);
  return copies;
}

/** Returns whether SMPI is about to load a rank's copy of the program. */
bool is_copy(const char* path)
{
  return path && rank_here() && fs::path(path).parent_path() == simgrid::config::get_value<std::string>("smpi/tmpdir");
}

using Loader = void* (*)(const char*, int);

void* load_by(Loader loader, const char* path, int flags, const Lines& libraries, const std::string& original)
{
  LoadedProgram loaded{.name = path, .file = original, .names = {}, .files = {}};
  void* handle = nullptr;
  try {
    std::vector<fs::path> copies;
    if (not libraries.empty())
      copies = copy_libraries(path, libraries_of(libraries), loaded);
    handle = loader(path, flags);
    if (not simgrid::config::get_value<bool>("smpi/keep-temps"))
      for (const fs::path& copy : copies)
        fs::remove(copy);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weft: a rank's own copy of the program's shared libraries: %s\n", error.what());
    std::_Exit(2);
  }
  if (handle)
    note_program(handle, std::move(loaded));
  return handle;
}

/** Loads a library for the whole process. SMPI loads a shared program in this way; a program has a main function. */
void* load_for_process(Loader loader, const char* path, int flags)
{
  void* const handle = loader(path, flags);
  if (handle && (dlsym(handle, "main") || dlsym(handle, "user_main_")))
    note_program(handle, {.name = path, .file = path, .names = {}, .files = {}});
  return handle;
}

Loader system_loader()
{
  static const auto THEIRS = next_definition<Loader>("dlopen");
  return THEIRS;
}

using Lookup = void* (*)(void*, const char*);

/** Returns dlsym of the C library; since glibc 2.34 it has its own symbol version. */
Lookup system_lookup()
{
  static const auto THEIRS = [] {
    void* const found = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    return reinterpret_cast<Lookup>(found ? found : dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5"));
  }();
  return THEIRS;
}

} // namespace

void* load_copy(const std::string& program, const std::string& original, const Lines& libraries)
{
  constexpr int FLAGS = RTLD_LAZY | RTLD_LOCAL; // NOLINT(bugprone-signed-bitwise)
  return load_by(system_loader(), program.c_str(), FLAGS, libraries, original);
}

} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" {

void* weft_dlopen(const char* path, int flags) WEFT_REPLACES("dlopen");
int weft_dlclose(void* handle) WEFT_REPLACES("dlclose");
char* weft_dlerror() WEFT_REPLACES("dlerror");
void* weft_dlsym(void* handle, const char* name) WEFT_REPLACES("dlsym");
int weft_dladdr(const void* address, Dl_info* info) WEFT_REPLACES("dladdr");
int weft_dladdr1(const void* address, Dl_info* info, void** more, int flags) WEFT_REPLACES("dladdr1");

// The loader looks up its caller, so loads for the process must be tail calls.
void* weft_dlopen(const char* path, int flags)
{
  if (weft::is_copy(path))
    return weft::load_by(weft::system_loader(), path, flags, weft::settings().private_libraries,
                         weft::settings().program);
  if (not weft::rank_here())
    return path && std::strchr(path, '/') ? weft::load_for_process(weft::system_loader(), path, flags)
                                          : weft::system_loader()(path, flags);
  if (weft::opens_for_rank()) {
    bool is_processs   = false;
    void* const handle = weft::open_for_rank(path, flags, __builtin_return_address(0), is_processs);
    if (not is_processs)
      return handle;
  }
  return weft::system_loader()(path, flags);
}

int weft_dlclose(void* handle)
{
  return weft::close_for_rank(handle);
}

char* weft_dlerror()
{
  static const auto THEIRS = weft::next_definition<char* (*)()>("dlerror");
  const char* const own    = weft::running_context ? weft::take_loader_error() : nullptr;
  return own ? const_cast<char*>(own) : THEIRS(); // NOLINT(cppcoreguidelines-pro-type-const-cast): as the system's
}

// SMPI looks up main, which may be hidden (-fvisibility=hidden): the start object that `weft cc` links calls it. As the
// loader looks up its caller, all other cases are tail calls.
void* weft_dlsym(void* handle, const char* name)
{
  using weft::system_lookup;
  if (handle != RTLD_DEFAULT && handle != RTLD_NEXT && std::strcmp(name, "main") == 0)
    if (void* const start = system_lookup()(handle, "weft_main"))
      return start;
  return system_lookup()(handle, name);
}

int weft_dladdr(const void* address, Dl_info* info)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_dladdr)>("dladdr");
  const int found          = THEIRS(address, info);
  if (found != 0 && weft::running_context && info->dli_fname)
    if (const char* const file = weft::original_of(info->dli_fname))
      info->dli_fname = file;
  return found;
}

int weft_dladdr1(const void* address, Dl_info* info, void** more, int flags)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_dladdr1)>("dladdr1");
  const int found          = THEIRS(address, info, more, flags);
  if (found != 0 && weft::running_context && info->dli_fname)
    if (const char* const file = weft::original_of(info->dli_fname))
      info->dli_fname = file;
  return found;
}

} // extern "C"
