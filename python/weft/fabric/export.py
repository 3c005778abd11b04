# SPDX-License-Identifier: LGPL-2.1-only
"""Export of a fabric to other tools, in the format implied by the file name."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from weft.base.errors import WeftError, named
from weft.base.output import shown, whole_file
from weft.fabric import graphviz, platform_xml

if TYPE_CHECKING:
    from weft._core import Fabric

FORMATS: Mapping[str, Callable[["Fabric"], Iterator[str]]] = {
    ".xml": platform_xml.render,
    ".dot": graphviz.render,
    ".gv": graphviz.render,
}


def check_format(target: Path) -> None:
    """Check that the format of this file name is supported."""
    if target.suffix.lower() not in FORMATS:
        raise WeftError(
            f"{named('output')}:"
            f" found '{shown(target)}'; its name must end in one of {', '.join(FORMATS)}"
        )


def export(fabric: "Fabric", target: Path) -> list[str]:
    """Write the fabric atomically; return the features that the format loses."""
    check_format(target)
    render = FORMATS[target.suffix.lower()]
    lines = render(fabric)
    with whole_file(named("output"), target) as file:
        file.writelines(f"{line}\n" for line in lines)
    return platform_xml.losses(fabric) if render is platform_xml.render else []
