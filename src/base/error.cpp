// SPDX-License-Identifier: LGPL-2.1-only
#include "base/error.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace weft {
namespace {

/** Returns the Damerau-Levenshtein distance, computed one row of the table at a time. */
std::size_t edit_distance(std::string_view a, std::string_view b)
{
  std::vector<std::size_t> before(b.size() + 1); // row i - 2
  std::vector<std::size_t> above(b.size() + 1);  // row i - 1
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j]                     = std::min({above[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

} // namespace

std::string nearest(std::string_view word, std::span<const std::string> known)
{
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string& candidate : known) {
    if (const std::size_t distance = edit_distance(word, candidate); distance < best_distance) {
      best_distance = distance;
      best          = candidate;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known)
{
  const std::string meant = nearest(word, known);
  return meant.empty() ? "" : "did you mean \"" + meant + "\"? ";
}

std::string on_one_line(std::string message)
{
  const auto breaks_line = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  std::ranges::replace_if(message, breaks_line, ' ');
  return message;
}

std::string join(std::span<const std::string> words, std::string_view separator)
{
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0)
      text += separator;
    text += words[i];
  }
  return text;
}

} // namespace weft
