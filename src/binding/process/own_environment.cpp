// SPDX-License-Identifier: LGPL-2.1-only
/* A rank's own environment, from the first change of it on, and its own locale.
 *
 * Both are pointers that the C library reads: environ, which getenv and exec… look at, and the thread's locale, which
 * comes before the process's. So a rank that changes one gets a copy, and switched_state.cpp keeps the pointers apart.
 * glibc's own setenv would take the last array that it made itself for the process's (stdlib/setenv.c).
 */
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
  std::vector<char*> all_; // with the null at the end; empty: there is none yet, or none any more

public:
  /** All variables as the program has them now: also where it has set environ itself. */
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

  /** Where that of this name is; the null at the end where it is not. */
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

/** The current rank's, null where no rank runs. */
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

/** In the order of glibc's name of all (locale/setlocale.c). */
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

/** What setlocale() has set for a rank. */
class OwnLocale {
  locale_t locale_ = nullptr;        // null: as the process began
  std::map<int, std::string> names_; // as they were returned, by category

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
    own->put(name, strdup((std::string(name) + "=" + value).c_str())); // for ever: who asked for it may have kept it
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

// Of the process's locale (LC_GLOBAL_LOCALE), a rank has its own.
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
