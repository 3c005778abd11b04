// SPDX-License-Identifier: LGPL-2.1-only
#include "binding/process/exit_handlers.hpp"

#include "binding/abi/interposed_symbol.hpp"
#include "binding/process/own_state.hpp"
#include "binding/settings/settings.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <xbt/config.hpp>

namespace weft {
namespace {

/** As the C++ ABI has it (__cxa_atexit, section 3.3.6.3): atexit() gives no argument, whatever the function takes. */
struct ExitHandler {
  void (*function)(void*);
  void* argument;
};

enum class Image { copy, program, others };

struct OwnExitHandlers {
  std::vector<ExitHandler> all;
  const void* image_handle = nullptr; ///< of whom image is known
  Image image              = Image::others;
};

/** Where copies of the program are, and the program itself: known before the first static variable is asked about whose
 * making asks for this in turn. */
struct Places {
  std::string copies  = simgrid::config::get_value<std::string>("smpi/tmpdir") + "/";
  std::string program = settings().program;

  /** Null while they are being found. */
  static const Places* get()
  {
    static const Places* places = nullptr;
    static bool are_sought      = false;
    if (not places && not std::exchange(are_sought, true))
      places = new Places;
    return places;
  }
};

/** Whose code has the handle @p image: those that ask have few, and the loader looks through all that is loaded. */
Image find_image(const void* image)
{
  const Places* const places = Places::get();
  Dl_info info{};
  if (not places || dladdr(image, &info) == 0 || not info.dli_fname)
    return Image::others;
  const std::string_view file(info.dli_fname);
  if (file.starts_with(places->copies))
    return Image::copy;
  return file == places->program ? Image::program : Image::others;
}

bool is_own(OwnExitHandlers& own, const void* image, const void* argument)
{
  if (own.image_handle != image) {
    own.image_handle = image;
    own.image        = find_image(image);
  }
  return own.image == Image::copy || (own.image == Image::program && not argument);
}

} // namespace

void run_exit_handlers()
{
  OwnExitHandlers* const own = OwnState<OwnExitHandlers>::get().find_made();
  while (own && not own->all.empty()) {
    const ExitHandler last = own->all.back();
    own->all.pop_back();
    last.function(last.argument);
  }
}

} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" int weft_cxa_atexit(void (*function)(void*), void* argument, void* image) WEFT_REPLACES("__cxa_atexit");
int weft_cxa_atexit(void (*function)(void*), void* argument, void* image)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_cxa_atexit)>("__cxa_atexit");
  // Called long before there are ranks, or an allocator.
  if (not weft::running_context || not image)
    return THEIRS(function, argument, image);
  auto* const own = weft::OwnState<weft::OwnExitHandlers>::get().here();
  if (not own || not weft::is_own(*own, image, argument))
    return THEIRS(function, argument, image);
  own->all.push_back({function, argument});
  return 0;
}
