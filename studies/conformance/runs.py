# SPDX-License-Identifier: LGPL-2.1-only
"""Runs a test program under plain SimGrid or under `weft run`, and judges the result.

Both simulate the same network with the same ranks on the same hosts: weft the fabric in this
directory, and SimGrid the export of this fabric by `weft fabric export`, without libweft.so.
"""

import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from studies.conformance.suite import Test, Under
from weft import _core
from weft.base.process import run_child, work_directory
from weft.fabric.export import export
from weft.runs.simgrid import SimGrid
from weft.runs.site import FabricSite, choose_ppn

FABRIC = Path(__file__).with_name("fabric.toml")
# Settings that `runtests` passes to smpirun. The host speed makes time advance while a program
# polls.
_HOST_SPEED = "1Gf"
_SETTINGS = (
    "smpi/async-small-thresh:65536",
    "smpi/os:1:0.0000003:0.0000002",
    "smpi/ois:1:0.0000003:0.0000002",
)
# Settings that `weft run` uses.
_STOCK_SETTINGS = (
    *("smpi/privatization:dlopen", "precision/timing:1e-9", f"smpi/host-speed:{_HOST_SPEED}"),
)
# Lines that the program did not print: SimGrid's warnings, which `runtests` silences and `weft run`
# prefixes, and weft's warnings about programs that request a higher thread level than it provides.
_OTHERS = ("simgrid: ", "weft: MPI_Init_thread: the program requests ")
# Grace period for weft to end its child before weft itself is killed.
_GRACE_S = 10.0
# Omitted by ElementTree.
_DOCTYPE = '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
# Output that `runtests` accepts as a pass.
_PASSED = re.compile(r"\s*(No [Ee]rrors|Test Passed)\s*")
_NO_ERRORS = re.compile(r"\s*No [Ee]rrors\s*")


_WAYS = {
    Under.WEFT: ("--offload", "stream"),
    Under.HOSTS: ("--offload", "off"),
    Under.MPICH: ("--offload", "off", "--fallback", "mpich-4"),
}


@dataclass(frozen=True)
class Outcome:
    """Exit status and output of a test."""

    passed: bool
    status: int | None
    """None after a timeout."""
    output: str


@dataclass(frozen=True)
class Runner:
    """Runs programs on the fabric."""

    simgrid: SimGrid
    fabric: _core.Fabric
    platform: Path
    """The fabric for SimGrid, with a disk that all hosts mount."""

    def run(self, test: Test, program: Path, under: Under) -> Outcome:
        """Run a test in a separate directory."""
        with work_directory() as work:
            command = self._stock(test, work) if under is Under.STOCK else self._weft(test, under)
            environment = [f"{name}={setting}" for name, setting in test.environment]
            prefix = ["env", *environment] if environment else []
            return _run([*prefix, *command, str(program), *test.arguments], work, test)

    def _stock(self, test: Test, work: Path) -> list[str]:
        hosts = work / "hosts"
        ppn = choose_ppn(self.fabric, test.ranks, None)
        FabricSite(self.fabric, test.ranks, ppn).place(hosts)
        settings = (*_STOCK_SETTINGS, *_SETTINGS)
        return [
            str(self.simgrid.prefix / "bin" / "smpirun"),
            *("-platform", str(self.platform), "-hostfile", str(hosts), "-np", str(test.ranks)),
            *("--log=root.thres:critical", *(f"--cfg={setting}" for setting in settings)),
        ]

    def _weft(self, test: Test, under: Under) -> list[str]:
        return [
            *(sys.executable, "-m", "weft.cli.main", "run", "--quiet", *_WAYS[under]),
            *("--fabric", str(FABRIC), "-n", str(test.ranks), "--host-speed", _HOST_SPEED),
            *("--timeout", str(test.time_limit_s)),
            *(part for setting in _SETTINGS for part in ("--cfg", setting)),
            "--",
        ]


def make_runner(directory: Path) -> Runner:
    """Load the fabric, and export it for SimGrid into a directory."""
    fabric = _core.load_fabric(str(FABRIC))
    platform = directory / "conformance.xml"
    export(fabric, platform)
    _add_disk(platform)
    return Runner(SimGrid(), fabric, platform)


def _add_disk(platform: Path) -> None:
    """Give the first host a disk that all other hosts mount, as in hosts_with_disks.xml."""
    root = ElementTree.parse(platform).getroot()
    first, *others = root.iter("host")
    disk = ElementTree.SubElement(first, "disk", id="disk", read_bw="100MBps", write_bw="40MBps")
    ElementTree.SubElement(disk, "prop", id="size", value="500GiB")
    ElementTree.SubElement(disk, "prop", id="mount", value="/scratch")
    for host in others:
        place = f"/scratch:disk:{first.attrib['id']}"
        ElementTree.SubElement(host, "prop", id="remote_disk", value=place)
    platform.write_text(_DOCTYPE + ElementTree.tostring(root, encoding="unicode"), encoding="utf-8")


def _run(command: Sequence[str], work: Path, test: Test) -> Outcome:
    """Run a command until it ends or times out; return its output as one text."""
    lines: list[str] = []
    ended = run_child(
        ["bash", "-c", 'cd "$0" && exec "$@" 2>&1', str(work), *command],
        os.environ,
        timeout_s=test.time_limit_s + _GRACE_S,
        on_line=lines.append,
    )
    status = None if ended.timed_out else ended.returncode
    return Outcome(_passed(test, status, lines), status, "\n".join(lines))


def _passed(test: Test, status: int | None, lines: Sequence[str]) -> bool:
    """Return true if the test's criterion is met; by default, a clean exit and only a pass line."""
    if test.must_fail:
        return status not in (None, 0)
    own = [line for line in lines if not line.startswith(_OTHERS)]
    return status == 0 and all(map(_PASSED.fullmatch, own)) and any(map(_NO_ERRORS.fullmatch, own))
