# SPDX-License-Identifier: LGPL-2.1-only
"""Recognition of other tools' topology files by their content.

Commands that take a fabric refuse such a file and name its kind; `weft fabric new --from` reads it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from weft.base.user_files import UnreadableError, read_text

IBNETDISCOVER, SLURM, SLURM_YAML = "ibnetdiscover", "slurm", "slurm-yaml"
CONTAINERLAB = "containerlab"
IBLINKINFO, IBDIAGNET, NET_DUMP = "iblinkinfo", "ibdiagnet", "net-dump"
NET_DUMP_EXT, DB_CSV = "net-dump-ext", "db-csv"
NS3, ASTRA, GML, GRAPHML, JSON = "ns-3", "astra-sim", "gml", "graphml", "json"


@dataclass(frozen=True)
class Kind:
    """Kind of topology file."""

    name: str
    said: str
    """Noun phrase for error messages."""
    instead: str = ""
    """Advice for a kind that weft does not read; empty if weft reads it."""

    @property
    def inside(self) -> bool:
        """True for the inside of a host, which is not a fabric's topology."""
        return self.said == _LSTOPO

    @property
    def platform(self) -> bool:
        """True for a SimGrid platform, which `weft run --platform` uses unchanged."""
        return self.said == _PLATFORM


_PLATFORM = "a SimGrid platform"
_LSTOPO = "an XML of lstopo, the inside of a host"
_KINDS: Mapping[str, str] = {
    IBNETDISCOVER: "an output of ibnetdiscover",
    IBLINKINFO: "an output of iblinkinfo",
    IBDIAGNET: "a list of links of ibdiagnet (.lst)",
    NET_DUMP: "a list of ports of ibdiagnet (.net_dump)",
    NET_DUMP_EXT: "a table of ports of ibdiagnet (.net_dump_ext)",
    DB_CSV: "a database of ibdiagnet (.db_csv)",
    SLURM: "a topology.conf of Slurm, or what `scontrol show topology` prints",
    SLURM_YAML: "a topology.yaml of Slurm",
    NS3: "a topology of ns-3 or SimAI",
    ASTRA: "a network file of ASTRA-sim",
    CONTAINERLAB: "a topology of containerlab",
    GML: "a graph in GML",
    GRAPHML: "a graph in GraphML",
    JSON: "a topology of Mininet or the P4 tutorials in JSON",
}
# By pattern: the kind of file, and the advice.
_UNREAD: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        re.compile(r"^\s*BlockName\s*=", re.MULTILINE | re.IGNORECASE),
        "a topology.conf of Slurm's topology/block, which states no switches",
        "write a custom fabric: docs/fabric-files.md",
    ),
    (
        re.compile(r"^\s*(?:from|import)\s+mininet\b", re.MULTILINE),
        "a Python program of Mininet, whose topology exists only while it runs",
        "save it as JSON with MiniEdit, or write a custom fabric: docs/fabric-files.md",
    ),
    (
        re.compile(r"<platform\b"),
        _PLATFORM,
        "name it *.xml: `weft run --platform` takes it",
    ),
    (
        re.compile(r"<!DOCTYPE topology|<topology\b"),
        _LSTOPO,
        "`weft fabric new --host-from FILE` takes it together with a topology",
    ),
)
# JSON, but not ibdiagnet's .lst (`{ CA Ports:…`) or a prompt above an output (`[root@node01 ~]#`).
_BEGINS_AS_JSON = re.compile(r'\s*(?:\{\s*["}]|\[\s*[\[{"\]])')
# First line of ibdiagnet's .lst.
_LIST = re.compile(r"^\s*\{\s*(?:SW|CA|RT)\s+Ports:", re.MULTILINE)
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(
            r'^[ \t]*(?:switchguid=|caguid=|(?:Switch|Ca|Hca)\s+\d+\s+"'
            r"|(?:SW|CA)\s+\d+\s+\d+\s+0x[0-9a-fA-F]+\s)",
            re.MULTILINE,
        ),
        IBNETDISCOVER,
    ),
    (_LIST, IBDIAGNET),
    (re.compile(r'^\s*"[^"\n]+",[^,\n]*,\s*0x[0-9a-fA-F]+,\s*LID\s+\d', re.MULTILINE), NET_DUMP),
    (re.compile(r"^\s*Ty\s*:\s*#\s*:", re.MULTILINE), NET_DUMP_EXT),
    (re.compile(r"^START_NODES\s*$", re.MULTILINE), DB_CSV),
    (re.compile(r"\]\s*==\(\s*(?:\d+X|\s*Down)"), IBLINKINFO),
    (re.compile(r"^\s*SwitchName\s*=", re.MULTILINE | re.IGNORECASE), SLURM),
    (re.compile(r"^\s*-\s+topology:", re.MULTILINE), SLURM_YAML),
    (re.compile(r"^topology:\s*$(?=[\s\S]*^\s+(?:nodes|links):)", re.MULTILINE), CONTAINERLAB),
    (re.compile(r"^\s*npus_count\s*:", re.MULTILINE), ASTRA),
    (re.compile(r"<graphml\b"), GRAPHML),
    (re.compile(r"^\s*graph\s*\[", re.MULTILINE), GML),
    (
        re.compile(
            r"\A\s*\d+(?:[ \t]+\d+){2,6}[ \t]*[A-Za-z]?\w*[ \t]*\n[\d\s]*"
            r"^\s*\d+[ \t]+\d+[ \t]+[\d.eE+-]+(?:[kKMGT]?[bB]\S*)?[ \t]+[\d.eE+-]+[munp]?s\b",
            re.MULTILINE,
        ),
        NS3,
    ),
)
_START = 1 << 16
"""Characters at the start of a file by which it is recognized."""


def kind_of(text: str) -> Kind | None:
    """Return the kind of topology file that a text is, or None."""
    start = text[:_START]
    if _BEGINS_AS_JSON.match(start):
        found = '"links"' in text or '"edges"' in text
        return Kind(JSON, _KINDS[JSON]) if found else None
    for pattern, name in _PATTERNS:
        if pattern.search(start):
            return Kind(name, _KINDS[name])
    for pattern, said, instead in _UNREAD:
        if pattern.search(start):
            return Kind("", said, instead)
    return None


def advice(path: Path) -> str | None:
    """Return the kind of a file that is not a fabric, with advice; None if unknown."""
    try:
        kind = kind_of(read_text(path)) if path.is_file() else None
    except (UnreadableError, OSError):  # A name may be too long.
        return None
    if kind is None:
        return None
    command = f"`weft fabric new --from {path} -o FILE.toml` makes a fabric file of it"
    return f"is {kind.said}, no fabric file; {kind.instead or command}"
