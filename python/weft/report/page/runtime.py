# SPDX-License-Identifier: LGPL-2.1-only
"""The scripts and styles that a page carries: Vega and Vega-Lite, and the report's own."""

from functools import cache
from importlib.resources import files

import vl_convert

# In the order in which they are needed.
_SCRIPTS = ("data", "words", "view", "controls", "map", "charts", "table", "main")


@cache
def vega() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script, which vl-convert has; takes seconds."""
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def vega_versions() -> str:
    """Return which versions `vega` has."""
    newest = max(vl_convert.get_vegalite_versions(), key=_numbers)
    return f"Vega {vl_convert.get_vega_version()}, Vega-Lite {newest}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


@cache
def asset(name: str) -> str:
    """Return a file of the report's own."""
    return (files("weft.report") / "assets" / name).read_text(encoding="utf-8")


def script() -> str:
    """Return the report's own program."""
    parts = [asset(f"{name}.js") for name in _SCRIPTS]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"
