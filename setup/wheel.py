# SPDX-License-Identifier: LGPL-2.1-only
"""Builds dist/weft-….whl, which requires only Python and a compiler on the target machine.

It also builds dist/weft_testbed-….whl, which the extra `testbed` requires; pip finds it with
`--find-links dist`.

The SimGrid in $SIMGRID_PREFIX is bundled (setup/bundle_simgrid.cmake), and all libraries are made
to run on older systems than this one (older_systems.py). The wheel's name contains the supported
systems, as determined by auditwheel (PEP 600): `manylinux_2_28_x86_64` means glibc 2.28 or newer.
The core is compiled for one version of Python, the version in .venv.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import older_systems

ROOT = Path(__file__).resolve().parent.parent
# Shares the build directory of the editable install, whose objects are identical except for one.
_SETTINGS = ("cmake.define.WEFT_BUNDLE_SIMGRID=ON",)


def run(*command: str) -> str:
    """Run a program of .venv, and return its output."""
    python = [sys.executable, "-m", *command]
    return subprocess.run(python, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT).stdout


def built(folder: str, project: Path, *settings: str) -> Path:
    """Build a project's wheel into a folder."""
    words = [word for setting in settings for word in ("--config-settings", setting)]
    options = ["--disable-pip-version-check", "--no-build-isolation", "--no-deps", *words]
    print(run("pip", "wheel", *options, "--wheel-dir", folder, str(project)))
    return next(Path(folder).glob("*.whl"))


def for_older_systems(wheel: Path) -> Path:
    """Replace a wheel by one that runs on older systems."""
    folder = wheel.parent
    print(run("wheel", "unpack", "--dest", str(folder), str(wheel)))
    wheel.unlink()
    unpacked = next(path for path in folder.iterdir() if path.is_dir())
    older_systems.adapt(unpacked, unpacked / "weft")
    print(run("wheel", "pack", "--dest-dir", str(folder), str(unpacked)))
    shutil.rmtree(unpacked)
    return next(folder.glob("*.whl"))


def keep(made: Path, name: str) -> None:
    """Move a wheel to dist/, replacing older wheels of the same name."""
    for old in (ROOT / "dist").glob(f"{name}-*.whl"):
        old.unlink()
    made.rename(ROOT / "dist" / made.name)


def platform(wheel: Path) -> str:
    """Return the wheel's platform tag; exit if the wheel has external dependencies."""
    found = json.loads(run("auditwheel", "show", "--json", str(wheel)))
    name = str(found["overall_tag"])
    if not name.startswith("manylinux"):
        sys.exit(
            f"wheel: it would need libraries of this machine (auditwheel says {name}):"
            f" {json.dumps(found)}; unset SIMGRID_PREFIX, so that setup/simgrid's SimGrid is taken"
        )
    return name


def main() -> None:
    """Build, inspect and rename the wheel."""
    dist = ROOT / "dist"
    dist.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=dist) as folder:
        wheel = for_older_systems(built(folder, ROOT, *_SETTINGS))
        print(run("wheel", "tags", "--remove", "--platform-tag", platform(wheel), str(wheel)))
        made = next(Path(folder).glob("*.whl"))
        keep(made, "weft")
        # setuptools would pack modules left by earlier builds
        shutil.rmtree(ROOT / "testbed" / "build", ignore_errors=True)
        keep(built(folder, ROOT / "testbed"), "weft_testbed")
    print(f"wheel: dist/{made.name}, {(dist / made.name).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
