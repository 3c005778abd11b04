// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/process/exit_handlers.hpp"

#include "binding/abi/interposed_symbol.hpp"
#include "binding/process/own_state.hpp"
#include "binding/settings/settings.hpp"

#include <algorithm>
#include <cerrno> // program_invocation_name
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <xbt/config.hpp>

namespace weft {
namespace {

/** Handler in the form of the C++ ABI (__cxa_atexit, section 3.3.6.3). atexit() passes a null
 * argument. */
struct ExitHandler {
  void (*function)(void*);
  void* argument;
  const void* image; ///< handle of the program or library that registered it
};

enum class Image { copy, program, others };

struct OwnExitHandlers {
  std::vector<ExitHandler> all;
  const void* image_handle = nullptr; ///< handle of the last lookup
  Image image              = Image::others;
};

/** Directory of the program's copies, and the paths of programs that ranks share. Building it may register exit
 * handlers, which calls get() again. */
struct Places {
  std::string copies = simgrid::config::get_value<std::string>("smpi/tmpdir") + "/";
  /** The loader uses the program's name on the command line. */
  std::set<std::string, std::less<>> shared{settings().program, program_invocation_name};

  /** Returns null while the paths are being determined. */
  static Places* get()
  {
    static Places* places  = nullptr;
    static bool are_sought = false;
    if (not places && not std::exchange(are_sought, true))
      places = new Places;
    return places;
  }
};

/** Returns the kind of code that owns the handle @p image. Callers cache the result: few images register handlers, and
 * dladdr() searches all loaded objects. */
Image find_image(const void* image)
{
  static const auto FIND =
      next_definition<int (*)(const void*, Dl_info*)>("dladdr"); // it names copies by their originals
  const Places* const places = Places::get();
  Dl_info info{};
  if (not places || FIND(image, &info) == 0 || not info.dli_fname)
    return Image::others;
  const std::string_view file(info.dli_fname);
  if (places->shared.contains(file))
    return Image::program;
  return file.starts_with(places->copies) ? Image::copy : Image::others;
}

bool is_own(OwnExitHandlers& own, const void* image, const void* argument)
{
  if (own.image_handle != image) {
    own.image_handle = image;
    own.image        = find_image(image);
  }
  return own.image == Image::copy || (own.image == Image::program && not argument);
}

using OnExit = void (*)(int status);

OnExit& on_library_exit()
{
  static OnExit the_function = nullptr;
  return the_function;
}

/** Registers on_library_exit() again, as the last handler, which is called first. */
void register_last()
{
  if (on_library_exit())
    ::on_exit(
        [](int status, void*) {
          if (not rank_here()) // the whole process ends
            return;
          register_last(); // exit() has removed the registration, and the end of a rank does not return to it
          on_library_exit()(status);
        },
        nullptr);
}

} // namespace

void watch_library_exits(OnExit on_exit)
{
  on_library_exit() = on_exit;
  register_last();
}

void run_exit_handlers()
{
  OwnExitHandlers* const own = OwnState<OwnExitHandlers>::get().find_made();
  while (own && not own->all.empty()) {
    const ExitHandler last = own->all.back();
    own->all.pop_back();
    last.function(last.argument);
  }
}

void run_exit_handlers_of(const void* image)
{
  OwnExitHandlers* const own = OwnState<OwnExitHandlers>::get().find_made();
  const auto is_its          = [image](const ExitHandler& one) { return one.image == image; };
  while (own) {
    const auto last = std::ranges::find_if(own->all.rbegin(), own->all.rend(), is_its);
    if (last == own->all.rend())
      return;
    const ExitHandler handler = *last;
    own->all.erase(std::next(last).base());
    handler.function(handler.argument);
  }
}

void share_exit_handlers(const std::string& program)
{
  if (Places* const places = Places::get())
    places->shared.insert(program);
}

} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

/** Called by a library while it is unloaded. */
extern "C" void weft_cxa_finalize(void* image) WEFT_REPLACES("__cxa_finalize");
[[gnu::no_sanitize("address", "undefined")]] void weft_cxa_finalize(void* image)
{
  static auto* const THEIRS = reinterpret_cast<decltype(&weft_cxa_finalize)>(dlsym(RTLD_NEXT, "__cxa_finalize"));
  if (image && weft::running_context)
    weft::run_exit_handlers_of(image);
  THEIRS(image);
}

extern "C" int weft_cxa_atexit(void (*function)(void*), void* argument, void* image) WEFT_REPLACES("__cxa_atexit");
// Called long before ranks, an allocator or, in a sanitized build, AddressSanitizer exist.
[[gnu::no_sanitize("address", "undefined")]] int weft_cxa_atexit(void (*function)(void*), void* argument, void* image)
{
  static auto* const THEIRS = reinterpret_cast<decltype(&weft_cxa_atexit)>(dlsym(RTLD_NEXT, "__cxa_atexit"));
  if (not weft::running_context || not image)
    return THEIRS(function, argument, image);
  auto* const own = weft::OwnState<weft::OwnExitHandlers>::get().here();
  if (not own || not weft::is_own(*own, image, argument)) {
    const int status = THEIRS(function, argument, image);
    weft::register_last();
    return status;
  }
  own->all.push_back({function, argument, image});
  return 0;
}
