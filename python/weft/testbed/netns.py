# SPDX-License-Identifier: LGPL-2.1-only
"""A plan as a small real testbed on Linux: namespaces, veth pairs, bridges and redirects.

Cables are veth pairs, made inside the namespaces, so that all of a testbed goes with its
namespaces, whatever happened; `down` finds them by their names alone. A virtual wire is a redirect
of all frames that come in (tc), a switch a bridge without spanning tree, learning or flooding,
whose forwarding entries are those of the emitted tables; broadcasts leave by the ports of the
plan's tree. A recirculated cable is a veth pair between two bridges.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from weft.base.errors import WeftError, named
from weft.testbed import tables
from weft.testbed.inventory import Port
from weft.testbed.layout import Layout
from weft.testbed.plan import Experiment, Plan

_RUN = Path("/run/netns")
_TOOLS = ("ip", "bridge", "tc")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,19}")
# Either takes all frames; kernels have the one or the other.
_CLASSIFIERS = ("matchall", "u32 match u32 0 0")
_PATIENCE_S = 1.0
_TIMEOUT_S = 60


def check_name(name: str) -> None:
    """Prove that a testbed can be called so."""
    if not _NAME.fullmatch(name):
        raise WeftError(
            f"{named('name')}:"
            f" found '{name}'; allowed are up to 20 lower-case letters, digits and '-'"
        )


def namespace(name: str, device: str) -> str:
    """Return the namespace of a device."""
    return f"weft-{name}.{device}"


def there(name: str) -> list[str]:
    """Return the namespaces of a testbed, up or left over."""
    if not _RUN.is_dir():
        return []
    return sorted(path.name for path in _RUN.iterdir() if path.name.startswith(f"weft-{name}."))


def missing() -> str | None:
    """Return what this machine lacks for a testbed, or nothing."""
    if os.geteuid() != 0:
        return "it needs root, to make network namespaces; run it with sudo"
    lacking = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if lacking:
        return f"there is no {' and no '.join(lacking)}; install iproute2"
    return _missing_in_kernel()


def _missing_in_kernel() -> str | None:
    """Try everything once, in a namespace that goes at once."""
    trial = f"weft-trial-{os.getpid()}"
    try:
        _ip(None, [f"netns add {trial}"])
        _ip(trial, ["link add name a type veth peer name b", "link add name c type bridge"])
        _classifier(trial)
    except WeftError as error:
        return f"this kernel, or what it allows here, does not do: {error}"
    finally:
        if (_RUN / trial).exists():
            _ip(None, [f"netns del {trial}"])
    return None


def _classifier(trial: str) -> str:
    """Return the first classifier that the kernel has for interface a of a namespace."""
    _tc(trial, ["qdisc add dev a ingress"])
    for kind in _CLASSIFIERS:
        try:
            _tc(trial, [_redirect("a", "b", kind)])
            return kind
        except WeftError as error:
            refused = error
    raise refused


def _redirect(one: str, other: str, classifier: str) -> str:
    return (
        f"filter add dev {one} parent ffff: protocol all {classifier}"
        f" action mirred egress redirect dev {other}"
    )


# ---- Up ------------------------------------------------------------------------------------------


def up(plan: Plan, name: str) -> None:
    """Build a plan; what fails is undone."""
    check_name(name)
    if reason := missing():
        raise WeftError(f"testbed up: {reason}")
    if there(name):
        raise WeftError(
            f"testbed up: '{name}' is there already ({len(there(name))} namespaces); take it down"
            f" first (`weft testbed down --name {name}`), or choose another {named('name')}"
        )
    try:
        _build(plan, name)
    except BaseException:
        down(name)
        raise


def _build(plan: Plan, name: str) -> None:
    layout = Layout(plan)
    spaces = {device: namespace(name, device) for device in layout.devices()}
    _ip(None, [f"netns add {space}" for space in spaces.values()])
    for space in spaces.values():
        _quiet(space)
    _ip(
        None,
        [
            f"link add name {one.name} netns {spaces[one.device]}"
            f" type veth peer name {other.name} netns {spaces[other.device]}"
            for one, other in layout.cables()
        ],
    )
    commands: dict[str, list[str]] = defaultdict(list)
    bridge: dict[str, list[str]] = defaultdict(list)
    for experiment in plan.experiments:
        _add_switches(layout, experiment, commands, bridge)
        _add_hosts(layout, experiment, commands)
    for one, other in layout.cables():
        commands[one.device].append(f"link set dev {one.name} up")
        commands[other.device].append(f"link set dev {other.name} up")
    # Forwarding is complete before any interface is up, and addresses are the last thing.
    for device, lines in commands.items():
        _ip(spaces[device], sorted(lines, key=_stage))
        _run(["bridge", "-n", spaces[device], "-batch", "-"], bridge[device])
    _wire(layout, spaces[layout.chassis])


def _stage(command: str) -> int:
    """Return when a command may come: devices are made, enslaved, up, addressed, routed."""
    kinds = ("link add", "link set .* master", "link set .* address", "link set", "address", "")
    return next(k for k, kind in enumerate(kinds) if re.match(kind, command))


def _quiet(space: str) -> None:
    """Let nothing be sent that nobody has asked for, and replies take any way."""
    settings = {"ipv6/conf/all/disable_ipv6": 1, "ipv6/conf/default/disable_ipv6": 1}
    settings |= {"ipv4/conf/all/rp_filter": 0, "ipv4/conf/default/rp_filter": 0}
    script = "; ".join(
        f"test ! -e /proc/sys/net/{key} || echo {value} > /proc/sys/net/{key}"
        for key, value in settings.items()
    )
    _run(["ip", "netns", "exec", space, "sh", "-c", script])


def _add_switches(
    layout: Layout,
    experiment: Experiment,
    commands: dict[str, list[str]],
    bridge: dict[str, list[str]],
) -> None:
    tree = tables.broadcast_tree(experiment)
    for switch, place in experiment.switches.items():
        device, slice_name = layout.bridge(place).device, layout.bridge(place).name
        commands[device] += [
            f"link add name {slice_name} type bridge stp_state 0 mcast_snooping 0",
            f"link set dev {slice_name} up",
        ]
        for cable in experiment.wanted.at[switch]:
            port = layout.interface(layout.plan.end(experiment, cable.name, switch)).name
            commands[device].append(f"link set dev {port} master {slice_name}")
            broadcasts = "on" if cable.name in tree[switch] else "off"
            bridge[device].append(
                f"link set dev {port} learning off flood off mcast_flood off"
                f" bcast_flood {broadcasts}"
            )
    for entry in sorted({*tables.forwards(layout.plan, experiment)}):
        end = str(entry.data[0])
        at = layout.interface(Port(entry.table.split(":")[0], end) if entry.external else int(end))
        address = entry.key[-1]
        bridge[at.device].append(f"fdb add {address} dev {at.name} master static")


def _add_hosts(layout: Layout, experiment: Experiment, commands: dict[str, list[str]]) -> None:
    wanted, plan = experiment.wanted, layout.plan
    for host, server in experiment.hosts.items():
        ports = [layout.interface(plan.end(experiment, one.name, host)) for one in wanted.at[host]]
        for cable, port in zip(wanted.at[host], ports, strict=True):
            address = tables.mac(plan, experiment, host, cable.name)
            commands[server].append(f"link set dev {port.name} address {address}")
        commands[server].append("link set dev lo up")
        # ARP finds who has one port; between others every way is set.
        alone = all(len(wanted.at[one]) == 1 for one in wanted.hosts)
        length = 16 if alone else 32
        commands[server].append(
            f"address add {layout.address(experiment, host)}/{length} dev {ports[0].name}"
        )
        if not alone:
            commands[server] += _ways(layout, experiment, host)


def _ways(layout: Layout, experiment: Experiment, host: str) -> Iterator[str]:
    """Yield by which port a host reaches each other one, and at which of its ports."""
    for (source, target), route in experiment.wanted.routes.items():
        if source == host:
            end = layout.plan.end(experiment, route.cables[0], host)
            port = layout.interface(end).name
            address = layout.address(experiment, target)
            lladdr = tables.mac(layout.plan, experiment, target, route.cables[-1])
            yield f"route add {address}/32 dev {port}"
            yield f"neighbour add {address} lladdr {lladdr} dev {port} nud permanent"


def _wire(layout: Layout, space: str) -> None:
    wires = [*layout.wires()]
    if not wires:
        return
    pairs = [
        pair for one, other in wires for pair in ((one.name, other.name), (other.name, one.name))
    ]
    _tc(space, [f"qdisc add dev {one} ingress" for one, _ in pairs])
    for kind in _CLASSIFIERS:
        try:
            _tc(space, [_redirect(*pairs[0], kind)])
        except WeftError as error:
            refused = error
            continue
        _tc(space, [_redirect(one, other, kind) for one, other in pairs[1:]])
        return
    raise refused


# ---- Down ----------------------------------------------------------------------------------------


def down(name: str) -> int:
    """Remove a testbed, or what is left of one, with the processes in it; return how much."""
    check_name(name)
    spaces = there(name)
    if not spaces:
        return 0
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise WeftError("testbed down: it needs root and iproute2, as `up` does")
    _end_processes(spaces)
    _ip(None, [f"netns del {space}" for space in spaces])
    return len(spaces)


def _end_processes(spaces: Sequence[str]) -> None:
    """End what runs in namespaces, which would outlive them."""
    deadline = time.monotonic() + _PATIENCE_S
    signum = signal.SIGTERM
    while pids := [pid for space in spaces for pid in _processes(space)]:
        for pid in pids:
            try:
                os.kill(pid, signum)
            except ProcessLookupError:
                continue
        time.sleep(0.02)
        if time.monotonic() > deadline:
            if signum == signal.SIGKILL:
                return
            signum, deadline = signal.SIGKILL, time.monotonic() + _PATIENCE_S


def _processes(space: str) -> list[int]:
    return [int(pid) for pid in _run(["ip", "netns", "pids", space]).split()]


# ---- Commands ------------------------------------------------------------------------------------


def _ip(space: str | None, lines: Sequence[str]) -> None:
    _run(["ip", *(["-n", space] if space else []), "-batch", "-"], lines)


def _tc(space: str, lines: Sequence[str]) -> None:
    _run(["tc", "-n", space, "-batch", "-"], lines)


def _run(command: Sequence[str], lines: Sequence[str] = ()) -> str:
    """Run a command with some input, and return what it prints."""
    try:
        result = subprocess.run(
            command,
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise WeftError(f"`{' '.join(command)}` has not ended in {_TIMEOUT_S} s") from None
    if result.returncode != 0:
        words = " ".join(line.strip() for line in result.stderr.splitlines() if line.strip())
        failed = re.search(r"Command failed -:(\d+)", words)
        said = lines[int(failed[1]) - 1] if failed else ""
        raise WeftError(f"`{' '.join([command[0], said] if said else command)}` failed: {words}")
    return result.stdout
