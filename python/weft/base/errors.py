# SPDX-License-Identifier: LGPL-2.1-only
"""Errors and the wording of their messages.

A user error is a `WeftError`: one message that names the object, what was found, what is allowed
and how to fix it. Parameters are named as in the API (`named`); the command line substitutes its
option names. Only the command line prints the message and exits, with the status that the error
carries. A program that fails in the simulation is not an error but an outcome in the record (see
`weft.runs.outcome`).
"""

import difflib
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence

USER_ERROR = 2
_MOST_SHOWN = 4000
"""Limit in characters up to which all allowed words are listed in an error message."""
_FIRST_SHOWN = 300
"""Characters shown of a longer list of allowed words."""
# Delimiters from Unicode's private use area.
_FIELD = re.compile("\ue000([^\ue001]+)\ue001")


def named(name: str) -> str:
    """Mark the name of a request field or parameter in the text of a `WeftError`."""
    return f"\ue000{name}\ue001"


def _with_names(text: str, names: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda found: names.get(found[1], found[1]), text)


class WeftError(Exception):
    """User error; the text is the error message, or empty if already printed."""

    def __init__(self, message: str, exit_status: int = USER_ERROR) -> None:
        """Store the message and the exit status for the command line."""
        super().__init__(_with_names(message, {}))
        self.message = message
        """Message with its field markers, for re-raising."""
        self.exit_status = exit_status

    def in_terms_of(self, names: Mapping[str, str]) -> "WeftError":
        """Return the same error with some fields renamed."""
        return WeftError(_with_names(self.message, names), self.exit_status)


class Interrupted(BaseException):
    """Signal that asks weft to stop; not an Exception, so that no handler swallows it."""

    def __init__(self, signum: int) -> None:
        """Store the signal; the exit status is 128 plus its number."""
        super().__init__(signum)
        self.signum = signum


def printable(text: str) -> str:
    """Return the text with control characters escaped, so that a terminal can show it safely."""
    return "".join(
        one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode()
        for one in text
    )


def suggestion(found: str, allowed: Iterable[str]) -> str:
    """Return "did you mean …?" if allowed words resemble the one found, else list all of them."""
    words = list(allowed)
    near = difflib.get_close_matches(found, words, n=3, cutoff=0.55)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"allowed are {_listed(words)}"


def _listed(words: Sequence[str]) -> str:
    """Join words with commas; show only the first words of a list that is too long to read."""
    whole = ", ".join(words)
    if len(whole) <= _MOST_SHOWN:
        return whole
    lengths = itertools.accumulate(len(word) for word in words)
    count = max(1, sum(length <= _FIRST_SHOWN for length in lengths))
    return f"{', '.join(words[:count])} and {len(words) - count:,} more"
