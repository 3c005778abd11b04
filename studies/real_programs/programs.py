# SPDX-License-Identifier: LGPL-2.1-only
"""Real programs: how to run them, and how to verify their output."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from studies.real_programs import sources
from studies.real_programs.sources import CASE
from studies.study import ROOT
from weft.base import paths
from weft.base.errors import WeftError

FABRIC = ROOT / "fabrics" / "tofino-16.toml"
_PRESET = 'preset = "tofino"'
_WEFT = (sys.executable, "-m", "weft.cli.main")
# Settings of `weft run`, so that a run under plain smpirun is the same simulation, except that HPCC
# waits for clocks to advance.
_SETTINGS = ("smpi/simulate-computation:no", "smpi/coll-selector:ompi", "smpi/wtime:1e-8")
_TIMEOUT_S = 600
# Results for which HPCC has no check; they must equal the results under plain SMPI.
_HPCC_SAME = re.compile(r"(?:MPIRandomAccess(?:_LCG)?_Errors|PTRANS_residual)=.*")
_HPCC_FAILED = re.compile(r" *([0-9]+) tests completed and failed residual checks[.,]")


@dataclass(frozen=True)
class Program:
    """Program with its arguments."""

    name: str
    compiled: Callable[[], Path]
    ranks: int
    arguments: tuple[str, ...] = ()
    status: int = 0
    """Exit status on success."""

    @property
    def part(self) -> str:
        """Unique part of file names."""
        return f"{self.name}-{self.ranks}".replace(" ", "-")


@dataclass(frozen=True)
class Finished:
    """Finished run, with the program's verdict on its results."""

    status: int
    output: str
    findings: tuple[str, ...]
    record: dict[str, Any] = field(default_factory=dict)
    """weft's record, if it ran under weft."""

    @property
    def verified(self) -> bool:
        """True if the program's own checks passed."""
        return bool(self.findings) and not any("fail" in finding for finding in self.findings)


def nas(name: str, size: str, ranks: int, *more: str) -> Program:
    """Return a NAS program of a class; NAS DT always exits with status 1."""
    return Program(
        name=" ".join((f"NAS {name.upper()}", size, *more)),
        compiled=lambda: sources.nas(name, by_weft=False),
        ranks=ranks,
        arguments=(str(ranks), size, *more),
        status=1 if name == "dt" else 0,
    )


def own(name: str, source: Path, ranks: int, *arguments: str) -> Program:
    """Return a program that is part of weft and exits with an error if its results are wrong."""
    return Program(
        name=" ".join((name, *arguments)),
        compiled=partial(sources.own, source),
        ranks=ranks,
        arguments=arguments,
    )


def example(name: str, ranks: int, *arguments: str) -> Program:
    """Return a program of examples/."""
    return own(name, ROOT / "examples" / f"{name}.c", ranks, *arguments)


SMALL = (
    nas("ep", "S", 16),
    nas("is", "S", 16),
    nas("dt", "S", 16, "BH"),
    nas("dt", "S", 16, "WH"),
    nas("dt", "S", 16, "SH"),
    Program("HPCC", sources.hpcc, 4),
)
LARGE = (
    nas("ep", "W", 64),
    nas("is", "A", 64),
    nas("dt", "W", 32, "SH"),
    Program("HPCC", sources.hpcc, 16),
)


def fabric_with(preset: str, directory: Path) -> Path:
    """Return the 16 hosts of FABRIC on a switch with this preset."""
    target = directory / f"{preset}.toml"
    text = FABRIC.read_text(encoding="utf-8")
    if text.count(_PRESET) != 1:
        raise WeftError(f"studies: {FABRIC} has no `{_PRESET}` to put another in the place of")
    target.write_text(text.replace(_PRESET, f'preset = "{preset}"'), encoding="utf-8")
    return target


def run_weft(program: Program, fabric: Path, directory: Path, *options: str) -> Finished:
    """Run a program under `weft run`."""
    record = directory / "record.json"
    record.unlink(missing_ok=True)
    command = [
        *(*_WEFT, "run", "--quiet", "--fabric", str(fabric), "-n", str(program.ranks)),
        *("--json", str(record), *options, "--"),
    ]
    finished = _run(program, command, directory)
    found = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    return replace(finished, record=found)


def run_stock(program: Program, platform: Path, directory: Path) -> Finished:
    """Run a program under plain SMPI."""
    command = [
        *(f"{paths.simgrid_prefix()}/bin/smpirun", "-platform", str(platform)),
        *("-np", str(program.ranks), "--log=root.thres:warning"),
        *(f"--cfg={setting}" for setting in _SETTINGS),
    ]
    return _run(program, command, directory)


def _run(program: Program, command: list[str], directory: Path) -> Finished:
    shutil.copy(CASE / "hpccinf.txt", directory)
    (directory / "hpccoutf.txt").unlink(missing_ok=True)
    ended = subprocess.run(
        [*command, str(program.compiled()), *program.arguments],
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=_TIMEOUT_S,
        check=False,
        cwd=directory,
    )
    findings = _findings(program, ended.stdout, directory)
    return Finished(ended.returncode, ended.stdout + ended.stderr, tuple(findings))


def _findings(program: Program, stdout: str, directory: Path) -> list[str]:
    if not program.name.startswith("HPCC"):
        found = re.search(r"Verification +=\s+(\w+)", stdout)
        return [] if found is None else ["passed" if found[1] == "SUCCESSFUL" else "failed"]
    lines = (directory / "hpccoutf.txt").read_text(encoding="utf-8").splitlines()
    failures = [found[1] for found in map(_HPCC_FAILED.fullmatch, lines) if found]
    checks = ["passed" if number == "0" else f"{number} failed" for number in failures]
    same = [line for line in lines if _HPCC_SAME.fullmatch(line)]
    return [*checks, *same] if "End of HPC Challenge tests." in lines else ["failed: no end"]
