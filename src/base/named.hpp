// SPDX-License-Identifier: LGPL-2.1-only
/* Enumerations whose values have names, in files, in records and in Python: each list of them stands once, as rows.
 *
 *   template <> struct Names<Colour> {
 *     static constexpr std::array ROWS{std::pair{Colour::red, "red"sv}, …};
 *   };
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

/** An enumeration with names. */
template <class E>
concept Named = requires { Names<E>::ROWS.size(); };

template <Named E> std::string_view to_text(E value)
{
  for (const auto& [known, name] : Names<E>::ROWS)
    if (known == value)
      return name;
  throw std::logic_error("a value without a name");
}

template <Named E> std::optional<E> find_named(std::string_view wanted)
{
  for (const auto& [value, name] : Names<E>::ROWS)
    if (name == wanted)
      return value;
  return std::nullopt;
}

/** All names, in the order of the rows. */
template <Named E> std::vector<std::string> names_of()
{
  std::vector<std::string> names;
  names.reserve(Names<E>::ROWS.size());
  for (const auto& row : Names<E>::ROWS)
    names.emplace_back(row.second);
  return names;
}

} // namespace weft
