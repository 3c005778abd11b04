# SPDX-License-Identifier: LGPL-2.1-only
"""The SimGrid installation that weft was built with: launcher, compilers, capabilities."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

from weft.base import paths
from weft.base.errors import WeftError

_ALGORITHM = re.compile(r"  (\S+) +(\S+) \S+.*")
_OPTION = re.compile(r"   ([A-Za-z_]\S*): .*")
_FACTORIES = re.compile(r"   contexts/factory: Possible values: (.*)")
_COMPLAINT = re.compile(r"\[\w+/(?:ERROR|CRITICAL)\] (?:Uncaught exception \S+ )?(.*)")
_LAUNCHERS = ("lib/simgrid/smpimain", "lib64/simgrid/smpimain", "lib/*/simgrid/smpimain")


@dataclass(frozen=True)
class SimGrid:
    """SimGrid installation."""

    prefix: Path = field(default_factory=paths.simgrid_prefix)

    @cached_property
    def launcher(self) -> Path:
        """Program that runs an MPI program in the simulator."""
        for pattern in _LAUNCHERS:
            for path in self.prefix.glob(pattern):
                return path
        raise self._missing("smpimain")

    def compiler(self, name: str) -> Path:
        """Return the path of smpicc, smpicxx, smpif90 or smpiff."""
        path = self.prefix / "bin" / name
        if not os.access(path, os.X_OK):
            raise self._missing(name)
        return path

    def _missing(self, name: str) -> WeftError:
        return WeftError(
            f"SimGrid: {name} is missing from {self.prefix};"
            " install weft again (in a checkout: `make build`)"
        )

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return an environment in which SimGrid's programs find its library and weft's."""
        libraries = [self.launcher.parent.parent, paths.platform_library().parent]
        folders = [*map(str, libraries), *filter(None, [base.get("LD_LIBRARY_PATH")])]
        return {**base, "LD_LIBRARY_PATH": ":".join(folders)}

    def algorithms(self, collective: str | None) -> list[str]:
        """Return the names of SMPI's algorithms and selectors for one collective, or for all."""
        pairs = map(_ALGORITHM.fullmatch, self._ask("--help-coll").stderr.splitlines())
        names = (pair[1] for pair in pairs if pair and collective in {None, pair[2]})
        return list(dict.fromkeys(names))

    def options(self) -> list[str]:
        """Return the keys accepted by --cfg."""
        lines = map(_OPTION.fullmatch, self._ask("program", "--help").stdout.splitlines())
        return [line[1] for line in lines if line]

    def factories(self) -> list[str]:
        """Return the values of contexts/factory, the available context-switching methods."""
        lines = map(_FACTORIES.fullmatch, self._ask("program", "--help").stdout.splitlines())
        return [name for line in lines if line for name in line[1].split(", ")]

    def rejects(self, settings: list[str]) -> str:
        """Return the reason why SimGrid rejects these KEY:VALUE settings; empty if it does not."""
        answer = self._ask("program", *(f"--cfg={setting}" for setting in settings), "--help")
        if answer.returncode == 0:
            return ""
        reason = _COMPLAINT.search(answer.stderr)
        return reason[1] if reason else f"SimGrid's launcher ended with status {answer.returncode}"

    def _ask(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return _answer(self, arguments)


@cache
def _answer(simgrid: SimGrid, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    """Return the launcher's output, which is cached because it never changes."""
    return subprocess.run(
        [str(simgrid.launcher), *arguments],
        env=simgrid.environment(os.environ),
        text=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
