# SPDX-License-Identifier: LGPL-2.1-only
"""New fabric files: a topology with its parameters, device presets, and two kinds of cables.

All keys, their types and the comments come from the core's registry and schema. The file is
validated by loading it before it replaces its target; errors are attributed to the option that
provided the value.
"""

import math
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft import _core
from weft.base.errors import WeftError, named, suggestion
from weft.base.output import STANDARD_OUTPUT, whole_file
from weft.benchmarks import measured
from weft.fabric.toml_file import in_toml

if TYPE_CHECKING:
    from weft._core import Fabric, Option, Topology

DEVICES = ("host", "nic", "switch")
# Hosts fitted to several clusters (docs/accuracy.md), and the NICs and the switch of the testbed of
# Belbeisi et al. (CF '26); fabrics/tofino-4.toml states the source of each value.
DEFAULT_PRESETS = {"host": "xeon-2-socket", "nic": "connectx-6-dx", "switch": "tofino"}
DEFAULT_BANDWIDTH = "100Gbps"
DEFAULT_LATENCY = "0.94us"
# Default model fabric by switch: the shipped fabric that was measured with this switch. All other
# switches use the testbed of Belbeisi et al.
LIKE = {
    **dict.fromkeys(("sharp", "sharp-hdr200", "sharp-ndr"), "hdr100-8"),
    "sx6036": "fdr-188",
}
# Default NIC of switches whose values were scaled together with a NIC.
NICS = {"sharp-hdr200": "connectx-6-hdr200", "sharp-ndr": "connectx-7-ndr"}
# NICs whose overhead is that of SHARP in a loop of UCC's benchmark, and the same NICs with that of
# HCOLL and MPI_Allreduce, 4.95 us more (presets/nic/connectx-6-hdr100-hcoll.toml has the source).
WITH_HCOLL = {
    "connectx-6-hdr100": "connectx-6-hdr100-hcoll",
    "connectx-6-hdr200": "connectx-6-hdr200-hcoll",
}
OTHERS_LIKE = "tofino-4"
# A GPU cluster's cables have several rates, so all tables come from one file.
CLUSTERS_OF_GPUS = "gpu_cluster"
CLUSTERS_LIKE = "superpod-h100-32"
# 5 m of cable at 5 ns/m, as in the shipped fabrics.
SWITCH_LATENCY = "25ns"
_LINE = 80
# The core's suffixes for SI units.
_UNIT_OF_A_KEY = re.compile(r"(\w+)_(bytes|s|Bps)")
# TOML's integers have 64 bits.
_INTEGER = re.compile(r"[+-]?\d{1,18}")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")


@dataclass(frozen=True, kw_only=True)
class Template:
    """Content of a new fabric file.

    The options are keys of the topology with string values, as on the command line. For the
    registry's type `tables`, each text is one table, `VALUE:KEY=VALUE:…`, and the first value
    belongs to the first key.
    """

    topology: str
    options: Mapping[str, Sequence[str]]
    name: str
    presets: Mapping[str, str] = field(default_factory=lambda: DEFAULT_PRESETS)
    bandwidth: str = DEFAULT_BANDWIDTH
    latency: str = DEFAULT_LATENCY
    switch_latency: str | None = None
    """Latency of cables between switches; None: the same as of all other cables."""
    messages: str | None = None
    """Fabric that provides [[point_to_point]] and [mpi]."""
    origins: Mapping[str, str] = field(default_factory=dict)
    """Comment on the origin of defaulted values, by table."""
    description: str | None = None
    """One-line description; None: the topology and its options."""
    max_ports: int | None = None
    """Ports of each switch; None: as in the preset."""
    exceptions: Sequence["LinkException"] = ()
    """Cables that differ from [link]."""
    host: Mapping[str, Any] = field(default_factory=dict)
    """Keys of [host] that replace the preset's."""
    whole_host: bool = False
    """True if `host` replaces the whole preset."""
    other_tables: str | None = None
    """Text of all tables except [fabric] and [topology]; None: render them from the values above.
    """


@dataclass(frozen=True)
class LinkException:
    """Table [[links]]: cables with matching names, and their values."""

    match: str
    bandwidth: str | None = None
    latency: str | None = None


def option_name(key: str) -> str:
    """Return the command-line option for a key of [topology]."""
    return "--" + key.replace("_", "-")


def find_topology(kind: str) -> "Topology":
    """Return the row of the registry; hyphens are accepted as separators."""
    rows = {row["kind"]: row for row in _core.topologies()}
    name = kind.replace("-", "_")
    if name not in rows:
        raise WeftError(f"KIND: found '{kind}'; {suggestion(name, rows)}")
    return rows[name]


def own_options(topology: "Topology") -> "list[Option]":
    """Return the keys of [topology] itself."""
    return [option for option in topology["options"] if "." not in option["key"]]


def inner_options(topology: "Topology", key: str) -> "list[Option]":
    """Return the keys of each [[topology.KEY]] table, by their names within the table."""
    rows = topology["options"]
    start = f"{key}."
    return [
        {**row, "key": row["key"].removeprefix(start)}
        for row in rows
        if row["key"].startswith(start)
    ]


def render(template: Template) -> str:
    """Return the text of the file."""
    if template.other_tables is not None:
        topology = find_topology(template.topology)
        tables = [_fabric_table(template, topology), _topology_table(template, topology)]
        return _joined(tables) + "\n" + template.other_tables
    text = _without_exceptions(template)
    tables = [_exceptions()]
    if template.switch_latency is not None:
        patterns = _between_switches(_proven(text), template.topology)
        tables.append(_links_tables(template, patterns))
    if template.exceptions:
        tables.append(_exception_tables(template.exceptions))
    if template.messages is not None:
        tables.append(_messages_tables(template))
    return text + "\n" + _joined(tables)


def _without_exceptions(template: Template) -> str:
    topology = find_topology(template.topology)
    tables = [
        _fabric_table(template, topology),
        _topology_table(template, topology),
        *(_device_table(device, template) for device in DEVICES),
        _link_table(template),
    ]
    return _joined(tables)


def _joined(tables: Sequence[Iterator[str]]) -> str:
    return "\n".join("\n".join(lines) + "\n" for lines in tables)


def write(
    template: Template, target: Path, *, force: bool = False, strict: bool = False
) -> "Fabric":
    """Write the file, unless one exists, and return the fabric that it describes.

    With `strict`, values outside the presets' measured ranges are refused.
    """
    if target.is_file() and target != STANDARD_OUTPUT and not force:
        raise WeftError(
            f"{named('output')}:"
            f" {target} exists; choose another name, or replace it with {named('force')}"
        )
    text = render(template)
    fabric = _proven(text, from_like=template.other_tables is not None)
    if strict:
        measured.refuse(measured.fabric_beyond(fabric))
    with whole_file(named("output"), target) as file:
        file.write(text)
    return fabric


def _proven(text: str, *, from_like: bool = False) -> "Fabric":
    with tempfile.TemporaryDirectory(prefix="weft-") as directory:
        path = Path(directory) / "fabric.toml"
        path.write_text(text, encoding="utf-8")
        try:
            return _core.load_fabric(str(path))
        except _core.UserError as error:
            raise WeftError(_of_option(str(error), path, from_like=from_like)) from None


def _of_option(message: str, path: Path, *, from_like: bool) -> str:
    """Replace the position in the temporary file with the option that provided the value.

    With `from_like`, this is `--like` for all tables except [topology].
    """
    place = re.match(re.escape(str(path)) + r": \[(\w+)(?:\.(\w+))?\] (\w+): ", message)
    if place is None:
        return message.removeprefix(f"{path}: ")
    table, inner, key = place.groups()
    problem = message[place.end() :]
    if from_like and table != "topology":
        return f"{named('like')}: [{table}] {key}: {problem}"
    if inner is not None:
        return f"{named(inner)}: {key}: {problem}"
    if table == "topology":
        return f"{named(key)}: {problem}"
    if table in DEVICES:
        return f"{named(f'{table}_preset')}: {problem}"
    if table == "links":
        return f"{named('switch_latency')}: {problem}"
    return f"{named(key)}: {problem}"


def _fabric_table(template: Template, topology: "Topology") -> Iterator[str]:
    said = ", ".join(f"{key} {' '.join(values)}" for key, values in template.options.items())
    said = template.description or f"{topology['kind']}: {said}"
    description = _shortened(said).encode(errors="replace").decode()
    yield "# `weft fabric show`, `check` and `plot` take this file; `weft fabric options` lists all"
    yield "# that it can say."
    yield "[fabric]"
    yield f"name = {_quoted('name', template.name)}"
    yield f"description = {_quoted('description', description)}"


def _topology_table(template: Template, topology: "Topology") -> Iterator[str]:
    yield f"# {sentence(topology['meaning'])}"
    yield "[topology]"
    yield f"kind = {_quoted('kind', template.topology)}"
    tables = []
    for option in own_options(topology):
        if option["key"] not in template.options:
            yield f"# Not given: {option['key']}, {explained(option)}."
        elif option["type"] == "tables":
            tables.append(option)
        else:
            yield f"# {sentence(explained(option))}"
            yield _line(option, template.options[option["key"]][-1])
    for option in tables:
        yield from _inner_tables(template, topology, option)


def _inner_tables(template: Template, topology: "Topology", option: "Option") -> Iterator[str]:
    rows = inner_options(topology, option["key"])
    yield ""
    yield f"# {sentence(option['meaning'])} Keys:"
    for row in rows:
        yield f"#   {row['key']}: {explained(row)}"
    for text in template.options[option["key"]]:
        yield f"[[topology.{option['key']}]]"
        yield from _inner_table(option["key"], rows, text)


def _inner_table(outer: str, rows: "Sequence[Option]", text: str) -> Iterator[str]:
    known = {row["key"]: row for row in rows}
    first, *others = text.split(":")
    for pair in (f"{rows[0]['key']}={first}", *others):
        key, equals, value = pair.partition("=")
        if not equals or key not in known:
            raise _bad(outer, text, f"{tables_form(rows)}, with the keys {', '.join(known)}")
        yield _line({**known[key], "key": key}, value, outer)


def tables_form(rows: "Sequence[Option]") -> str:
    """Return the command-line syntax of one of several tables."""
    return rows[0]["key"].upper() + "".join(f"[:{row['key']}={_form(row)}]" for row in rows[1:])


def _form(option: "Option") -> str:
    return option["type"].upper()


def _line(option: "Option", text: str, said_as: str | None = None) -> str:
    write = _WRITERS.get(option["type"], _quoted)
    return f"{option['key']} = {write(said_as or option['key'], text)}"


def _device_table(device: str, template: Template) -> Iterator[str]:
    table = _schema(device)
    keys = (option["key"] for option in table["options"] if option["key"] != "preset")
    yield f"# {sentence(table['meaning'])} What differs from the preset can be given here:"
    yield from _listed(keys)
    yield from _origin(template, device)
    yield f"[{device}]"
    whole = device == "host" and template.whole_host
    preset = f"preset = {_quoted('preset', template.presets[device])}"
    said = f"# Values of {template.presets[device]}, without messages between sockets."
    yield said if whole else preset
    if device == "host" and template.host:
        yield "# Cores, sockets and caches are those that lstopo states."
        yield from (f"{key} = {in_toml(value)}" for key, value in template.host.items())
    if device == "switch" and template.max_ports is not None:
        yield f"max_ports = {template.max_ports}"


def _origin(template: Template, table: str) -> Iterator[str]:
    yield from (f"# {line}" for line in template.origins.get(table, "").splitlines())


def _link_table(template: Template) -> Iterator[str]:
    yield f"# {sentence(_schema('link')['meaning'])}"
    yield from _origin(template, "link")
    yield "[link]"
    for key, value in (("bandwidth", template.bandwidth), ("latency", template.latency)):
        yield f"# {sentence(meanings('link')[key])}"
        yield from _origin(template, key)
        yield f"{key} = {_quoted(key, value)}"


def has_cables_between_switches(template: Template) -> bool:
    """Return true if a cable connects two switches. Raises the same errors as `write`."""
    fabric = _proven(_without_exceptions(template))
    return any(cable["lower"] >= len(fabric.hosts) for cable in fabric.cables())


def _between_switches(fabric: "Fabric", topology: str) -> list[str]:
    """Return patterns that match only the names of these cables."""
    hosts = len(fabric.hosts)
    inner = [cable for cable in fabric.cables() if cable["lower"] >= hosts]
    if not inner:
        raise WeftError(f"{named('switch_latency')}: no cable connects switches in this {topology}")
    prefix = _common_prefix(inner[0]["name"], inner[-1]["name"])
    pattern = _literally(re.sub(r"[\d#-]+$", "", prefix)) + "*"
    matching = [one["name"] for one in fabric.cables() if fnmatchcase(one["name"], pattern)]
    if len(inner) > 1 and matching == [cable["name"] for cable in inner]:
        return [pattern]
    return [_literally(cable["name"]) for cable in inner]


def _common_prefix(one: str, other: str) -> str:
    same = zip(one, other, strict=False)
    return "".join(a for a, _ in takewhile(lambda pair: pair[0] == pair[1], same))


def _literally(name: str) -> str:
    """Return the pattern that matches only this name."""
    return re.sub(r"([*?[])", r"[\1]", name)


def _links_tables(template: Template, patterns: Sequence[str]) -> Iterator[str]:
    yield "# Cables between switches."
    yield from _origin(template, "links")
    for number, pattern in enumerate(patterns):
        yield from [""] if number else []
        yield "[[links]]"
        yield f"match = {_quoted('match', pattern)}"
        yield f"latency = {_quoted('switch_latency', template.switch_latency or '')}"


def _exception_tables(exceptions: Sequence[LinkException]) -> Iterator[str]:
    yield "# Cables whose rate or latency differs from that of [link]."
    for number, one in enumerate(exceptions):
        yield from [""] if number else []
        yield "[[links]]"
        yield f"match = {in_toml(one.match)}"
        yield from [f"bandwidth = {in_toml(one.bandwidth)}"] if one.bandwidth else []
        yield from [f"latency = {in_toml(one.latency)}"] if one.latency else []


def _messages_tables(template: Template) -> Iterator[str]:
    fabric = _core.load_fabric(template.messages or "")
    meaning = _schema("point_to_point")["meaning"].removesuffix(", as [[point_to_point]]")
    yield f"# {sentence(meaning)}"
    yield from _origin(template, "point_to_point")
    for number, row in enumerate(fabric.point_to_point):
        yield from [""] if number else []
        yield "[[point_to_point]]"
        yield f'from = "{row["from_bytes"]:.0f}B"'
        yield f"latency_factor = {row['latency_factor']!r}"
        yield f"bandwidth_factor = {row['bandwidth_factor']!r}"
    if fabric.mpi is None:
        return
    yield ""
    yield f"# {sentence(_schema('mpi')['meaning'])}"
    yield "[mpi]"
    yield from _finite_keys(fabric.mpi)
    for overheads in fabric.mpi["overheads"]:
        yield ""
        yield "[[mpi.overheads]]"
        yield from _finite_keys(overheads)


def _finite_keys(row: Mapping[str, object]) -> Iterator[str]:
    """Yield the lines of a row of the core, omitting unlimited rates and nested tables."""
    for name, value in row.items():
        if not isinstance(value, float) or not math.isfinite(value):
            continue
        key, unit = _UNIT_OF_A_KEY.fullmatch(name).groups()  # type: ignore[union-attr]
        yield f'{key} = "{value:.0f}B"' if unit == "bytes" else f'{key} = "{value!r}{unit}"'


def _exceptions() -> Iterator[str]:
    yield "# More tables, each as often as needed, with their keys:"
    for name in ("links", "switches", "point_to_point"):
        table = _schema(name)
        yield f"# [[{name}]]: {table['meaning'].replace(f', as [[{name}]]', '')}."
        yield from _listed(option["key"] for option in table["options"])


def _schema(table: str) -> "_core.Table":
    return next(row for row in _core.fabric_schema() if row["table"] == table)


def explained(option: "Option") -> str:
    """Return a key's meaning, allowed values, and default."""
    text = option["meaning"]
    if any(f'"{name}"' not in text for name in option["names"]):
        text += f": {option['allowed']}"
    if option["required"]:
        return text
    otherwise = option["otherwise"]
    needed = otherwise.startswith("required")
    return f"{text} ({otherwise if needed else f'default: {otherwise}'})"


def meanings(table: str) -> dict[str, str]:
    """Return the meaning of each key of a table."""
    return {option["key"]: option["meaning"] for option in _schema(table)["options"]}


def sentence(text: str) -> str:
    """Return the meaning of a key as a sentence."""
    end = "" if text.endswith(".") else "."
    return f"{text[0].upper()}{text[1:]}{end}"


def _shortened(text: str) -> str:
    """Return the text shortened to one line."""
    return text if len(text) <= _LINE else f"{text[: _LINE - 1]}…"


def _listed(keys: Iterator[str]) -> Iterator[str]:
    yield f"#   {', '.join(keys)}"


def _quoted(key: str, text: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise WeftError(f"{named(key)}: found {text!r}; write UTF-8 text") from None
    return in_toml(text)


def _integer(key: str, text: str) -> str:
    if _INTEGER.fullmatch(text.strip()) is None:
        raise _bad(key, text, "a whole number")
    return in_toml(int(text))


def _number(key: str, text: str) -> str:
    if _NUMBER.fullmatch(text.strip()) is None:
        raise _bad(key, text, "a number")
    return text.strip()


def _integers(key: str, text: str) -> str:
    parts = [part.strip() for part in text.split(",")]
    if not all(map(_INTEGER.fullmatch, parts)):
        raise _bad(key, text, "whole numbers separated by commas, such as 4,4,4")
    return in_toml([int(part) for part in parts])


def _texts(key: str, text: str) -> str:
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        raise _bad(key, text, "names separated by commas, such as a,b,c")
    for part in parts:
        _quoted(key, part)
    return in_toml(parts)


def _bad(key: str, text: str, allowed: str) -> WeftError:
    return WeftError(f"{named(key)}: found '{text}'; write {allowed}")


# TOML writers by registry type; all other types are written as quoted strings.
_WRITERS: Mapping[str, Callable[[str, str], str]] = {
    "integer": _integer,
    "integers": _integers,
    "number": _number,
    "texts": _texts,
}
