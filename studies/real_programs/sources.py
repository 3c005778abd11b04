# SPDX-License-Identifier: LGPL-2.1-only
"""Sources of the programs, and their compilation; existing binaries are reused."""

import hashlib
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path

from studies.archives import with_filter
from studies.debian import download
from studies.study import OPTION, ROOT, run_command
from weft.base import paths
from weft.base.errors import WeftError
from weft.runs.simgrid import SimGrid

CASE = Path(__file__).resolve().parent
"""Folder of the files that the programs need."""
BUILD = ROOT / "build" / "real-programs"

# Source package hpcc 1.5.0-3 of Debian, with the checksum from its .dsc.
_HPCC = "pool/main/h/hpcc/hpcc_1.5.0.orig.tar.gz"
_HPCC_SHA256 = "0a6fef7ab9f3347e549fed65ebb98234feea9ee18aea0c8f59baefbe3cf7ffb8"
_NAS = "examples/smpi/NAS/"
_GEMM = "examples/smpi/gemm/"
_NAS_SOURCES = {
    "dt": ("dt.c", "nas_common.c", "DGraph.c"),
    "ep": ("ep.c", "nas_common.c"),
    "ep-as-it-is": ("ep.c", "nas_common.c"),
    "is": ("is.c", "nas_common.c"),
}
# Fix for the power function in DT's random numbers (ipowMod), which halves one variable and tests
# another: products overflow that do not overflow in the original NAS code, so that BH and SH of
# class A fail their verification.
_MENDED = {"dt.c": ("if (n2*2==n){", "if (n2*2==exp){")}
_NAS_FLAGS = {"ep": ("-include", str(CASE / "unsampled.h"))}


def nas(program: str, by_weft: bool = True) -> Path:
    """Return a compiled NAS Parallel Benchmark.

    Binaries built by `weft cc` need libweft.so. With `by_weft=False`, SimGrid's compiler builds the
    binary, which then also runs under plain SMPI.
    """
    return _nas(program, program, _NAS_FLAGS.get(program, ()), by_weft)


def sampled_ep(ratio: float) -> Path:
    """Return NAS EP with only a fraction of its iterations."""
    flags = ("-include", str(CASE / "sampled.h"), f"-DRATIO={ratio}")
    return _nas("ep", f"ep-{ratio}", flags)


def gemm() -> Path:
    """Return SimGrid's matrix product example."""
    return _compiled("gemm", _GEMM, ("gemm.c",), ())


def own(source: Path) -> Path:
    """Return a compiled program that is part of weft."""
    name = f"{source.stem}-{hashlib.sha256(source.read_bytes()).hexdigest()[:12]}"
    target = BUILD / SimGrid().prefix.name / name
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{name}.unfinished")
        compiler = str(SimGrid().compiler("smpicc"))
        run_command([compiler, "-O2", str(source), "-o", str(unfinished), "-lm"])
        unfinished.rename(target)
    return target


def simgrid_file(folder: str, name: str) -> Path:
    """Return a file from a folder of SimGrid's source distribution."""
    return _unpacked(_simgrid_tarball(), folder) / name


def _nas(program: str, name: str, flags: Sequence[str], by_weft: bool = True) -> Path:
    return _compiled(name, _NAS, _NAS_SOURCES[program], flags, by_weft)


def _compiled(
    name: str, folder: str, files: Sequence[str], flags: Sequence[str], by_weft: bool = True
) -> Path:
    target = BUILD / SimGrid().prefix.name / ("by-weft" if by_weft else "by-simgrid") / name
    if not target.exists():
        directory = _unpacked(_simgrid_tarball(), folder)
        sources = [str(_mended(directory / source)) for source in files]
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{name}.unfinished")
        weft_cc = [str(paths.installed("weft-compiler")), "cc"]
        compiler = weft_cc if by_weft else [str(SimGrid().compiler("smpicc"))]
        run_command(
            [
                *compiler,
                "-O2",
                "-w",
                f"-I{directory}",
                *flags,
                *sources,
                "-o",
                str(unfinished),
                "-lm",
            ]
        )
        unfinished.rename(target)
    return target


def _mended(source: Path) -> Path:
    """Return the source, or a copy with its known error fixed."""
    if source.name not in _MENDED:
        return source
    wrong, right = _MENDED[source.name]
    copy = source.with_name(f"mended-{source.name}")
    text = source.read_text()
    if wrong not in text:
        raise WeftError(f"{OPTION}: {source} does not contain '{wrong}'; see _MENDED")
    copy.write_text(text.replace(wrong, right))
    return copy


def hpcc() -> Path:
    """Return the compiled HPCC."""
    target = BUILD / SimGrid().prefix.name / "hpcc"
    if not target.exists():
        directory = _unpacked(download(_HPCC, _HPCC_SHA256), "hpcc-")
        shutil.copy(CASE / "Make.weft", directory / "hpl" / "Make.weft")
        compiler = SimGrid().compiler("smpicc")
        run_command(["make", "-C", str(directory), "-j2", "arch=weft", f"SMPICC={compiler}"])
        target.parent.mkdir(parents=True, exist_ok=True)
        (directory / "hpcc").rename(target)
    return target


def _unpacked(tarball: Path, part: str) -> Path:
    """Return the directory that a part of a tarball was unpacked to."""
    target = BUILD / "source" / Path(part).name
    if not target.is_dir():
        unfinished = target.with_name(f".{target.name}.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        with with_filter(tarfile.open(tarball)) as archive:
            for member in archive.getmembers():
                if part in member.name:
                    archive.extract(member, unfinished)
        (root,) = unfinished.iterdir()
        (root / part if part.endswith("/") else root).rename(target)
        shutil.rmtree(unfinished)
    return target


def _simgrid_tarball() -> Path:
    command = [str(ROOT / "setup" / "simgrid"), "source"]
    result = subprocess.run(command, text=True, capture_output=True, check=False)
    if result.returncode != 0:
        raise WeftError(f"{OPTION}: {' '.join(command)} failed:\n{result.stderr.rstrip()}")
    return Path(result.stdout.strip().splitlines()[-1])
