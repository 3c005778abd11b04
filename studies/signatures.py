# SPDX-License-Identifier: LGPL-2.1-only
"""Generates the repeated parts of the API's sources, for type checkers, editors and the reference.

python -m studies.signatures

Options of runs are declared in `weft.runs.options`; the script writes their signatures and
docstrings into python/weft/api. Public names are declared in `__all__` of the API's modules; the
script writes them into python/weft/__init__.py, and the testbed's names into its extension.
"""

import ast
import json
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from studies.study import ROOT
from weft.runs import offload_modes, value_types
from weft.runs.options import DeclaredOption, run_option, run_options, sentences

PACKAGE = ROOT / "python" / "weft"
API = PACKAGE / "api"
TESTBED = ROOT / "testbed" / "weft_testbed"
_WIDTH = 100
_ANNOTATIONS: Mapping[type, str] = {
    value_types.Count: "int",
    value_types.Probability: "float",
    value_types.Seconds: "float",
    value_types.Size: "int | str",
    value_types.Choice: "str",
    value_types.Switch: "bool",
    value_types.Text: "str",
    value_types.FabricName: "FabricLike",
    value_types.Algorithms: "PathLike",
    value_types.Changes: "Changes | None",
    value_types.Settings: "Mapping[str, object] | Sequence[str]",
    value_types.InputFile: "PathLike",
    value_types.OutputFile: "PathLike",
    value_types.Directory: "PathLike",
}
_PLACE = re.compile(
    r"^    # (options of \w+): `make stub`\n(.*?)^    # end\n", re.DOTALL | re.MULTILINE
)
_NAMES_PLACE = re.compile(
    r"^( *)# ([\w ]*names[\w ]*): `make stub`\n.*?^ *# end\n", re.DOTALL | re.MULTILINE
)
NOT_OF_API: Mapping[str, Sequence[str]] = {
    "weft._core": ("__version__",),
    "weft.base": ("paths",),
    "weft.base.errors": ("WeftError",),
    "weft.runs.record": ("FailedRunError", "Record"),
    "weft.runs.replay": ("Recording",),
    "weft.study.comparison.comparison": ("Comparison",),
    "weft.study.forwarding.hashes": ("Cube",),
}
"""Public names that other rooms define, by module."""
_OTHERWISE_CALLED = {"__version__": "version as __version__"}
_ENTRY = re.compile(r"^        (\w+): ", re.MULTILINE)


def annotation(one: DeclaredOption) -> str:
    """Return the type of a parameter as in the API's sources."""
    kind = _ANNOTATIONS[type(one.option.kind)]
    return f"{kind} | None" if one.default is None else kind


def _literal(value: object) -> str:
    """Return a value as Python source, quoted as the formatter does."""
    return json.dumps(value) if isinstance(value, str) else repr(value)


def default(one: DeclaredOption) -> str:
    """Return the default of a parameter as in the API's sources."""
    if isinstance(one.option.kind, value_types.Changes):
        return "None"
    return (
        "offload_modes.DEFAULT" if one.default == offload_modes.DEFAULT else _literal(one.default)
    )


def meaning(one: DeclaredOption) -> str:
    """Return the docstring text of an option."""
    option = one.option
    unit = f", in {option.unit}" if option.unit else ""
    off = f"False: {option.off[0].lower()}{option.off[1:]}" if option.off else ""
    absent = f"By default {option.absent}" if option.absent else ""
    return sentences(f"{option.meaning}{unit}", off, option.more, option.api, absent)


def _fields(options: Sequence[DeclaredOption]) -> str:
    return "".join(f"    {one.name}: {annotation(one)}\n" for one in options)


def _parameters() -> str:
    return "".join(
        f"    {one.name}: {annotation(one)}{'' if one.required else f' = {default(one)}'},\n"
        for one in _required_first()
    )


def _required_first() -> list[DeclaredOption]:
    return sorted(run_options(), key=lambda one: not one.required)


PLACES: Mapping[str, Callable[[], str]] = {
    "options of replays": lambda: _fields([one for one in run_options() if one.option.replays]),
    "options of programs": lambda: _fields(
        [one for one in run_options() if not one.option.replays]
    ),
    "options of runs": _parameters,
}


def _entry(name: str, text: str) -> str:
    return textwrap.fill(
        f"{name}: {text}",
        _WIDTH,
        initial_indent=" " * 8,
        subsequent_indent=" " * 12,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _arguments(docstring: str, texts: Mapping[str, str], *, adding: bool) -> str:
    """Return a docstring with the texts of some arguments replaced; append missing arguments."""
    before, head, rest = docstring.partition("    Args:\n")
    body, blank, after = rest.partition("\n\n")
    starts = [*_ENTRY.finditer(body)]
    ends = [*(one.start() for one in starts[1:]), len(body) + 1]
    entries = {one[1]: body[one.start() : end - 1] for one, end in zip(starts, ends, strict=True)}
    own = [name for name in entries if name not in texts]
    written = {name: _entry(name, text) for name, text in texts.items()}
    if adding:
        place = next((k for k, name in enumerate(entries) if name in texts), len(own))
        names = [*own[:place], *texts, *own[place:]]
    else:
        names = list(entries)
    return before + head + "\n".join((entries | written)[name] for name in names) + blank + after


def _with_texts(source: str, function: str, texts: Mapping[str, str], *, adding: bool) -> str:
    """Return a module's source with the texts of some arguments of a function replaced."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            lines = source.splitlines(keepends=True)
            said = node.body[0]
            assert said.end_lineno is not None
            before, after = lines[: said.lineno - 1], lines[said.end_lineno :]
            docstring = "".join(lines[said.lineno - 1 : said.end_lineno])
            return "".join([*before, _arguments(docstring, texts, adding=adding), *after])
    raise LookupError(function)


def running(source: str) -> str:
    """Return the updated module of `weft.run`."""
    source = _PLACE.sub(
        lambda found: f"    # {found[1]}: `make stub`\n{PLACES[found[1]]()}    # end\n", source
    )
    meanings = {one.name: meaning(one) for one in _required_first()}
    names = [*(one.name for one in run_options() if one.option.replays), "on_line"]
    listed = ", ".join(f"`{name}`" for name in names)
    options = {"options": f"Those of `weft.run` that say where and how: {listed}."}
    source = _with_texts(source, "run", meanings, adding=True)
    return _with_texts(source, "replay", options, adding=False)


def bench(source: str) -> str:
    """Return the updated module of `weft.bench`."""
    texts = {one.name: meaning(one) for one in map(run_option, ("fabric", "changes", "config"))}
    for function in ("bench", "bench_like"):
        source = _with_texts(source, function, texts, adding=False)
    return source


def declared_names(module: Path) -> list[str]:
    """Return `__all__` of a module, without importing it; empty if it has none."""
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return sorted(ast.literal_eval(node.value))
    return []


def own_names() -> dict[str, Sequence[str]]:
    """Return weft's public names, by module."""
    api = {f"weft.api.{file.stem}": declared_names(file) for file in API.glob("*.py")}
    return dict(sorted({**{k: v for k, v in api.items() if v}, **NOT_OF_API}.items()))


def testbed_names() -> dict[str, Sequence[str]]:
    """Return the names that the testbed adds, by module."""
    return {"weft_testbed.api": declared_names(TESTBED / "api.py")}


def _imports() -> str:
    """Return imports; names that are not in `__all__` use the re-export form."""
    own = (
        f"from {module} import {', '.join(_OTHERWISE_CALLED.get(one, one) for one in names)}\n"
        for module, names in own_names().items()
    )
    added = (
        f"from {module} import {one} as {one}\n"
        for module, names in testbed_names().items()
        for one in names
    )
    return "".join([*own, *added])


def _by_module(modules: Mapping[str, Sequence[str]]) -> str:
    return "".join(f"{json.dumps(name)}: {tuple(names)!r},\n" for name, names in modules.items())


def _all() -> str:
    names = sorted(name for names in own_names().values() for name in names)
    return "".join(f"{json.dumps(name)},\n" for name in names)


def _with_names(source: str, texts: Mapping[str, Callable[[], str]]) -> str:
    def written(found: re.Match[str]) -> str:
        head = f"{found[1]}# {found[2]}: `make stub`\n"
        return f"{head}{textwrap.indent(texts[found[2]](), found[1])}{found[1]}# end\n"

    return _formatted(_NAMES_PLACE.sub(written, source))


def _formatted(source: str) -> str:
    ruff = [str(Path(sys.executable).parent / "ruff"), "format", "--stdin-filename", "x.py", "-"]
    done = subprocess.run(ruff, input=source, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def package(source: str) -> str:
    """Return the updated module `weft`."""
    texts = {
        "names for type checkers": _imports,
        "public names": _all,
        "names by module": lambda: _by_module(own_names()),
    }
    return _with_names(source, texts)


def testbed(source: str) -> str:
    """Return the updated module of the testbed's extension."""
    return _with_names(source, {"names by module": lambda: _by_module(testbed_names())})


FILES: Mapping[Path, Callable[[str], str]] = {
    API / "running.py": running,
    API / "bench.py": bench,
    PACKAGE / "__init__.py": package,
    TESTBED / "__init__.py": testbed,
}


def write() -> None:
    """Update the sources."""
    for path, updated in FILES.items():
        source = path.read_text(encoding="utf-8")
        path.write_text(updated(source), encoding="utf-8")


if __name__ == "__main__":
    write()
