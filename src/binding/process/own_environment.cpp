// SPDX-License-Identifier: LGPL-2.1-only
/* Environment and locale of each rank.
 *
 * The C library reads both through pointers: environ, which getenv and exec… use, and the thread's
 * locale, which precedes the process's. A rank that changes one gets a copy, and switched_state.cpp
 * switches the pointers with the ranks. glibc's setenv is not used, because it assumes that the last array that it
 * allocated itself is the process's (stdlib/setenv.c). */
#include "binding/abi/interposed_symbol.hpp"
#include "binding/process/own_state.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <clocale>
#include <cstring>
#include <langinfo.h>
#include <map>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace weft {
namespace {

class Environment {
  std::vector<char*> all_; // null-terminated; empty: not copied yet, or cleared

public:
  /** Returns all variables, copied again if the program has set environ itself. */
  std::vector<char*>& all()
  {
    if (all_.empty() || environ != all_.data()) {
      all_.clear();
      for (char** one = environ; one && *one; ++one)
        all_.push_back(*one);
      all_.push_back(nullptr);
    }
    return all_;
  }

  void publish() { environ = all_.data(); }

  /** Returns the position of the variable @p name; of the terminating null if absent. */
  std::vector<char*>::iterator find(std::string_view name)
  {
    std::vector<char*>& variables = all();
    return std::find_if(variables.begin(), variables.end() - 1, [name](const char* one) {
      return std::string_view(one).starts_with(name) && one[name.size()] == '=';
    });
  }

  void put(std::string_view name, char* text)
  {
    if (const auto found = find(name); *found)
      *found = text;
    else
      all_.insert(found, text);
    publish();
  }

  void remove(std::string_view name)
  {
    for (auto found = find(name); *found; found = find(name))
      all_.erase(found);
    publish();
  }
};

/** Environment of the current rank; null if no rank runs. */
Environment* own_environment()
{
  return OwnState<Environment>::get().here();
}

bool is_name(const char* name)
{
  return name && *name != '\0' && not std::strchr(name, '=');
}

int refuse_name()
{
  errno = EINVAL;
  return -1;
}

struct Category {
  int number;
  int mask;
  const char* name;
};

/** Categories in the order that glibc names them in LC_ALL (locale/setlocale.c). */
constexpr std::array<Category, 12> CATEGORIES{{{LC_CTYPE, LC_CTYPE_MASK, "LC_CTYPE"},
                                               {LC_NUMERIC, LC_NUMERIC_MASK, "LC_NUMERIC"},
                                               {LC_TIME, LC_TIME_MASK, "LC_TIME"},
                                               {LC_COLLATE, LC_COLLATE_MASK, "LC_COLLATE"},
                                               {LC_MONETARY, LC_MONETARY_MASK, "LC_MONETARY"},
                                               {LC_MESSAGES, LC_MESSAGES_MASK, "LC_MESSAGES"},
                                               {LC_PAPER, LC_PAPER_MASK, "LC_PAPER"},
                                               {LC_NAME, LC_NAME_MASK, "LC_NAME"},
                                               {LC_ADDRESS, LC_ADDRESS_MASK, "LC_ADDRESS"},
                                               {LC_TELEPHONE, LC_TELEPHONE_MASK, "LC_TELEPHONE"},
                                               {LC_MEASUREMENT, LC_MEASUREMENT_MASK, "LC_MEASUREMENT"},
                                               {LC_IDENTIFICATION, LC_IDENTIFICATION_MASK, "LC_IDENTIFICATION"}}};

/** Locale that a rank has set by setlocale(). */
class OwnLocale {
  locale_t locale_ = nullptr;        // null: the process's initial locale
  std::map<int, std::string> names_; // returned names by category

  std::string name_of_all() const
  {
    std::string all;
    std::string one;
    bool alike = true;
    for (const Category& category : CATEGORIES) {
      const std::string name = nl_langinfo_l(_NL_LOCALE_NAME(category.number), locale_);
      alike                  = alike && (one.empty() || one == name);
      one                    = name;
      all += (all.empty() ? "" : ";") + std::string(category.name) + "=" + name;
    }
    return alike ? one : all;
  }

public:
  locale_t get() const { return locale_; }

  char* name(int category)
  {
    names_[category] =
        category == LC_ALL ? name_of_all() : std::string(nl_langinfo_l(_NL_LOCALE_NAME(category), locale_));
    return names_[category].data();
  }

  bool set(int mask, const char* name)
  {
    const locale_t base  = duplocale(locale_ ? locale_ : LC_GLOBAL_LOCALE);
    const locale_t fresh = newlocale(mask, name, base);
    if (not fresh) {
      freelocale(base);
      return false;
    }
    const locale_t before = std::exchange(locale_, fresh);
    const auto use        = next_definition<locale_t (*)(locale_t)>("uselocale");
    if (const locale_t now = use(nullptr); now == before || now == LC_GLOBAL_LOCALE)
      use(fresh);
    if (before)
      freelocale(before);
    return true;
  }
};

int mask_of(int category)
{
  if (category == LC_ALL)
    return LC_ALL_MASK;
  const auto* const found = std::ranges::find(CATEGORIES, category, &Category::number);
  return found == CATEGORIES.end() ? 0 : found->mask;
}

} // namespace
} // namespace weft

// ---- Replaced functions --------------------------------------------------------------------------------------------

extern "C" {

int weft_setenv(const char* name, const char* value, int overwrite) WEFT_REPLACES("setenv");
int weft_setenv(const char* name, const char* value, int overwrite)
{
  auto* const own = weft::own_environment();
  if (not own)
    return weft::next_definition<decltype(&weft_setenv)>("setenv")(name, value, overwrite);
  if (not weft::is_name(name))
    return weft::refuse_name();
  if (overwrite != 0 || not *own->find(name))
    own->put(name, strdup((std::string(name) + "=" + value).c_str())); // never freed: the program may keep it
  return 0;
}

int weft_unsetenv(const char* name) WEFT_REPLACES("unsetenv");
int weft_unsetenv(const char* name)
{
  auto* const own = weft::own_environment();
  if (not own)
    return weft::next_definition<decltype(&weft_unsetenv)>("unsetenv")(name);
  if (not weft::is_name(name))
    return weft::refuse_name();
  own->remove(name);
  return 0;
}

int weft_putenv(char* text) WEFT_REPLACES("putenv");
int weft_putenv(char* text)
{
  auto* const own = weft::own_environment();
  if (not own)
    return weft::next_definition<decltype(&weft_putenv)>("putenv")(text);
  const std::string_view all(text);
  if (const auto equals = all.find('='); equals != std::string_view::npos)
    own->put(all.substr(0, equals), text);
  else
    own->remove(all);
  return 0;
}

int weft_clearenv() WEFT_REPLACES("clearenv");
int weft_clearenv()
{
  auto* const own = weft::own_environment();
  if (not own)
    return weft::next_definition<decltype(&weft_clearenv)>("clearenv")();
  environ = nullptr;
  return 0;
}

char* weft_setlocale(int category, const char* name) WEFT_REPLACES("setlocale");
char* weft_setlocale(int category, const char* name)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_setlocale)>("setlocale");
  auto* const own =
      name ? weft::OwnState<weft::OwnLocale>::get().here() : weft::OwnState<weft::OwnLocale>::get().find_made();
  if (not own || (not name && not own->get()))
    return THEIRS(category, name);
  const int mask = weft::mask_of(category);
  if (mask == 0 || (name && not own->set(mask, name)))
    return nullptr;
  return own->name(category);
}

// A rank that has called setlocale() has its own LC_GLOBAL_LOCALE.
locale_t weft_uselocale(locale_t locale) WEFT_REPLACES("uselocale");
locale_t weft_uselocale(locale_t locale)
{
  static const auto THEIRS = weft::next_definition<decltype(&weft_uselocale)>("uselocale");
  auto* const state        = weft::OwnState<weft::OwnLocale>::get().find_made();
  locale_t const own       = state ? state->get() : nullptr;
  locale_t const before    = THEIRS(own && locale == LC_GLOBAL_LOCALE ? own : locale);
  return own && before == own ? LC_GLOBAL_LOCALE : before;
}

} // extern "C"
