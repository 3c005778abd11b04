// SPDX-License-Identifier: LGPL-2.1-only
/* Rows for Python: dictionaries whose names, keys and types are declared once.
 *
 * A RowKind converts an object to a dictionary by its list of fields. row_kinds() lists all kinds;
 * setup/stub.py generates the TypedDicts of python/weft/_core.pyi from it. Signatures of functions show a Row's name.
 * Quantities become floats in base units; named values become their names. */
#pragma once

#include "base/named.hpp"
#include "base/option.hpp"
#include "base/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace weft::python {

namespace py = pybind11;

/** String as a template argument. */
template <std::size_t N> struct Literal {
  // The type of a string literal. NOLINTBEGIN(modernize-avoid-c-arrays)
  char text[N]{};
  consteval Literal(const char (&from)[N]) { std::copy_n(from, N, text); }
  // NOLINTEND(modernize-avoid-c-arrays)
};

/** Dictionary of the kind called NAME. */
template <Literal NAME> struct Row : py::dict {
  using py::dict::dict;
};
template <Literal NAME> using Rows = py::typing::List<Row<NAME>>;

// ---- Values in Python ----------------------------------------------------------------------------------------------

template <class V> V plain(const V& value)
{
  return value;
}
template <int B, int S, int F> double plain(const Quantity<B, S, F>& value)
{
  return value.value();
}
template <Named E> std::string plain(const E& value)
{
  return std::string(to_text(value));
}

template <class V> py::object object_of(const V& value)
{
  if constexpr (std::is_base_of_v<py::object, V>)
    return value;
  else
    return py::cast(value);
}

template <class V> struct TypeName;
// Other names are composed at run time. NOLINTBEGIN(modernize-use-string-view)
template <> struct TypeName<bool> {
  static std::string name() { return "bool"; }
};
template <std::integral V> struct TypeName<V> {
  static std::string name() { return "int"; }
};
template <> struct TypeName<double> {
  static std::string name() { return "float"; }
};
template <> struct TypeName<std::string> {
  static std::string name() { return "str"; }
};
// NOLINTEND(modernize-use-string-view)
template <class V> struct TypeName<std::vector<V>> {
  static std::string name() { return "list[" + TypeName<V>::name() + "]"; }
};
template <class... V> struct TypeName<std::tuple<V...>> {
  static std::string name()
  {
    std::string names;
    ((names += (names.empty() ? "" : ", ") + TypeName<V>::name()), ...);
    return "tuple[" + names + "]";
  }
};
template <Literal NAME> struct TypeName<Row<NAME>> {
  static std::string name() { return NAME.text; }
};
template <class V> struct TypeName<py::typing::List<V>> {
  static std::string name() { return "list[" + TypeName<V>::name() + "]"; }
};

// ---- Kinds of rows -------------------------------------------------------------------------------------------------

/** Description of a kind: its keys and their types. */
struct KindOfRow {
  std::string name;
  std::string meaning;
  std::vector<std::pair<std::string, std::string>> fields;
};
/** Returns all kinds, in order of construction. */
inline std::vector<KindOfRow>& row_kinds()
{
  static std::vector<KindOfRow> kinds;
  return kinds;
}

/** Returns the end of the name of a key, given in base units, by its type in option files. */
inline std::string unit_suffix(const std::string& type)
{
  static const std::map<std::string, std::string> ENDS{
      {"duration", "_s"}, {"size", "_bytes"}, {"bandwidth", "_Bps"}, {"speed", "_flops"}, {"frequency", "_per_s"}};
  const auto found = ENDS.find(type);
  return found == ENDS.end() ? "" : found->second;
}

/** Key of a row for a T, and the getter of its value: a member, a member function, or a function of a T. */
template <class T> struct Field {
  std::string name;
  std::string type;
  std::function<py::object(const T&)> get;

  template <class Get>
  Field(std::string key, Get find)
      : name(std::move(key)),
        type(TypeName<std::remove_cvref_t<decltype(plain(std::invoke(find, std::declval<const T&>())))>>::name()),
        get([find](const T& of) { return object_of(plain(std::invoke(find, of))); })
  {
  }

  /** Field of a key of an option file, through which @p model leads to the options. Its name ends with the unit. */
  template <class M, class Model>
  Field(const Option<M>& row, Model model)
      : name(row.key + unit_suffix(row.type)),
        type(std::visit([]<class V>(const V&) { return TypeName<V>::name(); }, row.plain(M()))),
        get([plain = row.plain, model](const T& of) {
          return std::visit([](const auto& value) { return object_of(value); }, plain(model(of)));
        })
  {
  }
};

/** Converts Ts to rows. Objects of this type are static, so that row_kinds() is complete once the
 * module is loaded. */
template <Literal NAME, class T> class RowKind {
  std::vector<Field<T>> fields_;

public:
  RowKind(std::string meaning, std::vector<Field<T>> fields) : fields_(std::move(fields))
  {
    KindOfRow kind{NAME.text, std::move(meaning), {}};
    for (const Field<T>& field : fields_)
      kind.fields.emplace_back(field.name, field.type);
    row_kinds().push_back(std::move(kind));
  }

  Row<NAME> operator()(const T& of) const
  {
    Row<NAME> row;
    for (const Field<T>& field : fields_)
      row[py::str(field.name)] = field.get(of);
    return row;
  }
  template <class Range> Rows<NAME> all(const Range& range) const
  {
    Rows<NAME> rows;
    for (const T& of : range)
      rows.append((*this)(of));
    return rows;
  }
};

} // namespace weft::python

namespace pybind11::detail {
template <weft::python::Literal NAME> struct handle_type_name<weft::python::Row<NAME>> {
  // NOLINTNEXTLINE(readability-identifier-naming): pybind11's name for it
  static constexpr auto name = const_name("weft._core.") + const_name(NAME.text);
};
} // namespace pybind11::detail
