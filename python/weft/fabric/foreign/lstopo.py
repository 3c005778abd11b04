# SPDX-License-Identifier: LGPL-2.1-only
"""Reader for the XML of hwloc's lstopo: sockets, memory domains, cores and caches of one host.

Objects are nested: `Machine`, `Package` (`Socket` before hwloc 1.11), `L3Cache` (`Cache` with a
depth before 2.0), `Core`, `PU`. Memory domains (`NUMANode`) contain cores before 2.0, and are
siblings of cores since. The file omits objects that the process may not use.
"""

import re
from dataclasses import dataclass
from xml.etree import ElementTree

_SOCKETS = ("Package", "Socket")
_INFO = "info"


@dataclass(frozen=True)
class HostInside:
    """Description of a host in a file."""

    cores: int
    sockets: int
    domains: int
    """Memory domains that contain cores."""
    processor: str
    """Empty if the file does not name it."""
    core_cache: float
    """Second-level cache of a core in bytes; 0 if not stated."""
    caches: float
    """Total size in bytes of the second- and third-level caches of a socket; 0 if not stated."""


def read(text: str) -> HostInside:
    """Parse a file. Raises `ValueError` with a clause."""
    if "<!ENTITY" in text:
        raise ValueError("it declares entities, which lstopo does not")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise ValueError(f"line {line}, column {column}: it is not valid XML") from None
    objects = list(root.iter("object"))
    cores = _cores(root)
    if root.tag != "topology" or not cores:
        raise ValueError("it has no cores")
    packages = [one for one in objects if one.get("type") in _SOCKETS and _cores(one)]
    sockets = max(len(packages), 1)
    if len({_cores(one) for one in packages}) > 1:
        raise ValueError(f"its {sockets} sockets have different numbers of cores, {cores} in all")
    second, third = _caches(objects, 2), _caches(objects, 3)
    inclusive = any(_stated(one, "Inclusive") == "1" for one in third)
    sizes = sum(map(_size, third)) + (0 if inclusive else sum(map(_size, second)))
    domains = {
        one.get("cpuset", "")
        for one in objects
        if one.get("type") == "NUMANode" and re.search(r"[1-9a-f]", one.get("cpuset", "")[2:])
    }
    named = next((said for one in objects if (said := _stated(one, "CPUModel"))), "")
    return HostInside(
        cores=cores,
        sockets=sockets,
        domains=max(len(domains), 1),
        processor=" ".join(named.split()),
        core_cache=sum(map(_size, second)) / cores,
        caches=sizes / sockets,
    )


def _cores(part: ElementTree.Element) -> int:
    """Return the number of cores, or of processing units if the file states no cores."""
    kinds = [one.get("type") for one in part.iter("object")]
    return kinds.count("Core") or kinds.count("PU")


def _caches(objects: list[ElementTree.Element], level: int) -> list[ElementTree.Element]:
    return [
        one
        for one in objects
        if one.get("type") == f"L{level}Cache"
        or (one.get("type") == "Cache" and one.get("depth") == str(level))
    ]


def _size(cache: ElementTree.Element) -> float:
    text = cache.get("cache_size", "")
    return float(text) if text.isdecimal() else 0.0


def _stated(element: ElementTree.Element, name: str) -> str:
    """Return a value from an element's own `info` children."""
    return next(
        (one.get("value", "") for one in element.findall(_INFO) if one.get("name") == name), ""
    )
