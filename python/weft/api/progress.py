# SPDX-License-Identifier: LGPL-2.1-only
"""One-line progress display for notebooks, terminals and logs.

In a notebook, the text is updated in place; its final state shows the outcome without times, so
that rerunning a notebook yields the same output. On a terminal, the line is overwritten. Elsewhere,
as in a log, one line is printed every ten seconds.
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
    """Text that is updated in place."""

    def __init__(self) -> None:
        """Select the display for this environment."""
        self._display = _display()
        self._last = 0.0

    def show(self, text: str) -> None:
        """Show progress, rate-limited."""
        now = time.monotonic()
        if now - self._last >= _SHORTEST_S:
            self._last = now
            self._display.show(text)

    def end(self, text: str) -> None:
        """Show the final state."""
        self._display.end(text)


def _display() -> _Display:
    shell = in_notebook()
    if shell is not None:
        return _Notebook()
    if sys.stderr is not None and sys.stderr.isatty():
        return _Terminal()
    return _Log()


def in_notebook() -> Any:
    """Return IPython's shell if this process is a notebook kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell if shell is not None and hasattr(shell, "kernel") else None


class _Notebook:
    def __init__(self) -> None:
        from IPython.display import display

        show: Any = display  # untyped in IPython
        self._handle: Any = show(_Text(""), display_id=True)

    def show(self, text: str) -> None:
        self._handle.update(_Text(text))

    end = show


class _Text:
    """Text displayed without quotation marks."""

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
