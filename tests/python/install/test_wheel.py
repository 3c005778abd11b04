# SPDX-License-Identifier: LGPL-2.1-only
"""The wheel of `make wheel` on an empty machine: no checkout, no SimGrid, no build tool.

The wheel is installed into a fresh virtual environment and runs in a mount namespace in which the
checkout and the user's cache, which contains SimGrid, are empty folders. weft's dependencies are
copies of the checkout's packages: they belong to other projects, and downloading them would test
the network.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import older_systems
import pytest

from tests.support import container
from tests.support.places import ROOT
from weft import _core
from weft.base import paths

pytestmark = pytest.mark.slow

CACHE = paths.simgrid_prefix().parent
# SimGrid is built with Boost, but C++ programs must compile without Boost.
BOOST = Path("/usr/include/boost")
HIDE = 'for folder; do mount -t tmpfs none "$folder" || exit 97; done'
NO_NAMESPACE = "no mount namespaces here: what an installed wheel opens cannot be proven"
Shell = Callable[..., "subprocess.CompletedProcess[str]"]

SUM_C = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv)
{
  int rank, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0)
    printf("C says %d %s\\n", sum, argv[1]);
  MPI_Finalize();
}
"""
SUM_CXX = """
#include <iostream>
#include <mpi.h>
#include <vector>
template <class T> struct Own { static T value; };
template <class T> T Own<T>::value = 0;
int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &Own<int>::value);
  std::vector<int> sums(2), values{Own<int>::value, 1};
  MPI_Allreduce(values.data(), sums.data(), 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (Own<int>::value == 0)
    std::cout << "C++ says " << sums[0] << ' ' << sums[1] << std::endl;
  MPI_Finalize();
}
"""
SUM_F90 = """
program total
  use mpi
  implicit none
  integer :: rank, sum, error
  character(len=20) :: word
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Allreduce(rank, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  call get_command_argument(1, word)
  open(unit=20 + rank, file='unit.' // trim(word) // achar(48 + rank))
  write(20 + rank, *) sum
  close(20 + rank)
  if (rank == 0) print '(a,i0,1x,a)', 'Fortran says ', sum, trim(word)
  call MPI_Finalize(error)
end program
"""
FILES_CXX = """
#include <filesystem>
#include <iostream>
#include <mpi.h>
int main(int argc, char** argv)
{
  MPI_Init(&argc, &argv);
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1]))
    found += entry.path().filename() == "here";
  std::cout << "C++ finds " << found << std::endl;
  MPI_Finalize();
}
"""


@pytest.fixture(scope="module")
def wheel() -> Path:
    """Build the wheel like `make wheel`."""
    if "simgrid-" not in paths.simgrid_prefix().name:
        pytest.skip(f"the SimGrid in {_core.simgrid_prefix} is not setup/simgrid's")
    command = ["flock", "setup", sys.executable, "setup/wheel.py"]
    subprocess.run(
        command, cwd=ROOT, env={**os.environ, "SIMGRID_PREFIX": _core.simgrid_prefix}, check=True
    )
    return next((ROOT / "dist").glob("weft-*.whl"))


@pytest.fixture(scope="module")
def shell(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """Return a function that runs shell commands in an environment that contains only the wheel."""
    folder = tmp_path_factory.mktemp("machine")
    if subprocess.run(["unshare", *_unshare(), "true"], check=False).returncode != 0:
        pytest.skip(NO_NAMESPACE)
    _install(wheel, folder / "venv")
    (folder / "home").mkdir()
    environment = {
        "HOME": str(folder / "home"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PATH": f"{folder}/venv/bin:{_without_build_tools(folder / 'bin')}",
        "LC_ALL": "C.UTF-8",
    }

    def run(script: str, status: int = 0, **more: str) -> "subprocess.CompletedProcess[str]":
        folders = [str(path) for path in (ROOT, CACHE, BOOST) if path.exists()]
        hidden = f'{HIDE}; cd {folder}/home && exec sh -c "$SCRIPT"'
        done = subprocess.run(
            ["unshare", *_unshare(), "sh", "-c", hidden, "sh", *folders],
            env={**environment, "SCRIPT": script, **more},
            text=True,
            capture_output=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return run


def _unshare() -> list[str]:
    return ["--mount"] if os.geteuid() == 0 else ["--user", "--map-root-user", "--mount"]


def _install(wheel: Path, venv: Path) -> None:
    base = getattr(sys, "_base_executable", sys.executable)
    subprocess.run([base, "-m", "venv", "--without-pip", str(venv)], check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python"]
    install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([*pip, str(venv / "bin" / "python"), *install], check=True)
    packages = next(venv.glob("lib/python*/site-packages"))
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if "weft" in path.name or path.name.startswith(("cmake", "ninja", "__", "pip")):
            continue
        if path.is_dir():
            shutil.copytree(path, packages / path.name, copy_function=_link)
        elif path.suffix != ".pth":
            _link(str(path), str(packages / path.name))


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # on another file system
        shutil.copy2(source, target)


def _without_build_tools(folder: Path) -> Path:
    """Create a folder of links to the system's programs, except build tools."""
    folder.mkdir()
    for directory in ("/usr/bin", "/bin"):
        for path in Path(directory).iterdir():
            target = folder / path.name
            if not path.name.startswith(("cmake", "ninja", "smpi")) and not target.is_symlink():
                target.symlink_to(path)
    return folder


def test_wheel_is_for_any_linux_with_glibc_2_28(wheel: Path, tmp_path: Path) -> None:
    """No file requires more; files are stripped, licensed, and free of build paths."""
    found = re.search(r"-manylinux_2_(\d+)_x86_64\.whl$", wheel.name)
    assert found and int(found[1]) <= 28
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    images = list(older_systems.images(tmp_path))
    assert len(images) > 10
    assert {image.path.name: image.too_new for image in images if image.too_new} == {}
    assert wheel.stat().st_size < 12e6
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for name in names:
            content = archive.read(name)
            # SimGrid stores its prefix as text, which is not read here.
            assert str(CACHE).encode() not in content or "libsimgrid.so." in name, name
            # Objects that weft cc links into programs keep the symbol table required for linking.
            linked = content.startswith(b"\x7fELF") and not name.endswith(".o")
            assert b".symtab" not in content or not linked, name
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert any(name.endswith("THIRD-PARTY.txt") for name in names)
    assert "weft/simgrid/licences/LICENSE-LGPL-2.1" in names
    assert {"weft/weft-malloc.so", "weft/weft-mimalloc.so"} <= set(names)


def test_each_symbol_is_in_the_wheel_or_on_the_oldest_systems(wheel: Path, tmp_path: Path) -> None:
    """Without a version, what these systems lack would only be noticed there, when it is called."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    files = [image.path for image in older_systems.images(tmp_path)]
    tables = {str(path.relative_to(tmp_path)): _symbols(path) for path in files}
    there = {name for table in tables.values() for kind, name, _ in table if kind not in UNDEFINED}
    # glibc and libstdc++ never drop a version: those of this system tell what older ones have.
    for library in SYSTEMS_LIBRARIES:
        path = subprocess.check_output(["g++", f"-print-file-name={library}"], text=True).strip()
        for kind, name, version in _symbols(Path(path)):
            if version and kind not in UNDEFINED and not older_systems.is_too_new(version):
                there.add(name)
    required = {file: {name for kind, name, _ in tables[file] if kind == "U"} for file in tables}
    lacking = {file: names - there - LINKERS for file, names in required.items()}
    assert {
        (file, one) for file in lacking for one in lacking[file] if not IS_PYTHONS(one)
    } == set()
    assert sum(map(len, required.values())) > 1000


SYSTEMS_LIBRARIES = (
    "libc.so.6",
    "libm.so.6",
    "libstdc++.so.6",
    "libgcc_s.so.1",
    "ld-linux-x86-64.so.2",
)
UNDEFINED = "Uwv"  # kinds of nm; the last two are weak
LINKERS = {"_DYNAMIC", "_GLOBAL_OFFSET_TABLE_", "__ehdr_start"}
IS_PYTHONS = re.compile("_?Py").match


def _symbols(path: Path) -> list[tuple[str, str, str]]:
    """Return kind, name and version of the symbols of a library, a program or an object."""
    table = [] if path.suffix == ".o" else ["--dynamic"]
    printed = subprocess.check_output(["nm", "--format=posix", *table, path], text=True)
    rows = []
    for line in printed.splitlines():
        symbol, kind = line.split()[:2]
        name, _, version = symbol.partition("@")
        rows.append((kind, name, version.removeprefix("@")))
    return rows


def test_machine_has_nothing_else(shell: Shell) -> None:
    where = shell(f"ls -A {ROOT} {CACHE}; command -v cmake ninja smpicc; weft --version")
    version = f"weft {_core.version}, with SimGrid {_core.simgrid_version}"
    assert version in where.stdout.split("\n")
    assert "bin" not in where.stdout


@pytest.mark.parametrize(
    ("compiler", "suffix", "source", "said"),
    [
        ("cc", "c", SUM_C, "C says 6 word"),
        ("cxx", "cpp", SUM_CXX, "C++ says 6 4"),
        ("f90", "f90", SUM_F90, "Fortran says 6 word"),
    ],
)
def test_programs_run(shell: Shell, compiler: str, suffix: str, source: str, said: str) -> None:
    done = shell(
        f'printf %s "$SOURCE" >sum.{suffix} && weft {compiler} -O2 sum.{suffix} -o sum-{suffix}'
        f" && weft run --fabric tofino-4 -n 4 --json r.json --record trace-{suffix}"
        f" -- ./sum-{suffix} word && weft replay -q trace-{suffix} --fabric tofino-4 --json p.json"
        " && cat r.json",
        SOURCE=source,
    )
    assert said in done.stdout
    record = json.loads(done.stdout[done.stdout.index('{\n "schema"') :])
    assert record["collectives"][0]["path"] == "stream"


def test_programs_take_nothing_from_what_older_systems_lack(shell: Shell) -> None:
    """Their compiler's libstdc++ may be another one than that of the wheel's library."""
    done = shell(
        'printf %s "$SOURCE" >files.cpp && weft cxx -std=c++17 files.cpp -o files'
        " && mkdir folder bound && touch folder/here"
        " && LD_DEBUG=bindings LD_DEBUG_OUTPUT=bound/to weft run -q --fabric tofino-4 -n 1"
        " -- ./files $PWD/folder && cat bound/*",
        SOURCE=FILES_CXX,
    )
    assert "C++ finds 1\n" in done.stdout
    bound = re.findall(r"binding file (\S+) \[0\] to (\S+) .*`_Z\w*filesystem", done.stdout)
    assert any("files_" in user for user, _ in bound)
    ours = {user for user, home in bound if older_systems.LIBRARY in home}
    assert {user for user in ours if "/weft/" not in user} == set()


def test_module_of_another_gfortran_is_made(shell: Shell) -> None:
    """Module formats differ between GCC versions; a fake compiler reports another version."""
    done = shell(
        """cat >other-gfortran <<'EOF'
#!/bin/sh
[ "$1" != -dumpversion ] || exec echo 99
exec gfortran "$@"
EOF
chmod +x other-gfortran && printf %s "$SOURCE" >other.f90
WEFT_FC=$PWD/other-gfortran weft f90 other.f90 -o other
weft run -q --fabric tofino-4 -n 4 -- ./other word
ls $XDG_CACHE_HOME/weft/mpi-modules-other-gfortran-99-*/mpi_f08.mod""",
        SOURCE=SUM_F90,
    )
    assert "Fortran says 6 word" in done.stdout
    assert done.stdout.endswith("/mpi_f08.mod\n")


def test_missing_compiler_is_told(shell: Shell) -> None:
    done = shell("WEFT_FC=none weft f90 x.f90", status=2)
    assert done.stderr == (
        "weft f90: there is no Fortran compiler here (looked for: none); install one, or name it in"
        " the environment variable WEFT_FC\n"
    )


def test_the_testbed_is_a_wheel_of_its_own(shell: Shell, tmp_path: Path) -> None:
    said = shell("weft testbed list", status=2).stderr
    assert said == (
        "weft: weft_testbed is not installed: this needs the extra 'testbed': pip install"
        " 'weft[testbed]'\n"
    )
    assert "testbed" not in shell("weft --help").stdout.partition("Commands:")[2]
    (its,) = (ROOT / "dist").glob("weft_testbed-*-py3-none-any.whl")
    with zipfile.ZipFile(its) as archive:
        archive.extractall(tmp_path / "installed")
    plan = "weft testbed list && weft testbed plan topocloud-64 star-8 -o plan.json"
    done = shell(plan, PYTHONPATH=str(tmp_path / "installed"))
    assert done.stdout.startswith("recirculating-64")
    assert "star-8: 8 servers" in done.stdout


def test_demo_runs(shell: Shell) -> None:
    done = shell("weft demo --out demo && ls demo")
    assert "error" in done.stdout
    assert ".png" in done.stdout


def test_documentation_is_there(shell: Shell) -> None:
    assert shell("weft help guide --markdown").stdout.startswith("# ")


OF_THREE_LANGUAGES = {"cc": ("c", SUM_C), "cxx": ("cpp", SUM_CXX), "f90": ("f90", SUM_F90)}
SAID = [
    f"weft {_core.version}, with SimGrid {_core.simgrid_version}",
    "C says 6 word",
    "C++ says 6 4",
    "Fortran says 6 word",
]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return a folder with a program in each of three languages."""
    for suffix, source in OF_THREE_LANGUAGES.values():
        (tmp_path / f"sum.{suffix}").write_text(source)
    return tmp_path


def test_the_container_runs_programs_of_three_languages(wheel: Path, sources: Path) -> None:
    """Builds and runs the image of containers/Containerfile, or skips with a reason."""
    tool = container.builder()
    container.build(tool, wheel.parent, sources)
    script = " && ".join(
        f"weft {compiler} sum.{suffix} -o sum-{suffix}"
        f" && weft run -q --fabric tofino-4 -n 4 -- ./sum-{suffix} word"
        for compiler, (suffix, _) in OF_THREE_LANGUAGES.items()
    )
    said = container.run(tool, f"cd /here && weft --version && {script}", sources)
    lines = [line for line in said.splitlines() if not line.startswith("Tunings ")]
    assert lines == SAID


def test_the_recipe_for_apptainer_runs_programs_of_three_languages(
    wheel: Path, sources: Path
) -> None:
    """Executes each step of containers/weft.def, or skips with a reason if its base is missing."""
    checkout = sources / "checkout"
    shutil.copytree(wheel.parent, checkout / "dist")
    said = ""
    with container.apptainer(checkout, sources) as image:
        said += image.run(image.command("--version"), sources)
        for compiler, (suffix, _) in OF_THREE_LANGUAGES.items():
            made = ("-o", f"sum-{suffix}", f"sum.{suffix}")
            image.run(image.command(compiler, *made), sources)
            run = ("run", "-q", "--fabric", "tofino-4", "-n", "4", "--", f"./sum-{suffix}", "word")
            said += image.run(image.command(*run), sources)
    lines = [line for line in said.splitlines() if not line.startswith("Tunings ")]
    assert lines == SAID
