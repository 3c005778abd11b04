// SPDX-License-Identifier: LGPL-2.1-only
/* Errors that the user can fix.
 *
 * Misuse of the API throws std::logic_error. A user's mistake (a wrong file, a wrong value) throws UserError. Its
 * what() is the complete message: the subject, its place, the value found, the values allowed, and what to do.
 */
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft {

class UserError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/** Returns the word in @p known closest to @p word, or "" if none is within an edit distance of one or a third of the
 * length of @p word. */
std::string nearest(std::string_view word, std::span<const std::string> known);

/** Returns "did you mean "x"? " for an error about @p word, or "" if no word in @p known is close. */
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

/** Returns @p message without line breaks and other control characters; for names and values that come from files. */
std::string on_one_line(std::string message);

/** Returns the words as a list: "a, b, c". */
std::string join(std::span<const std::string> words, std::string_view separator = ", ");

} // namespace weft
