# SPDX-License-Identifier: LGPL-2.1-only
"""Scripts and styles embedded in a page: Vega, Vega-Lite and the report's script."""

from functools import cache
from importlib.resources import files

import vl_convert

# In order of dependencies.
_SCRIPTS = (
    "data",
    "words",
    "view",
    "controls",
    "map",
    "charts",
    "training",
    "losses",
    "table",
    "main",
)


@cache
def vega() -> str:
    """Return Vega, Vega-Lite and Vega-Embed as one script from vl-convert, which takes seconds."""
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))


def vega_versions() -> str:
    """Return the versions in `vega`."""
    newest = max(vl_convert.get_vegalite_versions(), key=_numbers)
    return f"Vega {vl_convert.get_vega_version()}, Vega-Lite {newest}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


@cache
def asset(name: str) -> str:
    """Return a file of the report's assets."""
    return (files("weft.report") / "assets" / name).read_text(encoding="utf-8")


def script() -> str:
    """Return the report's own script."""
    parts = [asset(f"{name}.js") for name in _SCRIPTS]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"
