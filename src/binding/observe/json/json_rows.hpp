// SPDX-License-Identifier: LGPL-2.1-only
/* Lists of rows in the record. */
#pragma once

#include "binding/observe/json/json.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace weft {

/** Returns a row, made by @p to_row, for each of @p items; items for which @p to_row returns null are skipped. */
template <class Items, class ToRow> Json rows_of(const Items& items, const ToRow& to_row)
{
  Json rows = Json::array();
  for (const auto& item : items)
    if (Json row = to_row(item); not row.is_null())
      rows.push_back(std::move(row));
  return rows;
}

} // namespace weft
