# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for the topology files of containerlab (*.clab.yml).

`topology` contains `nodes`, whose `kind` is set by the node, its group or the default, and `links`,
whose `endpoints` are `node:interface`, or mappings with a `node`. Nodes of the kind `linux` and
Kubernetes clusters are hosts, except containers of routing software; all other kinds are switches.
In a lab without hosts, each switch gets a host. Links end at nodes, or at the machine that runs the
lab (`host`, `mgmt-net`, `macvlan` and the like).
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from weft.base.units import plural
from weft.fabric.foreign.topology import ForeignCable, ForeignTopology, unique, with_hosts
from weft.runs.jobs import simple_yaml

# Relevant keys by depth; other keys contain multi-line texts, templates and the like.
_WANTED = (
    re.compile(r"topology(?:/(?:defaults|groups|kinds|nodes|links))?"),
    re.compile(r"topology/defaults/(?:kind|image|group)"),
    re.compile(r"topology/(?:groups|kinds|nodes)/[^/]+(?:/(?:kind|image|group))?"),
    re.compile(r"topology/links/.*"),
)
_LINE = re.compile(r"( *)(- +)?(?:(\"[^\"]*\"|'[^']*'|[^\s\"'#:\[{][^:#]*?)\s*:(?=\s|$))?")
_HOSTS = ("linux", "ext-container", "k8s-kind")
_ROUTING = re.compile(r"frr|quagga|bird|gobgp|sonic|openvswitch|\bovs\b|vyos|exabgp|bmv2|router")
_OUTSIDE = ("host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "dummy")


def read(text: str) -> ForeignTopology:
    """Return the hosts, switches and cables. Raises `ValueError` with a clause."""
    found = simple_yaml.parse("\n".join(_wanted(text)))
    topology = _mapping(_mapping(found, "it").get("topology"), "topology")
    nodes = _mapping(topology.get("nodes"), "topology.nodes")
    names = unique((key, key) for key in nodes)
    hosts = [key for key in nodes if _is_host(key, topology)]
    cables = []
    outside = 0
    links = topology.get("links")
    for link in links if isinstance(links, list) else []:
        ends = _ends(link)
        if len(ends) != 2 or any(end in _OUTSIDE and end not in nodes for end in ends):
            outside += 1
            continue
        for end in ends:
            if end not in nodes:
                raise ValueError(f"a link names {end}, which is not among the nodes")
        if ends[0] != ends[1]:
            cables.append(ForeignCable(names[ends[0]], names[ends[1]]))
    left_out = f"{plural(outside, 'link')} to the machine that runs the lab left out"
    notes = [left_out] if outside else []
    if not hosts:
        return with_hosts(list(names.values()), cables, notes)
    notes.append("nodes of the kind linux without routing software are hosts")
    switches = [names[key] for key in nodes if key not in hosts]
    return ForeignTopology([names[key] for key in hosts], switches, cables, notes)


def _wanted(text: str) -> Iterator[str]:
    """Yield the lines of relevant keys; other lines become empty, which preserves line numbers."""
    above: list[tuple[int, str]] = []
    for line in text.splitlines():
        match = _LINE.match(line)
        assert match is not None
        indent = len(match[1])
        if not line.strip() or line.lstrip().startswith("#"):
            yield ""
            continue
        # List items may have the same indentation as their key.
        while above and (above[-1][0] > indent or (above[-1][0] == indent and not match[2])):
            above.pop()
        key = (match[3] or "").strip("\"'")
        path = "/".join([*(name for _, name in above), *([key] if key else [])])
        if match[2]:
            path += "/-"
        elif key:
            above.append((indent, key))
        yield line if any(one.fullmatch(path) for one in _WANTED) else ""


def _mapping(found: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(found, dict):
        raise ValueError(f"{name} has no keys")
    return found


def _is_host(name: str, topology: Mapping[str, Any]) -> bool:
    node = topology["nodes"][name]
    if isinstance(node, str):
        raise ValueError(f"the node {name} is '{node[:30]}'; write its kind on a line of its own")
    node, defaults = node or {}, topology.get("defaults") or {}
    group = (topology.get("groups") or {}).get(node.get("group", defaults.get("group"))) or {}
    kind = _first("kind", node, group, defaults)
    if not kind:
        raise ValueError(f"the node {name} has no kind, and neither its group nor defaults do")
    own = (topology.get("kinds") or {}).get(kind) or {}
    image = _first("image", node, group, own, defaults)
    return kind in _HOSTS and _ROUTING.search(image.lower()) is None


def _first(key: str, *levels: Mapping[str, Any]) -> str:
    return next((str(one[key]) for one in levels if one.get(key)), "")


def _ends(link: Any) -> list[str]:
    """Return the nodes of a link: one node if the other end is the machine that runs the lab."""
    if not isinstance(link, dict):
        raise ValueError("a link is no mapping with endpoints")
    ends = link.get("endpoints") or ([link["endpoint"]] if "endpoint" in link else None)
    if not isinstance(ends, list):
        raise ValueError("a link has no endpoints")
    return [str(end.get("node") if isinstance(end, dict) else end).split(":")[0] for end in ends]
