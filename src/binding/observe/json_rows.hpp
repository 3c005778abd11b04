// SPDX-License-Identifier: LGPL-2.1-only
/* The shape that repeats in the record: a list of rows. */
#pragma once

#include <nlohmann/json.hpp>
#include <utility>

namespace weft {

using Json = nlohmann::ordered_json; // fields stay in the order in which a reader wants them

/** A row for each of @p items, as @p to_row makes it; a null makes none. */
template <class Items, class ToRow> Json rows_of(const Items& items, const ToRow& to_row)
{
  Json rows = Json::array();
  for (const auto& item : items)
    if (Json row = to_row(item); not row.is_null())
      rows.push_back(std::move(row));
  return rows;
}

} // namespace weft
