// SPDX-License-Identifier: LGPL-2.1-only
/* Enumerations whose values have names in files, records and Python. The names are listed once, as rows:
 *
 *   template <> struct Names<Colour> {
 *     static constexpr std::array ROWS{std::pair{Colour::red, "red"sv}, …};
 *   };
 *
 * If rows can be added at run time, a function replaces them: `static std::vector<…> rows()`.
 */
#pragma once

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {

template <class E> struct Names;

template <class E>
concept HasFixedRows = requires { Names<E>::ROWS.size(); };

/** Enumeration with names. */
template <class E>
concept Named = HasFixedRows<E> || requires { Names<E>::rows().size(); };

/** Returns the rows of E: pairs of a value and its name. */
template <Named E> decltype(auto) named_rows()
{
  if constexpr (HasFixedRows<E>)
    return (Names<E>::ROWS);
  else
    return Names<E>::rows();
}

template <Named E> std::string_view to_text(E value)
{
  for (const auto& [known, name] : named_rows<E>())
    if (known == value)
      return name;
  throw std::logic_error("a value without a name");
}

template <Named E> std::optional<E> find_named(std::string_view wanted)
{
  for (const auto& [value, name] : named_rows<E>())
    if (name == wanted)
      return value;
  return std::nullopt;
}

/** Returns all names in row order. */
template <Named E> std::vector<std::string> names_of()
{
  std::vector<std::string> names;
  for (const auto& row : named_rows<E>())
    names.emplace_back(row.second);
  return names;
}

} // namespace weft
