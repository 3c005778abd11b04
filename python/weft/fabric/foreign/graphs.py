# SPDX-License-Identifier: LGPL-2.1-only
"""Readers for graphs: GML and GraphML (Topology Zoo, fnss, networkx), and JSON (P4, Mininet).

An attribute such as `type` distinguishes hosts from switches; the JSON of P4 tutorials and Mininet
lists them separately. In a graph without the distinction, each node becomes a switch with a host.
Rates and latencies are used if the file states their unit: Topology Zoo's `LinkSpeedRaw` (bits/s),
`capacity` and `delay` with fnss's `capacity_unit` and `delay_unit`, texts such as `10Gbps`.
Bandwidths of Mininet and the P4 tutorials are in Mbit/s (mininet/link.py, TCIntf).
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree

from weft.base.units import plural
from weft.fabric.foreign.topology import (
    MOST_NODES,
    ForeignCable,
    ForeignTopology,
    bits_per_second,
    seconds,
    unique,
    with_hosts,
)

Attributes = Mapping[str, Any]
_TOKEN = re.compile(r'"([^"]*)"|(\[)|(\])|([^\s\[\]"]+)')
_ROLE_KEYS = ("type", "kind", "role", "node_type", "device_type", "device")
_HOST = re.compile(r"host|server|compute|hca|npu|gpu|client|endpoint", re.IGNORECASE)
_SWITCH = re.compile(r"switch|router|leaf|spine|tor\b|core|agg|edge|bridge", re.IGNORECASE)
_RATE_KEYS = ("capacity", "bandwidth", "speed", "rate", "bw", "LinkSpeed", "LinkLabel")
_DELAY_KEYS = ("delay", "latency", "lat")
_PORT = re.compile(r"-p\d+$")
_MEGA = 1e6


@dataclass
class Graph:
    """Nodes and edges with their attributes."""

    nodes: dict[str, Attributes] = field(default_factory=dict)
    edges: list[tuple[str, str, Attributes]] = field(default_factory=list)
    attributes: Attributes = field(default_factory=dict)
    directed: bool = False


def read_gml(text: str) -> ForeignTopology:
    """Parse a GML file. Raises `ValueError` with a clause."""
    pairs = dict(_gml(iter(_TOKEN.findall(text)), 0)).get("graph")
    if not isinstance(pairs, list):
        raise ValueError("it has no graph [ … ]")
    graph = Graph(attributes={key: value for key, value in pairs if not isinstance(value, list)})
    graph.directed = str(graph.attributes.get("directed", "0")) == "1"
    for key, value in pairs:
        if key not in ("node", "edge") or not isinstance(value, list):
            continue
        own = dict(value)
        if key == "node":
            graph.nodes[str(own.get("id"))] = own
        else:
            graph.edges.append((str(own.get("source")), str(own.get("target")), own))
    return _topology(graph)


def _gml(tokens: Iterator[tuple[str, ...]], depth: int) -> list[tuple[str, Any]]:
    """Return the key-value pairs of a list, up to its closing bracket."""
    if depth > 100:
        raise ValueError("it is nested too deeply")
    found: list[tuple[str, Any]] = []
    for quoted, opens, closes, word in tokens:
        if closes:
            return found
        if opens or not word:
            raise ValueError(f"found {opens or quoted!r} where a key is allowed")
        after = next(tokens, None)
        if after is None or after[2]:
            raise ValueError(f"{word} has no value")
        found.append((word, _gml(tokens, depth + 1) if after[1] else after[0] or after[3]))
    if depth:
        raise ValueError("a bracket is not closed: is the file cut off?")
    return found


def read_graphml(text: str) -> ForeignTopology:
    """Parse a GraphML file. Raises `ValueError` with a clause."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("it has a document type, which GraphML does not need")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise ValueError(f"line {line}, column {column}: it is not valid XML") from None
    for one in root.iter():
        one.tag = one.tag.rpartition("}")[2]
    names = {key.get("id", ""): key.get("attr.name", "") for key in root.iter("key")}
    found = root.find("graph")
    if found is None:
        raise ValueError("it has no <graph>")
    graph = Graph(directed=found.get("edgedefault") == "directed", attributes=_data(found, names))
    for node in found.iter("node"):
        graph.nodes[node.get("id", "")] = _data(node, names)
    for edge in found.iter("edge"):
        ends = (edge.get("source", ""), edge.get("target", ""))
        graph.edges.append((*ends, _data(edge, names)))
    return _topology(graph)


def _data(element: ElementTree.Element, names: Mapping[str, str]) -> dict[str, str]:
    return {
        names.get(one.get("key", ""), one.get("key", "")): (one.text or "").strip()
        for one in element.findall("data")
    }


def read_json(text: str) -> ForeignTopology:
    """Parse a JSON file. Raises `ValueError` with a clause."""
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"line {error.lineno}, column {error.colno}: it is not JSON") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if isinstance(found, dict) and isinstance(found.get("nodes"), list):
        return _topology(_node_link(found))
    if not isinstance(found, dict) or not isinstance(found.get("links"), list):
        raise ValueError("it has no links")
    return _listed(found)


def _node_link(found: Mapping[str, Any]) -> Graph:
    """Return the graph of networkx's node-link form."""
    graph = Graph(directed=found.get("directed") is True)
    for node in found["nodes"]:
        own = node if isinstance(node, dict) else {"id": node}
        graph.nodes[str(own.get("id", own.get("name")))] = own
    for link in found.get("links") or found.get("edges") or []:
        if not isinstance(link, dict):
            raise ValueError("a link is no object with `source` and `target`")
        graph.edges.append((str(link.get("source")), str(link.get("target")), link))
    return graph


def _listed(found: Mapping[str, Any]) -> ForeignTopology:
    """Return a topology whose file lists hosts and switches separately."""
    hosts = _names(found.get("hosts"))
    switches = _names(found.get("switches"))
    kinds = [*unique((one, one) for one in (*hosts, *switches)).items()]
    names = dict(kinds)
    cables = []
    for link in found["links"]:
        one, other, rate, delay = _link(link)
        for end in (one, other):
            if end not in names:
                raise ValueError(f"a link names {end}, which is neither a host nor a switch")
        if one != other:
            cables.append(ForeignCable(names[one], names[other], rate, delay))
    return ForeignTopology([names[one] for one in hosts], [names[one] for one in switches], cables)


def _names(found: Any) -> list[str]:
    """Return the names in a list or object; MiniEdit stores them in `opts` of each entry."""
    names = []
    for one in found if isinstance(found, list | dict) else []:
        opts = one.get("opts") if isinstance(one, dict) else None
        name = opts.get("hostname") if isinstance(opts, dict) else one
        names.append(str(one.get("name", name) if isinstance(one, dict) else name))
    return names


def _link(link: Any) -> tuple[str, str, float | None, float | None]:
    """Return both ends, rate and latency of a link: a list, or a Mininet object."""
    if isinstance(link, dict):
        keys = (("src", "dest"), ("source", "target"), ("node1", "node2"))
        ends = next(((link[a], link[b]) for a, b in keys if a in link and b in link), None)
        opts = link.get("opts") if isinstance(link.get("opts"), dict) else link
        assert isinstance(opts, dict)
        rest = (opts.get("delay", opts.get("latency")), opts.get("bw", opts.get("bandwidth")))
    else:
        ends = tuple(link[:2]) if isinstance(link, list) and len(link) > 1 else None
        rest = (*link[2:4], None, None)[:2] if ends else (None, None)
    if ends is None:
        raise ValueError(f"found the link {json.dumps(link)[:60]}; it names no two ends")
    one, other = (_PORT.sub("", str(end)) for end in ends)
    delay = seconds(str(rest[0])) if rest[0] is not None else None
    return one, other, _megabits(rest[1]), delay or None


def _megabits(value: Any) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value * _MEGA if value > 0 else None
    text = str(value or "").strip()
    return float(text) * _MEGA if re.fullmatch(r"\d+(\.\d+)?", text) else bits_per_second(text)


# ---- Graphs


def _topology(graph: Graph) -> ForeignTopology:
    if not graph.nodes or len(graph.nodes) > MOST_NODES:
        raise ValueError(f"it has {len(graph.nodes)} nodes; allowed are 1 to {MOST_NODES}")
    names = unique((key, _label(key, own)) for key, own in graph.nodes.items())
    roles = {key: _role(own) for key, own in graph.nodes.items()}
    cables, loops = _cables(graph, names)
    notes = [f"{plural(loops, 'edge')} from a node to itself left out"] if loops else []
    if "host" not in roles.values():
        # Topology Zoo's hyperedges are not nodes.
        bare = [names[key] for key, own in graph.nodes.items() if str(own.get("hyperedge")) == "1"]
        return with_hosts(list(names.values()), cables, notes, bare)
    hosts = [names[key] for key, role in roles.items() if role == "host"]
    switches = [names[key] for key, role in roles.items() if role != "host"]
    return ForeignTopology(hosts, switches, cables, notes)


def _cables(graph: Graph, names: Mapping[str, str]) -> tuple[list[ForeignCable], int]:
    """Return the cables, merging both directions of an edge, and the number of omitted loops."""
    cables: list[ForeignCable] = []
    loops = 0
    seen: set[tuple[str, str]] = set()
    for one, other, own in graph.edges:
        for end in (one, other):
            if end not in names:
                raise ValueError(f"an edge names node {end}, which does not exist")
        loops += one == other
        if one == other or (graph.directed and (other, one) in seen):
            continue
        seen.add((one, other))
        rate, delay = _rate(own, graph.attributes), _delay(own, graph.attributes)
        cables.append(ForeignCable(names[one], names[other], rate, delay))
    return cables, loops


def _label(key: str, own: Attributes) -> str:
    label = own.get("label", own.get("name", ""))
    return str(label).strip() or key


def _role(own: Attributes) -> str:
    said = " ".join(str(own[key]) for key in _ROLE_KEYS if key in own)
    if _SWITCH.search(said):
        return "switch"
    return "host" if _HOST.search(said) else ""


def _rate(own: Attributes, graph: Attributes) -> float | None:
    raw = own.get("LinkSpeedRaw")
    if raw not in (None, ""):
        return bits_per_second(f"{raw}bps") or None
    units = (own.get("LinkSpeedUnits"), graph.get("capacity_unit"))
    return next(_with_unit(own, _RATE_KEYS, units, bits_per_second, "bps"), None)


def _delay(own: Attributes, graph: Attributes) -> float | None:
    return next(_with_unit(own, _DELAY_KEYS, (graph.get("delay_unit"),), seconds, ""), None)


def _with_unit(
    own: Attributes, keys: Sequence[str], units: Sequence[Any], read: Any, suffix: str
) -> Iterator[float]:
    """Yield the values of these attributes, in their own unit or the graph's."""
    for key in keys:
        text = str(own.get(key, "")).strip()
        for unit in ("", *(str(one) for one in units if one)):
            for end in ("", suffix) if unit else ("",):
                value = read(f"{text}{unit}{end}") if text else None
                if value:
                    yield value
