"""The programs, how they are run, and how they say that their results are right."""

import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import simulated
from simulated import WEFT, Result

from real_programs import sources
from real_programs.sources import CASE, ROOT

FABRIC = ROOT / "fabrics" / "tofino-16.toml"
_PRESET = 'preset = "tofino"'
# HPCC has no check of its own for these; they must be those of SMPI alone.
_HPCC_SAME = re.compile(r"(?:MPIRandomAccess(?:_LCG)?_Errors|PTRANS_residual)=.*")
_HPCC_FAILED = re.compile(r" *([0-9]+) tests completed and failed residual checks[.,]")


@dataclass(frozen=True)
class Program:
    """A program with its arguments."""

    name: str
    compiled: Callable[[], Path]
    ranks: int
    arguments: tuple[str, ...] = ()
    status: int = 0
    """How it ends when all is well."""


@dataclass(frozen=True)
class Finished:
    """A run of it, with what it says of its results."""

    result: Result
    findings: tuple[str, ...]

    @property
    def verified(self) -> bool:
        """Whether its own checks passed."""
        return bool(self.findings) and not any("fail" in finding for finding in self.findings)


def nas(name: str, size: str, ranks: int, *more: str) -> Program:
    """Return a NAS program of a class; NAS DT ends with status 1 by itself."""
    return Program(
        name=" ".join((f"NAS {name.upper()}", size, *more)),
        compiled=lambda: sources.nas(name),
        ranks=ranks,
        arguments=(str(ranks), size, *more),
        status=1 if name == "dt" else 0,
    )


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
    """Return the 16 hosts of FABRIC around a switch of this preset."""
    target = directory / f"{preset}.toml"
    text = FABRIC.read_text(encoding="utf-8")
    assert text.count(_PRESET) == 1
    target.write_text(text.replace(_PRESET, f'preset = "{preset}"'), encoding="utf-8")
    return target


def run_weft(program: Program, fabric: Path, directory: Path, *options: str) -> Finished:
    """Run it under `weft run`."""
    record = directory / "record.json"
    command = [
        *(*WEFT, "run", "--quiet", "--fabric", str(fabric), "-n", str(program.ranks)),
        *("--json", str(record), *options, "--"),
    ]
    finished = _run(program, command, directory)
    ended = finished.result
    whole = Result(ended.status, ended.stdout, ended.stderr, simulated.read_record(record))
    return Finished(whole, finished.findings)


def run_stock(program: Program, platform: Path, directory: Path) -> Finished:
    """Run it under SMPI alone."""
    empty = Path(sys.executable)  # smpirun_command ends with the program
    # HPCC waits for clocks to move on.
    settings = ("smpi/wtime:1e-8",)
    command = simulated.smpirun_command(platform, empty, ranks=program.ranks, settings=settings)
    command.pop()
    return _run(program, command, directory)


def _run(program: Program, command: list[str], directory: Path) -> Finished:
    shutil.copy(CASE / "hpccinf.txt", directory)
    (directory / "hpccoutf.txt").unlink(missing_ok=True)
    result = simulated.run_command(
        [*command, str(program.compiled()), *program.arguments], cwd=directory
    )
    return Finished(result, tuple(_findings(program, result, directory)))


def _findings(program: Program, result: Result, directory: Path) -> list[str]:
    if program.name.startswith("NAS"):
        found = re.search(r"Verification +=\s+(\w+)", result.stdout)
        return [] if found is None else ["passed" if found[1] == "SUCCESSFUL" else "failed"]
    lines = (directory / "hpccoutf.txt").read_text(encoding="utf-8").splitlines()
    failures = [found[1] for found in map(_HPCC_FAILED.fullmatch, lines) if found]
    checks = ["passed" if number == "0" else f"{number} failed" for number in failures]
    same = [line for line in lines if _HPCC_SAME.fullmatch(line)]
    return [*checks, *same] if "End of HPC Challenge tests." in lines else ["failed: no end"]
