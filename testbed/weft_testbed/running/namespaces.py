# SPDX-License-Identifier: LGPL-2.1-only
"""A plan as a small real testbed on Linux: namespaces, veth pairs, and a controllable switch.

Cables are veth pairs created inside the namespaces, so that removing the namespaces removes the
whole testbed in any state; `down` finds them by name. The chassis is a namespace with a P4Runtime
server, which receives the same entries as a real switch and realises them as bridges and redirects
(`weft_testbed.running.bridges`). Layer 2 switches have one bridge, which is configured directly.

Only one command at a time builds, changes or removes a testbed of a given name. A change verifies
the current state: it is refused if that is not the expected plan, and rolled back if it fails.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from weft.base.errors import WeftError, named
from weft.base.paths import file_name
from weft_testbed.p4 import access
from weft_testbed.plan.layout import Interface, Layout
from weft_testbed.plan.plan import Experiment, Plan
from weft_testbed.running import bridges, hosts, linux
from weft_testbed.running import registry as running
from weft_testbed.running.diff import DRAIN_MS, Change
from weft_testbed.running.registry import SERVERS, address
from weft_testbed.tables import entry_numbers, tables
from weft_testbed.tables.tables import Entry

if TYPE_CHECKING:
    from weft_testbed.p4.client import Client

_RUN = Path("/run/netns")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,19}")
_SPACE = re.compile(rf"weft-({_NAME.pattern})\..+")
_PATIENCE_S = 1.0
_BUSY_S = 30.0


def check_name(name: str) -> None:
    """Check that this is a valid name for a testbed."""
    if not _NAME.fullmatch(name):
        raise WeftError(
            f"{named('name')}:"
            f" found '{name}'; allowed are up to 20 lower-case letters, digits and '-'"
        )


def namespace(name: str, device: str) -> str:
    """Return the namespace of a device."""
    return file_name("testbed", f"weft-{name}.{device}")


def there(name: str) -> list[str]:
    """Return the namespaces of a testbed, including leftovers."""
    if not _RUN.is_dir():
        return []
    return sorted(path.name for path in _RUN.iterdir() if path.name.startswith(f"weft-{name}."))


def names() -> list[str]:
    """Return the testbeds that have namespaces on this machine."""
    if not _RUN.is_dir():
        return []
    spaces = (_SPACE.fullmatch(path.name) for path in _RUN.iterdir())
    return sorted({found[1] for found in spaces if found})


def missing() -> str | None:
    """Return what this machine lacks for a testbed, or None."""
    if os.geteuid() != 0:
        return "creating network namespaces needs root; run it with sudo"
    lacking = [tool for tool in linux.TOOLS if shutil.which(tool) is None]
    if lacking:
        return f"there is no {' and no '.join(lacking)}; install iproute2"
    return _missing_in_kernel()


def _missing_in_kernel() -> str | None:
    """Try each kernel feature once, in a temporary namespace."""
    trial = f"weft-trial-{os.getpid()}"
    try:
        linux.ip(None, [f"netns add {trial}"])
        linux.ip(trial, ["link add name a type veth peer name b", "link add name c type bridge"])
        _classifier(trial)
    except WeftError as error:
        return f"this kernel does not support or allow: {error}"
    finally:
        if (_RUN / trial).exists():
            linux.ip(None, [f"netns del {trial}"])
    return None


def _classifier(trial: str) -> str:
    """Return the first classifier that the kernel supports, for interface a of a namespace."""
    linux.tc(trial, ["qdisc add dev a ingress"])
    for kind in bridges.CLASSIFIERS:
        try:
            linux.tc(trial, [bridges.redirect("a", "b", kind)])
            return kind
        except WeftError as error:
            refused = error
    raise refused


@contextmanager
def _alone(name: str, patience_s: float = 0.0) -> Iterator[None]:
    """Lock a testbed's name against concurrent building, changing and removal.

    The lock is an abstract socket name, without a file, and is released when its process ends.
    """
    deadline = time.monotonic() + patience_s
    with socket.socket(socket.AF_UNIX) as lock:
        while True:
            try:
                lock.bind(f"\0weft-testbed-{name}")
                break
            except OSError:
                if time.monotonic() >= deadline:
                    raise WeftError(
                        f"testbed: another weft is building, changing or removing '{name}'; wait"
                        f" for it, or choose another {named('name')}"
                    ) from None
                time.sleep(0.05)
        yield


# ---- Up ------------------------------------------------------------------------------------------


def up(
    plan: Plan,
    name: str,
    listen: str | None = None,
    *,
    tls: Path | None = None,
    insecure: bool = False,
) -> str:
    """Build a plan, and return a warning, or an empty text; a failure is rolled back.

    Its switch also listens at `listen`, for controllers with a certificate of `tls`.
    """
    check_name(name)
    if listen is None and (tls is not None or insecure):
        given = named("tls") if tls is not None else named("insecure")
        raise WeftError(f"{given}: requires {named('listen')}")
    warning = "" if listen is None else access.check_listen(listen, tls, insecure=insecure)
    if reason := missing():
        raise WeftError(f"testbed up: {reason}")
    with _alone(name):
        if there(name):
            raise WeftError(
                f"testbed up: '{name}' already exists ({len(there(name))} namespaces); remove it"
                f" first (`weft testbed down --name {name}`), or choose another"
                f" {named('name')}"
            )
        try:
            _build(plan, name, listen, tls)
        except BaseException:
            _remove(name)
            raise
    return warning


def _build(plan: Plan, name: str, listen: str | None, tls: Path | None) -> None:
    layout = Layout(plan)
    _make(name, layout.devices())
    _lay(name, [*layout.fixed()])
    _serve(name, layout.chassis, listen, tls)
    entries = tables.entries(plan)
    with _control(name) as switch:
        switch.fill(entries)
    _set_switches(plan, name, entries)
    for experiment in plan.experiments:
        _set_hosts(name, layout, experiment)
    running.record(name, plan, listen)


def _make(name: str, devices: Sequence[str]) -> None:
    """Create namespaces that send nothing unasked, and accept replies on any path."""
    linux.ip(None, [f"netns add {namespace(name, device)}" for device in devices])
    settings = {"ipv6/conf/all/disable_ipv6": 1, "ipv6/conf/default/disable_ipv6": 1}
    settings |= {"ipv4/conf/all/rp_filter": 0, "ipv4/conf/default/rp_filter": 0}
    script = "; ".join(
        f"test ! -e /proc/sys/net/{key} || echo {value} > /proc/sys/net/{key}"
        for key, value in settings.items()
    )
    for device in devices:
        linux.run(["ip", "netns", "exec", namespace(name, device), "sh", "-c", script])


def _lay(name: str, cables: Sequence[tuple[Interface, Interface]]) -> None:
    """Create cables with both ends up; the entries determine what happens to incoming frames."""
    linux.ip(
        None,
        [
            f"link add name {one.name} netns {namespace(name, one.device)}"
            f" type veth peer name {other.name} netns {namespace(name, other.device)}"
            for one, other in cables
        ],
    )
    ends: dict[str, list[str]] = {}
    for one in (end for pair in cables for end in pair):
        ends.setdefault(one.device, []).append(f"link set dev {one.name} up")
    for device, lines in ends.items():
        linux.ip(namespace(name, device), lines)


def _set_switches(plan: Plan, name: str, entries: Sequence[Entry]) -> None:
    """Apply entries to the existing layer 2 switches."""
    spaces = {*there(name)}
    for device in plan.inventory.switches:
        if (space := namespace(name, device)) in spaces:
            bridges.change(space, bridges.observed(space), bridges.of_switch(device, entries))


def _set_hosts(name: str, layout: Layout, experiment: Experiment) -> None:
    for device, lines in hosts.settings(layout, experiment).items():
        linux.ip(namespace(name, device), lines)


def _serve(name: str, chassis: str, listen: str | None, tls: Path | None) -> None:
    """Start the chassis' server, and wait until it listens."""
    place = SERVERS / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    addresses = [address(name)] + [str(one) for one in (listen, tls and tls.resolve()) if one]
    command = [sys.executable, "-m", "weft_testbed.running.p4_server", namespace(name, chassis)]
    with (place / "log").open("w") as log:
        server = subprocess.Popen(
            [*command, *addresses],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd="/",
            start_new_session=True,
        )
    assert server.stdout is not None
    try:
        said = server.stdout.readline().strip()
        if said != "ready":
            raise WeftError(f"testbed up: {said or _last(place / 'log')}")
    except BaseException:
        server.kill()
        server.wait()
        raise
    finally:
        server.stdout.close()
    server.returncode = 0  # detached: never reaped


def _last(log: Path) -> str:
    lines = log.read_text("utf-8", "replace").strip().splitlines()
    return f"the chassis' server exited immediately: {lines[-1] if lines else 'no output'}"


def _control(name: str) -> "Client":
    from weft_testbed.p4.client import Client, pipeline

    return Client(address(name), pipeline())


# ---- Changes -------------------------------------------------------------------------------------


def apply(old: Plan, change: Change, name: str) -> None:
    """Change a running testbed from one plan to another; common parts stay untouched."""
    check_name(name)
    if reason := missing():
        raise WeftError(f"testbed diff: {reason}")
    with _alone(name), ExitStack() as stack:
        switch = _unchanged(name, old, stack)
        work = _Work(name, switch, old, change.plan)
        try:
            work.do()
            running.record(name, change.plan)
        except BaseException as error:
            work.undo(error)
            raise


def _unchanged(name: str, old: Plan, stack: ExitStack) -> "Client":
    """Return the controller of a testbed, after verifying that it has exactly this plan."""
    check_up(name, old, "diff", "OLD")
    switch = stack.enter_context(_control(name))
    compared = entry_numbers.compare(old, switch.read())
    if not compared.equal:
        raise WeftError(
            f"testbed diff: the switch of '{name}' does not match the recorded plan:"
            f" {compared.said()}; another controller changed it, or a change was interrupted: run"
            f" `weft testbed down --name {name}`, then `weft testbed up`"
        )
    return switch


class _Work:
    """Change of a testbed from one plan to another; each step starts from the observed state."""

    def __init__(self, name: str, switch: "Client", old: Plan, new: Plan) -> None:
        self.name, self.switch, self.old, self.new = name, switch, old, new
        self.rebuilding = False

    def do(self) -> None:
        """Remove old entries, drain frames in flight, and add new entries."""
        first, last = self.switch.read(), tables.entries(self.new)
        left = {*last}
        stays = [entry for entry in first if entry in left]
        self.switch.change(first, stays, 0)
        outside = [entry for entry in tables.entries(self.old) if entry in left]
        _set_switches(self.old, self.name, outside)
        time.sleep(DRAIN_MS / 1000)
        self.rebuilding = True
        _rebuild(self.name, Layout(self.new), hosts.changed(self.old, self.new))
        self._fill(self.new, stays)

    def _fill(self, plan: Plan, stays: Sequence[Entry]) -> None:
        entries = tables.entries(plan)
        self.switch.change(stays, entries, 0)
        _set_switches(plan, self.name, entries)

    def undo(self, error: BaseException) -> None:
        """Restore the old plan after an error, which is raised along with any new failure."""
        try:
            left = {*tables.entries(self.old)}
            found = self.switch.read()
            stays = [entry for entry in found if entry in left]
            self.switch.change(found, stays, 0)
            if self.rebuilding:
                _rebuild(self.name, Layout(self.old), hosts.changed(self.new, self.old))
            self._fill(self.old, stays)
        except WeftError as second:
            raise WeftError(
                f"{str(error) or type(error).__name__}; and '{self.name}' could not be restored:"
                f" {second}; run `weft testbed down --name {self.name}`"
            ) from None


def _rebuild(name: str, layout: Layout, fresh: Sequence[Experiment]) -> None:
    """Match devices and cables to a plan, and configure the servers of its fresh experiments.

    Those servers lose their processes and addresses.
    """
    will, was = layout.devices(), [space.partition(".")[2] for space in there(name)]
    wanted, found = [*layout.fixed()], {one for device in was for one in _interfaces(name, device)}
    gone = [device for device in was if device not in will]
    _end_processes([namespace(name, device) for device in gone])
    # Cables are removed before namespaces, which destroy their ends asynchronously.
    for pair in layout.cabled():
        end = next((one for one in pair if one in found), None)
        if pair not in wanted and end is not None:
            linux.ip(namespace(name, end.device), [f"link del {end.name}"])
    linux.ip(None, [f"netns del {namespace(name, device)}" for device in gone])
    _make(name, [device for device in will if device not in was])
    _lay(name, [pair for pair in wanted if pair[0] not in found])
    for experiment in fresh:
        for server in experiment.hosts.values():
            ends = [end.name for pair in wanted for end in pair if end.device == server]
            _end_processes([namespace(name, server)])
            linux.ip(namespace(name, server), hosts.emptied(ends))
        _set_hosts(name, layout, experiment)


def _interfaces(name: str, device: str) -> set[Interface]:
    links = json.loads(linux.run(["ip", "-n", namespace(name, device), "-j", "link", "show"]))
    return {Interface(device, one["ifname"]) for one in links}


def check_up(name: str, plan: Plan, command: str, called: str = "PLAN") -> None:
    """Verify that the named testbed has a plan, by its record and its devices.

    The caller verifies the switch.
    """
    if os.geteuid() != 0:
        raise WeftError(f"testbed {command}: it needs root, as `up` does")
    found = {*there(name)}
    if found and running.is_recorded(name) and (said := running.difference(plan, name)):
        raise WeftError(
            f"testbed {command}: {called} does not match the running testbed '{name}': {said};"
            f" `weft testbed status --name {name} --plan FILE` writes the running plan"
            + (", from which a change without OLD starts" if called == "OLD" else "")
        )
    wanted = {namespace(name, device) for device in Layout(plan).devices()}
    if found != wanted:
        state = "is not up" if not found else "is not this plan, or only a part of it"
        raise WeftError(
            f"testbed {command}: '{name}' {state} ({len(found & wanted)} of {len(wanted)}"
            f" namespaces are there); run `weft testbed down --name {name}`, then `weft testbed up`"
        )


# ---- Down ----------------------------------------------------------------------------------------


def down(name: str) -> int:
    """Remove a testbed or its leftovers, and its processes; return the number of namespaces."""
    check_name(name)
    if not there(name) and not (SERVERS / name).exists():
        return 0
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise WeftError("testbed down: it needs root and iproute2, as `up` does")
    with _alone(name, _BUSY_S):
        _empty(name)
        return _remove(name)


def _empty(name: str) -> None:
    """Stop all forwarding, if the switch's server still listens."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(address(name).removeprefix("unix:"))
        except OSError:
            return
    try:
        with _control(name) as switch:
            switch.change(switch.read(), [], 0)
    except WeftError:
        return  # leftovers are removed all the same


def _remove(name: str) -> int:
    spaces = there(name)
    _end_processes(spaces)
    linux.ip(None, [f"netns del {space}" for space in spaces])
    shutil.rmtree(SERVERS / name, ignore_errors=True)
    return len(spaces)


def _end_processes(spaces: Sequence[str]) -> None:
    """Kill the processes in namespaces, which would outlive them otherwise."""
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
    return [int(pid) for pid in linux.run(["ip", "netns", "pids", space]).split()]
