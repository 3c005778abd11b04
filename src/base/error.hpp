// SPDX-License-Identifier: LGPL-2.1-only
/* Errors that a user can mend.
 *
 * Misuse of the API throws std::logic_error. A user's mistake (a wrong file, a wrong value) throws UserError, whose
 * what() is the one complete message: the thing, its place, what was found, what is allowed, what to do.
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

/** The one of @p known that @p word was probably meant to be (edit distance at most a third of its length, or one), or
 * "". */
std::string nearest(std::string_view word, std::span<const std::string> known);

/** "did you mean "x"? " for a message about @p word, or "" where none of @p known is near it. */
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

/** @p message without ends of lines and other control characters, for names and values from files. */
std::string on_one_line(std::string message);

/** "a, b, c", for messages. */
std::string join(std::span<const std::string> words, std::string_view separator = ", ");

} // namespace weft
