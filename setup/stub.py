# SPDX-License-Identifier: LGPL-2.1-only
"""Writes python/weft/_core.pyi, the typed interface of the compiled core.

Classes and functions come from pybind11-stubgen; row types, which the core enumerates
(`_core.row_kinds()`), become TypedDicts above them. With --check, the script writes nothing and
exits with status 0 if the file is current.
"""

import logging
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pybind11_stubgen

from weft import _core

STUB = Path(__file__).resolve().parent.parent / "python" / "weft" / "_core.pyi"
_NUMBERS = {
    "typing.SupportsInt | typing.SupportsIndex": "int",
    "typing.SupportsFloat | typing.SupportsIndex": "float",
    "weft._core.": "",
}
_LICENCE = "# SPDX-License-Identifier: LGPL-2.1-only\n"
_VALUE = re.compile(r"^(\w+: (?:str|int)) = .*$", re.MULTILINE)
_IMPORTS = re.compile(r"(?:^(?:from|import) .*\n)+", re.MULTILINE)


def generated() -> str:
    """Return the text of the file."""
    logging.disable()  # pybind11-stubgen warns about the row types
    with tempfile.TemporaryDirectory() as folder:
        pybind11_stubgen.main(["weft._core", "-o", folder])
        text = (Path(folder) / "weft" / "_core.pyi").read_text(encoding="utf-8")
    for long, short in _NUMBERS.items():
        text = text.replace(long, short)
    text = _VALUE.sub(r"\1", text)  # specific to this build and machine
    imports = _IMPORTS.search(text)
    assert imports is not None
    return _LICENCE + _formatted(f"{text[: imports.end()]}\n{_rows()}\n{text[imports.end() :]}")


def _rows() -> str:
    return "\n".join(_row(name, *kind) for name, kind in _core.row_kinds().items())


def _row(name: str, meaning: str, fields: list[tuple[str, str]]) -> str:
    about = textwrap.fill(f'"""{meaning}"""', 96)
    body = "\n".join([about, *(f"{key}: {kind}" for key, kind in fields)])
    return f"class {name}(typing.TypedDict):\n{textwrap.indent(body, '    ')}\n"


def _formatted(text: str) -> str:
    ruff = [str(Path(sys.executable).parent / "ruff"), "format", "--stdin-filename", STUB.name, "-"]
    return subprocess.run(ruff, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


def main() -> int:
    """Write the file, or compare it with the expected content."""
    text = generated()
    if "--check" in sys.argv[1:]:
        return int(STUB.read_text(encoding="utf-8") != text)
    STUB.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
