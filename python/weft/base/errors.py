"""What goes wrong, and how it is said.

A mistake of the user is a `WeftError`: one message that names the thing, what was found, what is
allowed and what to do. Only the command line prints it and leaves, with the exit status that it
carries. A program that fails in the simulation is no error but an outcome in the record (see
`weft.runs.outcome`).
"""

import difflib
from collections.abc import Iterable

USER_ERROR = 2


class WeftError(Exception):
    """A mistake that the user can mend; its text is the message, or empty where it was said."""

    def __init__(self, message: str, exit_status: int = USER_ERROR) -> None:
        """Keep the message and the exit status that the command line leaves with."""
        super().__init__(message)
        self.exit_status = exit_status


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
    return f"allowed are {', '.join(words)}"
