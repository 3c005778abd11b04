# SPDX-License-Identifier: LGPL-2.1-only
"""Generated sections of pages, between lines `<!-- NAME -->` and `<!-- end -->`.

An unclosed section is an error, so a page without the end marker stays intact.
"""

from collections.abc import Mapping
from pathlib import Path

from weft.base import inputs
from weft.base.errors import WeftError
from weft.base.output import whole_file

_END = "<!-- end -->\n"


def update(page: str, texts: Mapping[str, str], where: str = "the page") -> str:
    """Return a page with its sections filled; the page must contain every name in `texts`."""
    for name, text in texts.items():
        page = _filled(page, name, text, where)
    return page


def fill(option: str, document: Path, texts: Mapping[str, str]) -> None:
    """Fill the sections of a file; an error names the option and leaves the file unchanged."""
    with inputs.unobserved():
        text = document.read_text(encoding="utf-8")
    page = update(text, texts, f"{option}: {document}")
    with whole_file(option, document) as file:
        file.write(page)


def _filled(page: str, name: str, text: str, where: str) -> str:
    begin = f"<!-- {name} -->\n"
    found = page.count(begin)
    if found != 1:
        times = "no place" if found == 0 else f"{found} places"
        raise WeftError(f"{where} has {times} `{begin.strip()}`; it must have one")
    before, _, rest = page.partition(begin)
    old, end, after = rest.partition(_END)
    if not end or "<!-- " in old:
        raise WeftError(
            f"{where}: the place `{begin.strip()}` is not closed; put a line `{_END.strip()}`"
            " after the text that is to be replaced"
        )
    return f"{before}{begin}{text}{_END}{after}"
