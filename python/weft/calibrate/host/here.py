# SPDX-License-Identifier: LGPL-2.1-only
"""Measures the [host] table of the machine that weft runs on, with weft's own small benchmark.

`weft-host-rates` (src/host_rates) combines and copies vectors on one core, copies on all cores of a
socket at once, and sends messages between two processes through shared memory. The time per byte is
measured for three working sets: one fits a core's own caches, one the host's shared cache, and one
fits neither. Their differences are the costs that the model adds per level
(fabric/fabric_tables.hpp). Other processes only ever slow repetitions down, so the fastest
repetition is used if the median is far above it.
"""

import os
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from weft import _core
from weft.base import paths
from weft.base.errors import WeftError, named
from weft.base.machine import Machine
from weft.base.output import whole_file
from weft.base.process import Streams, run_child
from weft.base.units import format_size, parse_size, plural
from weft.calibrate.host import cpu
from weft.calibrate.point_to_point import fabric_file
from weft.fabric.toml_file import SourcedValue, in_toml, with_values

TYPES = ("int32", "int64", "float", "double", "int8")
"""Types whose sums are measured; other MPI types take as long per byte as int32."""
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_NODES = Path("/sys/devices/system/node")
_BUSY = 1.25
"""Ratio of median to fastest repetition above which the fastest repetition is used."""
_LONGEST_S = 120.0
_SPEEDS = 3
# Upper bound of a shared-memory message's time; beyond it a process was waiting for a core.
_SWITCHED_S, _LONG_SWITCHED_S = 2e-5, 2e-4
_BUSY_CORES = "other processes always used the cores; measure on an idle machine"
_FEW = 3
"""Repetitions with buffers that exceed every cache: each takes a second."""
_SMALL, _SHORT, _LONG = 64, 8 << 10, 64 << 10
_LEAST = 4 << 10
"""Smallest allowed core cache: an eighth of it still contains several lines."""
# Total size of both buffers as a share of a core's caches, around the point where they overflow.
_SWEEP = (0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0)
# A reduction uses three buffers, one of them internal to the library; the model counts the rank's
# two buffers.
_OWN_SHARE = 2 / 3
# In the model no data stays cached beyond twice the cache size, hence half of it at 1.5 times.
_HALF_LEFT = 1.5


Run = Callable[[str, str, int, Sequence[int]], "Measured"]
"""Measures a quantity for a type and a vector size on the given CPUs (none: any)."""


@dataclass(frozen=True)
class Measured:
    """Repetitions of one measurement, in seconds."""

    what: str
    seconds: tuple[float, ...]

    @property
    def value(self) -> float:
        """Median, or the fastest repetition on a busy machine."""
        median, least = statistics.median(self.seconds), min(self.seconds)
        return least if median > _BUSY * least else median

    def note(self, unit: float = 1e6, name: str = "us") -> str:
        """Return the measurement in words."""
        least, median, most = min(self.seconds), statistics.median(self.seconds), max(self.seconds)
        taken = "the fastest" if self.value == least != median else "the median"
        return (
            f"{self.what}: {median * unit:.4g} {name} median,"
            f" {least * unit:.4g} to {most * unit:.4g}, {taken} taken"
        )


@dataclass(frozen=True)
class Caches:
    """Cache sizes in bytes: of one core alone, and of the shared last level."""

    core: int
    shared: int


@dataclass(frozen=True)
class HostHere:
    """Measured keys of [host], each with a note."""

    values: Mapping[str, SourcedValue]
    rates: Mapping[tuple[str, str], float]
    """Rates of results in GB/s, by operation and type, and by cache level."""
    missing: tuple[str, ...]
    """Reasons for absent keys."""


def find_caches(folder: Path = _CACHES) -> Caches:
    """Return the data cache sizes of the first core, read from sysfs."""
    sizes: dict[int, int] = {}
    for index in sorted(folder.glob("index*")):
        kind, level, size = (_read(index / name) for name in ("type", "level", "size"))
        if kind in ("Data", "Unified") and level.isdigit() and size.endswith("K"):
            sizes[int(level)] = int(size[:-1]) << 10
    if len(sizes) < 2:
        raise WeftError(
            f"{folder}: found {len(sizes)} levels of data caches; a private one and a shared one"
            f" are needed; give their sizes with {named('caches')}, such as 1MiB,32MiB"
        )
    levels = sorted(sizes)
    return Caches(sizes[levels[-2]] if len(levels) > 2 else sizes[levels[0]], sizes[levels[-1]])


def find_sockets(folder: Path = _NODES) -> list[list[int]]:
    """Return the CPUs that this process may use, by socket or NUMA node."""
    allowed = os.sched_getaffinity(0)
    nodes = sorted(folder.glob("node[0-9]*"), key=lambda node: int(node.name[4:]))
    sockets = [
        [cpu for cpu in _cpus_of(_read(node / "cpulist")) if cpu in allowed] for node in nodes
    ]
    return [cpus for cpus in sockets if cpus] or [sorted(allowed)]


def _cpus_of(text: str) -> list[int]:
    """Parse a CPU list as Linux prints it, such as `0-3,8`."""
    found: list[int] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def parse_caches(text: str) -> Caches:
    """Parse cache sizes given by the user."""
    sizes = [parse_size(part, named("caches")) for part in text.split(",")]
    if len(sizes) != 2 or not _LEAST <= sizes[0] < sizes[1]:
        raise WeftError(
            f"{named('caches')}: found {text}; allowed are two rising sizes of"
            f" {format_size(_LEAST)} and more, a core's private cache and the shared one, such as"
            " 1MiB,32MiB"
        )
    return Caches(*sizes)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the model name of the processor."""
    for line in _read(cpuinfo).splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return "a processor without a name"


def measure(repetitions: int, caches: Caches) -> HostHere:
    """Measure this machine, which takes some seconds."""
    if (processors := len(os.sched_getaffinity(0))) < 2:
        raise WeftError(
            f"measuring this machine: this process may use {processors} processor (taskset, control"
            " groups); a message between two processes needs 2"
        )

    def run(what: str, of: str, size: int, cpus: Sequence[int] = ()) -> Measured:
        often = min(repetitions, _FEW) if size >= caches.shared else repetitions
        return _run(what, of, size, often, cpus)

    levels = {"core": caches.core // 8, "shared": min(4 * caches.core, caches.shared // 4)}
    missing: list[str] = []
    free, _ = Machine().memory()
    # Each buffer is as large as the shared cache, so neither is still cached when read again.
    if 2 * caches.shared * _HALF_LEFT < free:
        levels["memory"] = caches.shared
    else:
        missing.append(
            f"core_memory_rate: two buffers of {format_size(caches.shared)} do not fit into free"
            f" memory, {format_size(free)}"
        )
    sums = {level: run("sum", "int32", size, ()) for level, size in levels.items()}
    rates = {("sum int32", level): size / sums[level].value for level, size in levels.items()}
    for of in TYPES[1:]:
        for level in ("core", "shared"):
            rates[f"sum {of}", level] = levels[level] / run("sum", of, levels[level], ()).value
    for level, size in levels.items():
        rates["copy", level] = size / run("copy", "bytes", size, ()).value
    values = {
        **_rates(levels, sums),
        **_core_cache(
            caches, {share: run("sum", "int32", _set(caches, share), ()) for share in _SWEEP}
        ),
        "cache_size": SourcedValue(f"{caches.shared}B", "the last level of one processor"),
        **_messages(run, missing),
        **_sockets(run, caches, find_sockets(), "memory" in levels, missing),
    }
    return HostHere(values, {key: rate / 1e9 for key, rate in rates.items()}, tuple(missing))


def _set(caches: Caches, share: float) -> int:
    """Return the size of each of two buffers whose total is this share of a core's caches."""
    return int(caches.core * share / 2) // 64 * 64


def _run(what: str, of: str, size: int, repetitions: int, cpus: Sequence[int] = ()) -> Measured:
    program = str(paths.installed("weft-host-rates"))
    places = [",".join(map(str, cpus))] if cpus else []
    lines: list[str] = []
    ended = run_child(
        [program, what, of, str(size), str(repetitions), *places],
        os.environ,
        timeout_s=_LONGEST_S,
        on_line=lines.append,
        streams=Streams(stderr=subprocess.STDOUT),
    )
    if ended.returncode != 0 or len(lines) != repetitions:
        said = " ".join(lines).strip() or f"status {ended.returncode}"
        raise WeftError(f"measuring this machine: {what} of {format_size(size)}: {said}", 1)
    return Measured(f"{what} of {format_size(size)}", tuple(map(float, lines)))


def _rates(levels: Mapping[str, int], sums: Mapping[str, Measured]) -> dict[str, SourcedValue]:
    """Return a core's own rate, and the cost per byte that each level adds, as a rate."""
    seconds = {level: sums[level].value / size for level, size in levels.items()}
    values = {"reduction_rate": _rate(1 / seconds["core"], sums["core"])}
    for level, before, key in (
        ("shared", "core", "shared_cache_rate"),
        ("memory", "shared", "core_memory_rate"),
    ):
        if level in seconds and (more := seconds[level] - seconds[before]) > 0:
            values[key] = _rate(1 / more, sums[level])
    return values


def _rate(rate: float, seen: Measured) -> SourcedValue:
    return SourcedValue(f"{rate:.4g}Bps", seen.note())


def _core_cache(caches: Caches, sweep: Mapping[float, Measured]) -> dict[str, SourcedValue]:
    """Return the buffer size of a rank up to which its core works within its own caches."""
    a_byte = {share: seen.value / _set(caches, share) for share, seen in sweep.items()}
    fast = min(a_byte.values())
    slow = max(a_byte[share] for share in _SWEEP[-2:])
    half = (fast + slow) / 2
    for low, high in pairwise(_SWEEP):
        if a_byte[high] >= half > a_byte[low]:
            part = (half - a_byte[low]) / (a_byte[high] - a_byte[low])
            left = low + part * (high - low)
            size = int(caches.core * left / _HALF_LEFT * _OWN_SHARE)
            note = (
                f"sums take half as long again as they do at most with two buffers of"
                f" {format_size(int(caches.core * left))} together"
            )
            return {"core_cache_size": SourcedValue(f"{size}B", note)}
    return {
        "core_cache_size": SourcedValue(
            f"{int(caches.core * _OWN_SHARE)}B", "of sysfs: no step seen"
        )
    }


def _messages(run: Run, missing: list[str]) -> dict[str, SourcedValue]:
    """Return the cost of a two-copy message between two processes."""
    stream = run("stream", "bytes", _SMALL, ())
    small, short, long = (run("message", "bytes", size, ()) for size in (_SMALL, _SHORT, _LONG))
    overhead = min(min(stream.seconds), min(small.seconds) / 2)
    values = {"message_overhead": SourcedValue(f"{overhead:.4g}s", stream.note(1e9, "ns"))}
    if min(small.seconds) < _SWITCHED_S:
        latency = min(small.seconds) - 2 * overhead
        note = f"{small.note(1e9, 'ns')}, less both overheads"
        values["loopback_latency"] = SourcedValue(f"{latency:.4g}s", note)
    else:
        missing.append(f"loopback_latency: {_BUSY_CORES}")
    more = min(long.seconds) - min(short.seconds)
    if more > 0 and max(min(short.seconds), min(long.seconds)) < _LONG_SWITCHED_S:
        rate = 2 * (_LONG - _SHORT) / more
        values["copy_rate"] = SourcedValue(f"{rate:.4g}Bps", f"{long.note()}; two copies")
    else:
        missing.append(f"copy_rate: {_BUSY_CORES}")
    return values


def _sockets(
    run: Run, caches: Caches, sockets: Sequence[Sequence[int]], memory: bool, missing: list[str]
) -> dict[str, SourcedValue]:
    """Return the limits shared by the cores of a socket, and the extra cost between sockets."""
    values = {
        "sockets": SourcedValue(len(sockets), "NUMA nodes with CPUs that this process may use")
    }
    cpus = sockets[0]
    # Both buffers of all cores fit the shared cache, and each exceeds its core's caches.
    shared = caches.shared // (4 * len(cpus))
    if memory:
        values["memory_bandwidth"] = _together(run, caches.shared, cpus)
    else:
        missing.append("memory_bandwidth: too little free memory")
    if memory and shared >= caches.core:
        values["shared_cache_bandwidth"] = _together(run, shared, cpus)
    else:
        missing.append(
            f"shared_cache_bandwidth: a {plural(len(cpus), 'core')}'s share of the shared cache is"
            " no larger than its own caches"
        )
    return values | (_between(run, sockets, missing) if len(sockets) > 1 else {})


def _together(run: Run, size: int, cpus: Sequence[int]) -> SourcedValue:
    seen = run("together", "bytes", size, cpus)
    return _rate(size / seen.value, seen)


def _between(
    run: Run, sockets: Sequence[Sequence[int]], missing: list[str]
) -> dict[str, SourcedValue]:
    """Return the additional cost of a message to another socket."""
    if len(sockets[0]) < 2:
        missing.append("intersocket_latency, intersocket_rate: no two cores of one socket")
        return {}
    near, far = (sockets[0][0], sockets[0][1]), (sockets[0][0], sockets[1][0])
    times = {
        (cpus, size): run("message", "bytes", size, cpus)
        for cpus in (near, far)
        for size in (_SMALL, _SHORT, _LONG)
    }
    small = times[far, _SMALL]
    latency = min(small.seconds) - min(times[near, _SMALL].seconds)
    more = {
        cpus: min(times[cpus, _LONG].seconds) - min(times[cpus, _SHORT].seconds)
        for cpus in (near, far)
    }
    values = {}
    if latency > 0:
        note = f"{small.note(1e9, 'ns')} between sockets, less that within one"
        values["intersocket_latency"] = SourcedValue(f"{latency:.4g}s", note)
    if more[far] > more[near]:
        rate = (_LONG - _SHORT) / (more[far] - more[near])
        values["intersocket_rate"] = SourcedValue(f"{rate:.4g}Bps", times[far, _LONG].note())
    return values


def text_of(here: HostHere, head: str, cores: int, speed: str) -> str:
    """Return a stand-alone [host] table."""
    lines = [*head.splitlines(), "[host]", f"cores = {cores}", f'speed = "{speed}"']
    lines += [
        "# SimGrid's default (network/loopback-bw): a message that is copied once is not measured.",
        'loopback_bandwidth = "10GBps"',
    ]
    if "loopback_latency" not in here.values:
        lines += ["# A guess: see above.", 'loopback_latency = "0.35us"']
    for key, noted in here.values.items():
        lines += [f"# {noted.comment}", f"{key} = {in_toml(noted.value)}"]
    return "\n".join(lines) + "\n"


def head_of(here: HostHere, repetitions: int) -> str:
    """Return the comment that names the source of the values."""
    lines = [
        f"# Measured by `weft calibrate host --here` on {processor()},"
        f" {repetitions} repetitions each.",
        "# Results per second of a core, by cache level:",
    ]
    for what in dict.fromkeys(operation for operation, _ in here.rates):
        levels = [
            f"{rate:.3g} GB/s {level}" for (name, level), rate in here.rates.items() if name == what
        ]
        lines.append(f"#   {what}: {', '.join(levels)}")
    lines += [
        "# Other types of MPI: as int32 by the byte. Not measured: single_copy_threshold and",
        "# piece_overhead, the library's.",
        *(f"# Missing: {why}." for why in here.missing),
    ]
    return "\n".join(lines)


def write(here: HostHere, repetitions: int, base: str | None, target: Path) -> None:
    """Write a fabric with hosts like this machine, or a stand-alone [host] table."""
    head = head_of(here, repetitions)
    if base is not None:
        text = Path(_core.load_fabric(base).file).read_text(encoding="utf-8")
        fabric_file.write(f"{head}\n{with_values(text, 'host', here.values)}", target)
        return
    speed = cpu.measure(_SPEEDS).text
    with whole_file(named("output"), target) as file:
        file.write(text_of(here, head, len(os.sched_getaffinity(0)), speed))


def rows(here: HostHere) -> list[tuple[str, str, str]]:
    """Return key, value and measurement of each row, for a table."""
    return [(key, str(one.value), one.comment) for key, one in here.values.items()]


def remarks(here: HostHere) -> list[str]:
    """Return the range of rates over types, and the keys that were not measured."""
    level = "core"
    sums = {name: rate for (name, of), rate in here.rates.items() if of == level and name != "copy"}
    least, most = min(sums, key=sums.__getitem__), max(sums, key=sums.__getitem__)
    return [
        f"types, in a core's caches: {least} {sums[least]:.3g} GB/s, {most} {sums[most]:.3g} GB/s",
        *(f"missing: {why}" for why in here.missing),
    ]
