# SPDX-License-Identifier: LGPL-2.1-only
"""What goes wrong, and how it is said.

A mistake of the user is a `WeftError`: one message that names the thing, what was found, what is
allowed and what to do. What was asked for wrongly is named as the API has it (`named`); the command
line says its option in that place. Only the command line prints the message and leaves, with the
exit status that it carries. A program that fails in the simulation is no error but an outcome in
the record (see `weft.runs.outcome`).
"""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

USER_ERROR = 2
_MOST_SHOWN = 4000
"""Characters of the allowed words in a message."""
# Characters of nobody's, which Unicode leaves to private use.
_FIELD = re.compile("\ue000([^\ue001]+)\ue001")


def named(name: str) -> str:
    """Return how the text of a `WeftError` names a field of a request or a parameter."""
    return f"\ue000{name}\ue001"


def _with_names(text: str, names: Mapping[str, str]) -> str:
    return _FIELD.sub(lambda found: names.get(found[1], found[1]), text)


class WeftError(Exception):
    """A mistake that the user can mend; its text is the message, or empty where it was said."""

    def __init__(self, message: str, exit_status: int = USER_ERROR) -> None:
        """Keep the message and the exit status that the command line leaves with."""
        super().__init__(_with_names(message, {}))
        self.message = message
        """With its fields, for one who raises it again."""
        self.exit_status = exit_status

    def in_terms_of(self, names: Mapping[str, str]) -> "WeftError":
        """Return the same, with other names of some fields."""
        return WeftError(_with_names(self.message, names), self.exit_status)


class Interrupted(BaseException):
    """A signal asked weft to stop; not an Exception, so that nothing swallows it on the way."""

    def __init__(self, signum: int) -> None:
        """Remember the signal: the exit status is 128 and its number."""
        super().__init__(signum)
        self.signum = signum


def printable(text: str) -> str:
    """Return a text that does to a terminal nothing but be read: control characters by number."""
    return "".join(
        one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode()
        for one in text
    )


def suggestion(found: str, allowed: Iterable[str]) -> str:
    """Return "did you mean …?" where allowed words are near the one found, else all of them."""
    words = list(allowed)
    near = difflib.get_close_matches(found, words, n=3, cutoff=0.55)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"allowed are {_listed(words)}"


def _listed(words: Sequence[str]) -> str:
    """Return words with commas between, as many of them as people read."""
    shown: list[str] = []
    for word in words:
        if sum(map(len, shown)) + len(word) > _MOST_SHOWN and shown:
            return f"{', '.join(shown)} and {len(words) - len(shown):,} more"
        shown.append(word)
    return ", ".join(shown)
