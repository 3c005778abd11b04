# SPDX-License-Identifier: LGPL-2.1-only
"""How far something has come, where a person looks: one line, in a notebook or on a terminal.

In a notebook it is a text that changes in its place; what stays of it says how it ended and nothing
of times, so that a notebook that is run again is the same. On a terminal it is a line that is
written over. Elsewhere, as in a log, it is a line every ten seconds.
"""

import sys
import time
from typing import Any, Protocol

_SHORTEST_S = 0.2
_EVERY_S = 10.0


class _Display(Protocol):
    def show(self, text: str) -> None: ...

    def end(self, text: str) -> None: ...


class Line:
    """A text that changes."""

    def __init__(self) -> None:
        """Find out who looks."""
        self._display = _display()
        self._last = 0.0

    def show(self, text: str) -> None:
        """Say how far it has come, unless it was said right before."""
        now = time.monotonic()
        if now - self._last >= _SHORTEST_S:
            self._last = now
            self._display.show(text)

    def end(self, text: str) -> None:
        """Say how it ended."""
        self._display.end(text)


def _display() -> _Display:
    shell = in_notebook()
    if shell is not None:
        return _Notebook()
    if sys.stderr is not None and sys.stderr.isatty():
        return _Terminal()
    return _Log()


def in_notebook() -> Any:
    """Return IPython's shell where this is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell if shell is not None and hasattr(shell, "kernel") else None


class _Notebook:
    def __init__(self) -> None:
        from IPython.display import display

        show: Any = display  # IPython's own types say nothing of it
        self._handle: Any = show(_Text(""), display_id=True)

    def show(self, text: str) -> None:
        self._handle.update(_Text(text))

    end = show


class _Text:
    """A text without quotation marks."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


class _Terminal:
    def __init__(self) -> None:
        self._width = 0

    def show(self, text: str, end: str = "") -> None:
        print(f"\r{text:{self._width}}", end=end, file=sys.stderr, flush=True)
        self._width = len(text)

    def end(self, text: str) -> None:
        self.show(text, "\n")


class _Log:
    def __init__(self) -> None:
        self._last = time.monotonic()

    def show(self, text: str) -> None:
        if time.monotonic() - self._last >= _EVERY_S:
            self._last = time.monotonic()
            print(text, file=sys.stderr, flush=True)

    def end(self, text: str) -> None:
        pass
