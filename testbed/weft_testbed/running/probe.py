# SPDX-License-Identifier: LGPL-2.1-only
"""Verification by probing that a running testbed matches its plan exactly.

Each NIC port sends a frame to the address of every other one, of all experiments, to an unused
address, and to the broadcast address. Frames are numbered, and every interface of the testbed is
watched, so each frame's path is known port by port. It must be exactly the planned path of weft's
route; without a route, the frame must end at the first switch.
"""

import ctypes
import os
import selectors
import socket
import struct
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from weft.base.errors import WeftError
from weft_testbed.plan.layout import Interface, Layout
from weft_testbed.plan.plan import Experiment, Plan
from weft_testbed.running import namespaces as netns
from weft_testbed.tables import tables

BROADCAST = "ff:ff:ff:ff:ff:ff"
# Locally administered, and above the addresses assigned for inventories without any.
NOBODY = "02:ff:ff:ff:ff:ff"
# IEEE 802's EtherType 1 for local experiments.
_ETHERTYPE = 0x88B5
_MARK = b"weft-probe"
_HEADER = struct.Struct("!6s6sH10sI")
_SMALLEST = 60
_ETH_P_ALL = 3
_OUTGOING = 4
_CLONE_NEWNET = 0x40000000
# Frames in flight, fewer than a socket buffer holds; silence after which none is expected.
_BATCH = 64
_QUIET_S = 0.05
_MOST_TRIES = 3


@dataclass(frozen=True)
class Probe:
    """Frame from a NIC port to an address."""

    experiment: int
    host: str
    source: Interface
    address: str


@dataclass
class ProbeFindings:
    """Results of the probes."""

    pairs: int = 0
    """Ordered pairs of hosts that reach each other over the planned switches."""
    stopped: int = 0
    """Frames that correctly ended at the first switch."""
    broadcasts: int = 0
    problems: list[str] = field(default_factory=list)


def check(plan: Plan, name: str) -> ProbeFindings:
    """Probe a running testbed."""
    netns.check_name(name)
    layout = Layout(plan)
    spaces = {device: netns.namespace(name, device) for device in layout.devices()}
    netns.check_up(name, plan, "check")
    with ExitStack() as stack:
        watch = _Watch(stack, spaces, layout)
        judge = _TraceChecker(plan, layout)
        probes = [*_probes(plan, layout)]
        traces = watch.send(probes)
        for _ in range(_MOST_TRIES - 1):
            # A busy machine may drop frames; misdelivered ones remain in the trace.
            lost = [probe for probe in probes if judge.lacks(probe, traces[probe])]
            for probe, trace in watch.send(lost).items():
                traces[probe] = trace | traces[probe]
        for probe in probes:
            judge.judge(probe, traces[probe])
    return judge.findings


def _probes(plan: Plan, layout: Layout) -> Iterator[Probe]:
    addresses = [
        tables.mac(plan, one, host, cable.name)
        for one in plan.experiments
        for host in one.hosts
        for cable in one.wanted.at[host]
    ]
    for number, one in enumerate(plan.experiments):
        for host in one.hosts:
            for cable in one.wanted.at[host]:
                source = layout.interface(plan.end(one, cable.name, host))
                own = tables.mac(plan, one, host, cable.name)
                for address in (*addresses, NOBODY, BROADCAST):
                    if address != own:
                        yield Probe(number, host, source, address)


class _Watch:
    """Sockets on all interfaces; each stays in the namespace where it was created."""

    def __init__(self, stack: ExitStack, spaces: dict[str, str], layout: Layout) -> None:
        self.selector = stack.enter_context(selectors.DefaultSelector())
        self.sockets: dict[Interface, socket.socket] = {}
        by_device: dict[str, list[Interface]] = defaultdict(list)
        for pair in layout.cables():
            for end in pair:
                by_device[end.device].append(end)
        home = os.open("/proc/self/ns/net", os.O_RDONLY)
        stack.callback(os.close, home)
        for device, interfaces in by_device.items():
            enter(Path("/run/netns") / spaces[device])
            try:
                for one in interfaces:
                    self._open(stack, one)
            finally:
                _set_namespace(home)

    def _open(self, stack: ExitStack, one: Interface) -> None:
        try:
            opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            stack.callback(opened.close)
            opened.bind((one.name, _ETH_P_ALL))
        except OSError as error:
            raise WeftError(
                f"testbed check: {one} cannot be watched: {error.strerror}; take the testbed down"
                " and up again"
            ) from None
        opened.setblocking(False)
        self.sockets[one] = opened
        self.selector.register(opened, selectors.EVENT_READ, one)

    def send(self, probes: Sequence[Probe]) -> dict[Probe, "Counter[Interface]"]:
        """Send the frames, and return the interfaces where each arrived."""
        traces: dict[Probe, Counter[Interface]] = {probe: Counter() for probe in probes}
        for first in range(0, len(probes), _BATCH):
            batch = range(first, min(first + _BATCH, len(probes)))
            for number in batch:
                probe = probes[number]
                self.sockets[probe.source].send(_frame(probe, number))
            for number, at in self._arrivals():
                if number in batch:
                    traces[probes[number]][at] += 1
        return traces

    def _arrivals(self) -> Iterator[tuple[int, Interface]]:
        while events := self.selector.select(_QUIET_S):
            for key, _ in events:
                yield from _read(self.sockets[key.data], key.data)


def _read(opened: socket.socket, at: Interface) -> Iterator[tuple[int, Interface]]:
    while True:
        try:
            content, (_, _, kind, *_) = opened.recvfrom(_SMALLEST)
        except BlockingIOError:
            return
        except OSError as error:
            raise WeftError(f"testbed check: {at} went away: {error.strerror}") from None
        if kind != _OUTGOING and len(content) >= _HEADER.size:
            *_, ethertype, mark, number = _HEADER.unpack_from(content)
            if ethertype == _ETHERTYPE and mark == _MARK:
                yield number, at


def _frame(probe: Probe, number: int) -> bytes:
    source = bytes.fromhex(NOBODY.replace(":", ""))
    address = bytes.fromhex(probe.address.replace(":", ""))
    return _HEADER.pack(address, source, _ETHERTYPE, _MARK, number).ljust(_SMALLEST, b"\0")


def enter(path: Path) -> None:
    """Move this thread into the network namespace of a file."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        _set_namespace(descriptor)
    finally:
        os.close(descriptor)


def _set_namespace(descriptor: int) -> None:
    """Move this thread into a network namespace (os.setns requires Python 3.12)."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, _CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise WeftError(f"testbed check: cannot enter a namespace: {os.strerror(number)}")


class _TraceChecker:
    """Compares traces with the plan."""

    def __init__(self, plan: Plan, layout: Layout) -> None:
        self.plan, self.layout = plan, layout
        self.findings = ProbeFindings()
        self.wanted = {
            probe: trace for one in plan.experiments for probe, trace in self._wanted(one)
        }
        self.own = [{*self._interfaces(one)} for one in plan.experiments]

    def _wanted(self, one: Experiment) -> Iterator[tuple[Probe, list[Interface]]]:
        """Yield the expected trace of each route, by probe."""
        number = self.plan.experiments.index(one)
        for (host, target), route in one.wanted.routes.items():
            source = self.layout.interface(self.plan.end(one, route.cables[0], host))
            address = tables.mac(self.plan, one, target, route.cables[-1])
            probe = Probe(number, host, source, address)
            yield probe, self.layout.trace(one, (host, target))

    def _interfaces(self, one: Experiment) -> Iterator[Interface]:
        for name, cable in one.wanted.cables.items():
            for node in (cable.lower, cable.upper):
                yield from self.layout.entered(one, name, node)

    def lacks(self, probe: Probe, trace: "Counter[Interface]") -> bool:
        """Return true if some interface has not seen an expected frame."""
        if probe.address == BROADCAST:
            return not self._hosts(probe) <= {at.device for at in trace}
        return not set(self.wanted.get(probe, ())) <= set(trace)

    def _hosts(self, probe: Probe) -> set[str]:
        """Return the servers that a broadcast must reach.

        On a direct cable between two hosts, this is the other host. A broadcast from a host's first
        port at a switch must reach all hosts with a port at a switch; one from a further port may
        reach any of them.
        """
        one = self.plan.experiments[probe.experiment]
        wanted = one.wanted
        for cable in wanted.at[probe.host]:
            other = cable.other(probe.host)
            first = self.layout.interface(self.plan.end(one, cable.name, probe.host))
            if other in one.hosts and probe.source == first:
                return {one.hosts[other]}
            if other in one.switches:
                here = {
                    server
                    for host, server in one.hosts.items()
                    if any(link.other(host) in one.switches for link in wanted.at[host])
                }
                return here - {one.hosts[probe.host]} if probe.source == first else set()
        return set()

    def judge(self, probe: Probe, trace: "Counter[Interface]") -> None:
        """Add a probe to the findings."""
        if probe.address == BROADCAST:
            self._judge_broadcast(probe, trace)
        elif probe in self.wanted:
            if Counter(self.wanted[probe]) == trace:
                self.findings.pairs += 1
            else:
                self._complain(probe, trace, self.wanted[probe])
        elif self._ends_at_once(probe, trace):
            self.findings.stopped += 1
        else:
            self._complain(probe, trace, [])

    def _judge_broadcast(self, probe: Probe, trace: "Counter[Interface]") -> None:
        one = self.plan.experiments[probe.experiment]
        reached = Counter({at.device: n for at, n in trace.items() if at.device in self._servers})
        del reached[one.hosts[probe.host]]
        once = all(times == 1 for times in reached.values())
        inside = self._hosts(probe) <= set(reached) and set(trace) <= self.own[probe.experiment]
        if once and inside:
            self.findings.broadcasts += 1
        else:
            self._complain(probe, trace, sorted(self.own[probe.experiment]))

    @property
    def _servers(self) -> set[str]:
        return {*self.plan.inventory.servers}

    def _ends_at_once(self, probe: Probe, trace: "Counter[Interface]") -> bool:
        """Return true if a frame without a route ended at its first switch.

        A host with several ports may send a frame onto routes of other hosts; the frame must not
        leave the experiment, nor reach an address other than its own.
        """
        one = self.plan.experiments[probe.experiment]
        ports = one.wanted.at[probe.host]
        for cable in ports:
            switch = cable.other(probe.host)
            first = self.layout.entered(one, cable.name, switch)
            if set(trace) <= set(first):
                return True
        reached = {at for at in trace if at.device in self._servers}
        return (
            len(ports) > 1
            and set(trace) <= self.own[probe.experiment]
            and all(self._address(at) == probe.address for at in reached)
        )

    def _address(self, at: Interface) -> str:
        return self.plan.inventory.servers[at.device].macs[at.name]

    def _complain(
        self, probe: Probe, trace: "Counter[Interface]", wanted: Sequence[Interface]
    ) -> None:
        name = self.plan.experiments[probe.experiment].name
        to = {BROADCAST: "all", NOBODY: "nobody"}.get(probe.address, probe.address)
        missed = [str(at) for at in wanted if at not in trace]
        strayed = [
            f"{at}{f' {times} times' if times > 1 else ''}"
            for at, times in sorted(trace.items())
            if at not in wanted or times > 1
        ]
        parts = [f"was not at {', '.join(missed[:6])}"] if missed else []
        parts += [f"was at {', '.join(strayed[:6])}"] if strayed else []
        self.findings.problems.append(
            f"{name}: a frame from {probe.host} ({probe.source}) to {to} {' and '.join(parts)}"
        )
