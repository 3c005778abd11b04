#include "base/error.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace weft {
namespace {

/** Levenshtein's distance, one row at a time. */
std::size_t edit_distance(std::string_view a, std::string_view b)
{
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0]               = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal                      = row[j];
      row[j]                        = std::min({row[j] + 1, row[j - 1] + 1, substituted});
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

std::string join(std::span<const std::string> words, std::string_view separator)
{
  std::string text;
  for (const std::string& word : words) {
    if (not text.empty())
      text += separator;
    text += word;
  }
  return text;
}

} // namespace weft
