# SPDX-License-Identifier: LGPL-2.1-only
"""Builds dist/weft-….whl, which requires only Python and a compiler on the target machine.

The SimGrid in $SIMGRID_PREFIX is bundled (setup/bundle_simgrid.cmake). The wheel's name contains
the supported systems, as determined by auditwheel (PEP 600): `manylinux_2_34_x86_64` has glibc 2.34
or newer. The core is compiled for one version of Python, that of .venv.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Shares the build directory of the editable install, whose objects are the same except for one.
_SETTINGS = ("cmake.define.WEFT_BUNDLE_SIMGRID=ON",)


def run(*command: str) -> str:
    """Run one of .venv's programs, and return its output."""
    python = [sys.executable, "-m", *command]
    return subprocess.run(python, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT).stdout


def built(folder: str) -> Path:
    """Build the wheel into a folder."""
    settings = [word for setting in _SETTINGS for word in ("--config-settings", setting)]
    options = ["--disable-pip-version-check", "--no-build-isolation", "--no-deps", *settings]
    print(run("pip", "wheel", *options, "--wheel-dir", folder, str(ROOT)))
    return next(Path(folder).glob("*.whl"))


def platform(wheel: Path) -> str:
    """Return the wheel's platform tag; exit if the wheel has further dependencies."""
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
        wheel = built(folder)
        print(run("wheel", "tags", "--remove", "--platform-tag", platform(wheel), str(wheel)))
        made = next(Path(folder).glob("*.whl"))
        for old in dist.glob("weft-*.whl"):
            old.unlink()
        made.rename(dist / made.name)
    print(f"wheel: dist/{made.name}, {(dist / made.name).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
