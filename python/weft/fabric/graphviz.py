# SPDX-License-Identifier: LGPL-2.1-only
"""Export of a fabric as an undirected Graphviz graph: a node per vertex, an edge per cable."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from weft.fabric.graph import Graph, counts

if TYPE_CHECKING:
    from weft._core import Fabric

_HOST = "shape=box, height=0.2, style=filled, fillcolor=lightgrey"
_SMART = "shape=diamond, style=filled, fillcolor=orange"
_PLAIN = "shape=ellipse, style=filled, fillcolor=white"


def render(fabric: "Fabric") -> Iterator[str]:
    """Yield the lines of the file."""
    graph = Graph(fabric)
    yield f"graph {_quoted(fabric.name)} {{"
    yield f"  label={_quoted(f'{fabric.name}: {counts(fabric)}')};"
    if graph.layered:
        yield "  rankdir=BT; ranksep=1;"
    else:
        yield "  layout=sfdp; overlap=prism;"
    yield from _nodes(graph)
    yield from _ranks(graph)
    yield from _edges(graph)
    yield "}"


def _nodes(graph: Graph) -> Iterator[str]:
    yield f"  node [{_HOST}];"
    for name in graph.hosts:
        yield f"  {_quoted(name)};"
    for switch in graph.switches:
        look = _SMART if switch["smart"] else _PLAIN
        yield f"  {_quoted(switch['name'])} [{look}, tooltip={_quoted(switch['preset'])}];"


def _ranks(graph: Graph) -> Iterator[str]:
    """Keep the vertices of each level in one row."""
    if not graph.layered:
        return
    for level in range(max(graph.levels) + 1):
        names = (graph.name(k) for k, found in enumerate(graph.levels) if found == level)
        yield f"  {{rank=same; {'; '.join(map(_quoted, names))}}}"


def _edges(graph: Graph) -> Iterator[str]:
    for cable in graph.cables:
        ends = f"{_quoted(graph.name(cable['lower']))} -- {_quoted(graph.name(cable['upper']))}"
        about = f"{cable['name']}: {cable['bandwidth_Bps']:g} B/s, {cable['latency_s']:g} s"
        yield f"  {ends} [tooltip={_quoted(about)}];"


def _quoted(text: str) -> str:
    """Return a Graphviz string literal; JSON escapes quotes the same way, which suffices."""
    return json.dumps(text, ensure_ascii=False)
